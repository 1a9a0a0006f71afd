"""Which webhooks are asked, what they go by, and how an API server would know them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import fields, replace
from typing import Any, Final

import click

from hedgerow.admission.catalog import webhooks
from hedgerow.admission.config import (
    EXPIRATION_SECONDS,
    SCHEDULER_NAME,
    AdmissionConfig,
    HighAvailabilityConfig,
    SystemComponentsConfig,
)
from hedgerow.admission.registration import Mode, build_webhook_configurations
from hedgerow_adapters.registrations import Entry, Registrations, parse_registrations
from hedgerow_entrypoints.cli.review.course import Panel

NAMES: Final = tuple(each.name.replace("_", "-") for each in fields(AdmissionConfig))
"""Every webhook; each is enabled by the field of its name."""
MODES: Final = tuple(map(str, Mode))
SERVICE_HOST: Final = "kubernetes-service-host"
_EVERYTHING: Final = AdmissionConfig(
    crd_deletion_protection=True,
    endpoint_slice_hints=True,
    extension_validation=True,
    high_availability_config=HighAvailabilityConfig(),
    pod_scheduler_name=SCHEDULER_NAME,
    pod_topology_spread_constraints=True,
    projected_token_mount=EXPIRATION_SECONDS,
    seccomp_profile=True,
    system_components_config=SystemComponentsConfig(),
    token_invalidator=True,
)
"""What webhooks go by that no configuration enables; where the API server is, nobody can know."""


def named_panel(
    names: Collection[str], configured: AdmissionConfig | None, host: str | None, mode: str | None
) -> Panel:
    """The webhooks of these names, whether a configuration enables them or not, as a mode registers them.

    Without a mode each is as in the first mode that registers it.

    Raises:
        click.UsageError: one of them cannot do without something that is not given, or is not registered in that mode.
    """
    said = _with_host(configured or AdmissionConfig(), host)
    chosen = {_field(name): _value(said, name) or _value(_EVERYTHING, name) for name in names}
    if SERVICE_HOST in names and not chosen[_field(SERVICE_HOST)]:
        raise click.UsageError(
            f"{SERVICE_HOST} needs the name of the API server: give it by --host, or as "
            "webhooks.kubernetesServiceHost.host in a --config that enables it"
        )
    panel = _panel(replace(AdmissionConfig(), **chosen), *((mode,) if mode else MODES))
    registered = {panel.webhooks[entry.client.path].name for entry in panel.entries}
    for name in names:
        if name not in registered:
            raise click.UsageError(f"{name} is not registered in mode {mode}")
    return panel


def whole_panel(configured: AdmissionConfig | None, host: str | None, mode: str | None) -> Panel:
    """All webhooks that a configuration enables, or simply all without one; no pod is told of an unknown host."""
    return _panel(_with_host(_EVERYTHING if configured is None else configured, host), mode or Mode.RUNTIME)


def asked_for(panel: Panel) -> Sequence[str]:
    """What each webhook is for, such as `seccomp-profile is for CREATE of pods`."""
    purposes: dict[tuple[str, str], dict[str, None]] = {}
    for entry in panel.entries:
        for rule in entry.rules:
            purpose = panel.webhooks[entry.client.path].name, " and ".join(rule.operations)
            purposes.setdefault(purpose, {}).update(dict.fromkeys(rule.resources))
    return [f"{name} is for {operations} of {', '.join(which)}" for (name, operations), which in purposes.items()]


def left_out(panel: Panel) -> Sequence[str]:
    """The names of webhooks that are enabled, but not registered in the mode of the panel."""
    registered = {entry.client.path for entry in panel.entries}
    return list(dict.fromkeys(webhook.name for path, webhook in panel.webhooks.items() if path not in registered))


def not_enabled(names: Iterable[str], configured: AdmissionConfig) -> Sequence[str]:
    """Those of some webhooks that a configuration does not enable."""
    return [name for name in dict.fromkeys(names) if _value(configured, name) in (None, False)]


def _panel(config: AdmissionConfig, *modes: str) -> Panel:
    """All that a configuration enables, each as the first of some modes registers it that does."""
    objects = [build_webhook_configurations(Mode(mode), "", "garden", b"", config) for mode in modes]
    registered = [parse_registrations(each).unwrap() for each in objects]
    by_path = {webhook.path: webhook for webhook in webhooks(config)}
    paths = list(by_path)

    def in_order(entries: Iterable[Entry]) -> tuple[Entry, ...]:
        first: dict[str, Entry] = {}
        for entry in entries:
            first.setdefault(entry.name, entry)
        return tuple(sorted(first.values(), key=lambda entry: paths.index(entry.client.path)))

    return Panel(
        by_path,
        Registrations(
            in_order(entry for each in registered for entry in each.mutating_entries),
            in_order(entry for each in registered for entry in each.validating_entries),
        ),
    )


def _with_host(config: AdmissionConfig, host: str | None) -> AdmissionConfig:
    return replace(config, kubernetes_service_host=host) if host else config


def _field(name: str) -> str:
    return name.replace("-", "_")


def _value(config: AdmissionConfig, name: str) -> Any:
    return getattr(config, _field(name))
