"""Requests on their way through webhooks, as an API server calls them, and which webhooks it would not call."""

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from hedgerow.admission.registration import Mode
from hedgerow.admission.request import AdmissionRequest
from hedgerow.admission.webhook import Decision, Denied, Mutated, Mutation, Webhook, read_in
from hedgerow.machinery.selectors import selector_query
from hedgerow.machinery.steps import Step
from hedgerow_adapters.files.sources import printable
from hedgerow_adapters.registrations.dispatch import Attributes, Call, Progress, call_of, validating_calls
from hedgerow_adapters.registrations.registered import Entry
from hedgerow_entrypoints.cli.rendering import summary
from hedgerow_entrypoints.cli.review.facts import NotInFilesError, ReviewFacts
from hedgerow_entrypoints.cli.review.panels import Panel, attributes_of, whole_panel, without_selectors
from hedgerow_entrypoints.cli.review.requests import Candidate, as_to_be_stored
from hedgerow_entrypoints.configuration import Stated
from hedgerow_entrypoints.errors import CommandError, abridged

MOST_OBJECTS: Final = 3
"""Named in a remark."""
VERDICTS: Final = ("unchanged", "changed", "denied")
"""From the one that counts least to the one that wins."""
_NOT_ASKED: Final = "ask no webhook"


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
        """The decision in a word, one of `VERDICTS`."""
        if isinstance(self.decision, Denied):
            return "denied"
        return "changed" if isinstance(self.decision, Mutated) else "unchanged"

    @property
    def mutations(self) -> Sequence[Mutation]:
        """What the rules changed, if anything."""
        return self.decision.mutations if isinstance(self.decision, Mutated) else ()

    @property
    def warnings(self) -> Sequence[str]:
        """What the client of an API server is told of an operation that may go on."""
        return () if isinstance(self.decision, Denied) else self.decision.warnings

    @property
    def message(self) -> str:
        """What the webhook says beside."""
        return "" if isinstance(self.decision, Mutated) else self.decision.message


@dataclass(frozen=True, slots=True)
class Session:
    """The decisions about all requests."""

    reviews: Sequence[Reviewed]
    remarks: Sequence[str]
    """Why a cluster might do something else, a sentence each."""

    @property
    def verdicts(self) -> Mapping[str, int]:
        """How many requests had which verdict; a denial by any webhook counts, then a change by any."""
        verdicts: dict[int, str] = {}
        for each in self.reviews:
            earlier = verdicts.get(id(each.candidate), VERDICTS[0])
            verdicts[id(each.candidate)] = max(earlier, each.verdict, key=VERDICTS.index)
        return Counter(verdicts.values())

    @property
    def summary(self) -> str:
        """The verdicts in a line."""
        order = ("changed", "unchanged", "denied")
        return summary([(self.verdicts[each], each) for each in order], ()) if self.reviews else "nothing reviewed"


async def reviewed_by(
    panel: Panel, candidates: Iterable[Candidate], facts: ReviewFacts, *, everything: bool
) -> Session:
    """The decisions of a panel; with `everything`, labels decide who is asked, else it is told where they would."""
    asked = panel if everything else panel.regardless_of_labels()
    reviews: list[Reviewed] = []
    remarkable: list[tuple[Candidate, str, str]] = []
    for candidate in candidates:
        reviews_of_it = [each async for each in course(candidate, asked, facts)]
        reviews += reviews_of_it
        if everything and reviews_of_it:
            continue
        try:
            attributes = await _seen_attributes(candidate.request, panel, facts)
        except CommandError:
            continue  # no decision here depends on the labels that the cluster does not tell
        kept_out = [*_kept_out(panel, attributes)]
        if everything:
            reasons = dict.fromkeys(reason for _, reason in kept_out)
            remarkable.append((candidate, _NOT_ASKED, "; ".join(reasons)))
        else:
            remarkable += ((candidate, f"not ask {webhook}", reason) for webhook, reason in kept_out)
    return Session(reviews, _remarks(remarkable))


async def course(candidate: Candidate, panel: Panel, facts: ReviewFacts) -> AsyncIterator[Reviewed]:
    """The decisions about a request, in order: a denial by a webhook that changes objects is the last one."""
    attributes = await _seen_attributes(candidate.request, panel, facts)
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


def _as_version(value: Any, api_version: str) -> Any:
    """An object in another version, which differs in nothing else; what is no object stays as it is."""
    return {**value, "apiVersion": api_version} if isinstance(value, dict) else value


async def decision(webhook: Webhook, request: AdmissionRequest, facts: ReviewFacts) -> Decision:
    """What a webhook decides once all that it looks up is read; EndlessDecisionError: it reads without end."""
    while True:
        try:
            with webhook.execution(request, facts.snapshot(webhook)) as execution:
                step = execution.begin()
                while isinstance(step, Step):
                    step = execution.go_on(await facts.answer(read_in(step)))
                return step
        except NotInFilesError as unread:
            await facts.read(webhook, unread.resource)


async def _seen_attributes(request: AdmissionRequest, panel: Panel, facts: ReviewFacts) -> Attributes:
    """All that selects the webhooks of a request; the Namespace's labels only where one of them asks for some."""
    attributes = attributes_of(request, {})
    selecting = (entry for entry in panel.registrations.entries if not entry.namespace_selector.is_empty)
    if not request.namespace or not any(call_of(without_selectors(entry), attributes) for entry in selecting):
        return attributes
    return replace(attributes, namespace_labels=await facts.namespace_labels(request.namespace))


def _kept_out(panel: Panel, attributes: Attributes) -> Iterator[tuple[str, str]]:
    """The webhooks that are for such requests, but that labels keep an API server from asking, and why."""
    for entry in panel.registrations.entries:
        if call_of(without_selectors(entry), attributes) and not call_of(entry, attributes):
            yield panel.name_of(entry), " and ".join(_unmatched(entry, attributes))


def _unmatched(entry: Entry, attributes: Attributes) -> Iterator[str]:
    selector = entry.namespace_selector
    if not call_of(replace(without_selectors(entry), namespace_selector=selector), attributes):
        yield f'the labels of its Namespace do not match "{selector_query(selector)}"'
    selector = entry.object_selector
    if not call_of(replace(without_selectors(entry), object_selector=selector), attributes):
        yield f'its labels do not match "{selector_query(selector)}"'


def unregistered(candidates: Iterable[Candidate], panel: Panel, configured: Stated | None, mode: Mode) -> list[str]:
    """What to say about requests that no webhook of a panel is registered for, whatever their labels."""
    without = [each for each in candidates if not panel.concerns(each.request)]
    return _remarks((each, _NOT_ASKED, _not_registered(each.request, configured, mode)) for each in without)


def _not_registered(request: AdmissionRequest, configured: Stated | None, mode: Mode) -> str:
    def is_for_it(mode: Mode) -> bool:
        # Any name of an API server enables the webhook that wants one.
        return whole_panel(None, "api", mode).concerns(request)

    what = printable(f"{request.operation} of {request.resource.resource}")
    if configured is not None and is_for_it(mode):
        return f"the configuration enables none for {what}"
    return f"none is registered for {what}" + (f" in mode {mode}" if any(map(is_for_it, Mode)) else "")


def _remarks(found: Iterable[tuple[Candidate, str, str]]) -> list[str]:
    objects: dict[tuple[str, str], list[str]] = {}
    for candidate, consequence, reason in found:
        objects.setdefault((consequence, reason), []).append(str(candidate))
    return [
        f"an API server would {consequence} about {abridged(names, MOST_OBJECTS)}: {reason}"
        for (consequence, reason), names in objects.items()
    ]
