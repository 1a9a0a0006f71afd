"""Which webhooks are asked, what they go by, and how an API server would know them."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

import click

from hedgerow.admission.registration import Mode
from hedgerow.admission.request import AdmissionRequest
from hedgerow.admission.webhook import Webhook
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.selectors import LabelSelector
from hedgerow_adapters.registrations.dispatch import Attributes, call_of
from hedgerow_adapters.registrations.registered import Entry, Registrations, parse_registrations
from hedgerow_entrypoints.components import component, known
from hedgerow_entrypoints.components.registry import Reviews
from hedgerow_entrypoints.components.resource_manager_reviews import AUTOSCALERS
from hedgerow_entrypoints.configuration import Stated

_REVIEWS: Final[Mapping[str, Reviews]] = {name: component(name).reviews() for name in known()}
"""By component."""
PURPOSES: Final = {name: purpose for each in _REVIEWS.values() for name, purpose in each.purposes.items()}
"""Of every webhook, by its name, what it does."""
DECIDED_FROM: Final = {name: resource for each in _REVIEWS.values() for name, resource in each.decided_from.items()}
"""Of some webhooks, without which objects they deny everything."""
MODES: Final = tuple(map(str, Mode))
SERVICE_HOST: Final = "kubernetes-service-host"


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

    def of(self, names: Collection[str]) -> "Panel":
        """Those of these names alone."""
        mutating, validating = self.registrations.mutating_entries, self.registrations.validating_entries
        kept = (tuple(each for each in entries if self.name_of(each) in names) for entries in (mutating, validating))
        return replace(self, registrations=Registrations(*kept))

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


def named_panel(names: Collection[str], stated: Stated | None, host: str | None, mode: str | None) -> Panel:
    """The webhooks of these names, enabled or not, as a mode, or the first mode that does, registers them."""
    panel = _panel(names, stated, host, *((mode,) if mode else MODES))
    if SERVICE_HOST in names and SERVICE_HOST not in {webhook.name for webhook in panel.webhooks.values()}:
        raise click.UsageError(
            f"{SERVICE_HOST} needs the name of the API server: give it by --host, or as "
            "webhooks.kubernetesServiceHost.host in a --config that enables it"
        )
    registered = {panel.name_of(entry) for entry in panel.registrations.entries}
    for name in names:
        if name not in registered:
            raise click.UsageError(f"{name} is not registered in mode {mode}")
    return panel


def whole_panel(stated: Stated | None, host: str | None, mode: str | None) -> Panel:
    """All webhooks that a configuration enables, or simply all without one; no pod is told of an unknown host."""
    names = PURPOSES.keys() if stated is None else stated.webhooks | ({SERVICE_HOST} if host else set())
    return _panel(names, stated, host, mode or Mode.RUNTIME)


def not_enabled(names: Iterable[str], stated: Stated) -> list[str]:
    """Those of some webhooks that are the stated component's, and that its configuration does not enable."""
    disabled = _REVIEWS[stated.component.name].purposes.keys() - stated.webhooks
    return [name for name in dict.fromkeys(names) if name in disabled]


def _panel(names: Collection[str], stated: Stated | None, host: str | None, *modes: str) -> Panel:
    """Webhooks of some names, each as the first of some modes registers it that does."""
    by_path: dict[str, Webhook] = {}
    registered: list[Registrations] = []
    for owner, reviews in _REVIEWS.items():
        configuration = stated.decoded.configuration if stated and stated.component.name == owner else None
        for mode in modes:
            webhooks, objects = reviews.asked(configuration, reviews.purposes.keys() & set(names), host, Mode(mode))
            by_path |= {webhook.path: webhook for webhook in webhooks}
            registered.append(parse_registrations(objects))
    paths = [*by_path]

    def in_order(entries: Iterable[Entry]) -> tuple[Entry, ...]:
        first: dict[str, Entry] = {}
        for entry in entries:
            first.setdefault(entry.name, entry)
        return tuple(sorted(first.values(), key=lambda entry: paths.index(entry.client.path)))

    mutating = in_order(entry for each in registered for entry in each.mutating_entries)
    validating = in_order(entry for each in registered for entry in each.validating_entries)
    return Panel(by_path, Registrations(mutating, validating))


def readable(manifest: Manifest, webhook: str) -> Manifest:
    """An object as the component shows it that a webhook is of."""
    return next(each for each in _REVIEWS.values() if webhook in each.purposes).readable(manifest)
