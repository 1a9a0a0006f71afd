"""A request's way through webhooks, one after the other as an API server calls them, and what each makes of it."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hedgerow.admission.decision import Decision, Denied, Mutated, Mutation
from hedgerow.admission.request import AdmissionRequest
from hedgerow.admission.webhook import Webhook, read_in
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.machinery.steps import Step
from hedgerow_adapters.registrations import Entry, Registrations
from hedgerow_adapters.registrations.dispatch import Attributes, Call, Progress, call_of, validating_calls
from hedgerow_entrypoints.cli.review.completion import as_to_be_stored
from hedgerow_entrypoints.cli.review.facts import NotInFilesError, ReviewFacts
from hedgerow_entrypoints.cli.review.requests import AUTOSCALERS, Candidate


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What one webhook decided about one request."""

    candidate: Candidate
    request: AdmissionRequest
    """As the webhook saw it: the ones before may have changed the object."""
    webhook: str
    decision: Decision

    @property
    def verdict(self) -> str:
        """The decision in a word."""
        if isinstance(self.decision, Denied):
            return "denied"
        return "changed" if isinstance(self.decision, Mutated) else "unchanged"

    @property
    def mutations(self) -> Sequence[Mutation]:
        """What the rules changed, if anything."""
        return self.decision.mutations if isinstance(self.decision, Mutated) else ()

    @property
    def message(self) -> str:
        """What the webhook says beside."""
        return "" if isinstance(self.decision, Mutated) else self.decision.message


@dataclass(frozen=True, slots=True)
class Panel:
    """The webhooks that are asked, and how an API server would know them."""

    webhooks: Mapping[str, Webhook]
    """By their paths."""
    registrations: Registrations

    def concerns(self, request: AdmissionRequest) -> bool:
        """Whether any of the webhooks is registered for such a request, whatever the labels."""
        attributes = attributes_of(request, {})
        return any(is_asked(without_selectors(entry), attributes) for entry in self.entries)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All registered webhooks, those that change objects first."""
        return self.registrations.entries

    def regardless_of_labels(self) -> "Panel":
        """The same webhooks, asked about all that their rules name."""
        mutating, validating = self.registrations.mutating_entries, self.registrations.validating_entries
        regardless = Registrations(tuple(map(without_selectors, mutating)), tuple(map(without_selectors, validating)))
        return replace(self, registrations=regardless)


async def course(candidate: Candidate, panel: Panel, facts: ReviewFacts) -> AsyncIterator[Reviewed]:
    """The decisions about a request, in order: a denial by a webhook that changes objects is the last one.

    Raises:
        CommandError: what a webhook looks up cannot be had.
    """
    attributes = await seen_attributes(candidate.request, panel, facts)
    progress = Progress(panel.registrations.mutating_entries)
    while step := progress.next_call(attributes):
        call, progress = step
        reviewed = await _reviewed(candidate, call, attributes.request, panel, facts)
        yield reviewed
        if isinstance(reviewed.decision, Denied):
            return
        if isinstance(reviewed.decision, Mutated):
            changed = reviewed.decision.object
            if call.converts(attributes.request):
                changed = _as_version(changed, attributes.request.kind.api_version)
            attributes, progress = attributes.with_object(changed), progress.after_change()
    attributes = replace(attributes, request=as_to_be_stored(attributes.request))
    for call in validating_calls(panel.registrations, attributes):
        yield await _reviewed(candidate, call, attributes.request, panel, facts)


async def _reviewed(
    candidate: Candidate, call: Call, request: AdmissionRequest, panel: Panel, facts: ReviewFacts
) -> Reviewed:
    webhook = panel.webhooks[call.entry.client.path]
    if call.converts(request):
        new, old = (_as_version(each, call.kind.api_version) for each in (request.object, request.old_object))
        request = replace(request, kind=call.kind, resource=call.resource, object=new, old_object=old)
    return Reviewed(candidate, request, webhook.name, await decision(webhook, request, facts))


async def decision(webhook: Webhook, request: AdmissionRequest, facts: ReviewFacts) -> Decision:
    """What a webhook decides once all that it looks up is read; it begins again after each resource.

    Raises:
        CommandError: what it looks up cannot be had.
        EndlessDecisionError: it reads without end.
    """
    while True:
        try:
            with webhook.execution(request, facts.snapshot(webhook)) as execution:
                step = execution.begin()
                while isinstance(step, Step):
                    step = execution.go_on(await facts.answer(read_in(step)))
                return step
        except NotInFilesError as unread:
            await facts.read(webhook, unread.resource)


async def seen_attributes(request: AdmissionRequest, panel: Panel, facts: ReviewFacts) -> Attributes:
    """All that selects the webhooks of a request; the Namespace's labels only where one of them asks for some.

    Raises:
        CommandError: the labels cannot be had.
    """
    attributes = attributes_of(request, {})
    selecting = (entry for entry in panel.entries if not entry.namespace_selector.is_empty)
    if not request.namespace or not any(is_asked(without_selectors(entry), attributes) for entry in selecting):
        return attributes
    return replace(attributes, namespace_labels=await facts.namespace_labels(request.namespace))


def attributes_of(request: AdmissionRequest, namespace_labels: Mapping[str, str]) -> Attributes:
    """All that selects the webhooks of a request; versions of autoscalers differ in nothing that a webhook reads."""
    autoscalers = {(each.group, each.kind) for each in AUTOSCALERS}
    equivalents = AUTOSCALERS if (request.kind.group, request.kind.kind) in autoscalers else ()
    return Attributes(request, namespace_labels, equivalents)


def _as_version(value: Any, api_version: str) -> Any:
    """An object in another version, which differs in nothing else; what is no object stays as it is."""
    return {**value, "apiVersion": api_version} if isinstance(value, dict) else value


def without_selectors(entry: Entry) -> Entry:
    """The webhook, registered for the same requests whatever the labels."""
    return replace(entry, namespace_selector=LabelSelector(), object_selector=LabelSelector())


def is_asked(entry: Entry, attributes: Attributes) -> bool:
    """Whether an API server would ask a webhook."""
    return call_of(entry, attributes) is not None
