"""Which webhooks are asked, what they go by, and how an API server would know them."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
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
from hedgerow.admission.request import AdmissionRequest
from hedgerow.admission.webhook import Webhook
from hedgerow.machinery.selectors import LabelSelector
from hedgerow_adapters.registrations.dispatch import Attributes, call_of
from hedgerow_adapters.registrations.registered import Entry, Registrations, parse_registrations
from hedgerow_entrypoints.cli.review.requests import AUTOSCALERS

NAMES: Final = tuple(each.name.replace("_", "-") for each in fields(AdmissionConfig))
"""Every webhook; each is enabled by the field of its name."""
MODES: Final = tuple(map(str, Mode))
SERVICE_HOST: Final = "kubernetes-service-host"
_SWITCHES: Final[dict[str, Any]] = {each.name: True for each in fields(AdmissionConfig) if each.default is False}
_EVERYTHING: Final = AdmissionConfig(
    **_SWITCHES,
    high_availability_config=HighAvailabilityConfig(),
    pod_scheduler_name=SCHEDULER_NAME,
    projected_token_mount=EXPIRATION_SECONDS,
    system_components_config=SystemComponentsConfig(),
)
"""What webhooks go by that no configuration enables; where the API server is, nobody can know."""


@dataclass(frozen=True, slots=True)
class Panel:
    """The webhooks that are asked, and how an API server would know them."""

    webhooks: Mapping[str, Webhook]
    """By their paths."""
    registrations: Registrations

    def name_of(self, entry: Entry) -> str:
        """The webhook that is registered."""
        return self.webhooks[entry.client.path].name

    def concerns(self, request: AdmissionRequest) -> bool:
        """True if any of the webhooks is registered for such a request, whatever the labels."""
        attributes = attributes_of(request, {})
        return any(call_of(without_selectors(entry), attributes) for entry in self.registrations.entries)

    def regardless_of_labels(self) -> "Panel":
        """The same webhooks, asked about all that their rules name."""
        mutating, validating = self.registrations.mutating_entries, self.registrations.validating_entries
        regardless = Registrations(tuple(map(without_selectors, mutating)), tuple(map(without_selectors, validating)))
        return replace(self, registrations=regardless)

    def purposes(self) -> Iterator[str]:
        """What each webhook is for, such as `seccomp-profile is for CREATE of pods`."""
        purposes: dict[tuple[str, str], dict[str, None]] = {}
        for entry in self.registrations.entries:
            for rule in entry.rules:
                purpose = self.name_of(entry), " and ".join(rule.operations)
                purposes.setdefault(purpose, {}).update(dict.fromkeys(rule.resources))
        for (name, operations), resources in purposes.items():
            yield f"{name} is for {operations} of {', '.join(resources)}"

    def left_out(self) -> Iterable[str]:
        """The names of webhooks that are enabled, but not registered in the mode of the panel."""
        registered = {entry.client.path for entry in self.registrations.entries}
        return dict.fromkeys(webhook.name for path, webhook in self.webhooks.items() if path not in registered)


def attributes_of(request: AdmissionRequest, namespace_labels: Mapping[str, str]) -> Attributes:
    """All that selects the webhooks of a request; versions of autoscalers differ in nothing that a webhook reads."""
    is_autoscaler = (request.kind.group, request.kind.kind) in {(each.group, each.kind) for each in AUTOSCALERS}
    return Attributes(request, namespace_labels, AUTOSCALERS if is_autoscaler else ())


def without_selectors(entry: Entry) -> Entry:
    """The webhook, registered for the same requests whatever the labels."""
    return replace(entry, namespace_selector=LabelSelector(), object_selector=LabelSelector())


def named_panel(
    names: Collection[str], configured: AdmissionConfig | None, host: str | None, mode: str | None
) -> Panel:
    """The webhooks of these names, enabled or not, as a mode, or the first mode that does, registers them."""
    said = _with_host(configured or AdmissionConfig(), host)
    chosen = {name.replace("-", "_"): _setting(said, name) or _setting(_EVERYTHING, name) for name in names}
    config = replace(AdmissionConfig(), **chosen)
    if SERVICE_HOST in names and not config.kubernetes_service_host:
        raise click.UsageError(
            f"{SERVICE_HOST} needs the name of the API server: give it by --host, or as "
            "webhooks.kubernetesServiceHost.host in a --config that enables it"
        )
    panel = _panel(config, *((mode,) if mode else MODES))
    registered = {panel.name_of(entry) for entry in panel.registrations.entries}
    for name in names:
        if name not in registered:
            raise click.UsageError(f"{name} is not registered in mode {mode}")
    return panel


def whole_panel(configured: AdmissionConfig | None, host: str | None, mode: str | None) -> Panel:
    """All webhooks that a configuration enables, or simply all without one; no pod is told of an unknown host."""
    return _panel(_with_host(configured or _EVERYTHING, host), mode or Mode.RUNTIME)


def not_enabled(names: Iterable[str], configured: AdmissionConfig) -> list[str]:
    """Those of some webhooks that a configuration does not enable."""
    return [name for name in dict.fromkeys(names) if _setting(configured, name) in (None, False)]


def _panel(config: AdmissionConfig, *modes: str) -> Panel:
    """All that a configuration enables, each as the first of some modes registers it that does."""
    objects = [build_webhook_configurations(Mode(mode), "", "garden", b"", config) for mode in modes]
    registered = [parse_registrations(each) for each in objects]
    by_path = {webhook.path: webhook for webhook in webhooks(config)}
    paths = [*by_path]

    def in_order(entries: Iterable[Entry]) -> tuple[Entry, ...]:
        first: dict[str, Entry] = {}
        for entry in entries:
            first.setdefault(entry.name, entry)
        return tuple(sorted(first.values(), key=lambda entry: paths.index(entry.client.path)))

    mutating = in_order(entry for each in registered for entry in each.mutating_entries)
    validating = in_order(entry for each in registered for entry in each.validating_entries)
    return Panel(by_path, Registrations(mutating, validating))


def _with_host(config: AdmissionConfig, host: str | None) -> AdmissionConfig:
    return replace(config, kubernetes_service_host=host) if host else config


def _setting(config: AdmissionConfig, webhook: str) -> Any:
    return getattr(config, webhook.replace("-", "_"))
