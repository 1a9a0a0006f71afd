"""All requests reviewed, one after the other, and what is remarkable about it: above all, who would not be asked."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from hedgerow.admission.config import AdmissionConfig
from hedgerow.admission.registration import Mode
from hedgerow.admission.request import AdmissionRequest
from hedgerow.machinery.selectors import selector_query
from hedgerow_adapters.files.sources import printable
from hedgerow_adapters.registrations import Entry
from hedgerow_adapters.registrations.dispatch import Attributes
from hedgerow_entrypoints.cli.rendering import summary
from hedgerow_entrypoints.cli.review.course import Panel, Reviewed, course, is_asked, seen_attributes, without_selectors
from hedgerow_entrypoints.cli.review.facts import ReviewFacts
from hedgerow_entrypoints.cli.review.panels import whole_panel
from hedgerow_entrypoints.cli.review.requests import Candidate
from hedgerow_entrypoints.errors import CommandError

MOST_OBJECTS: Final = 3
VERDICTS: Final = ("unchanged", "changed", "denied")
"""From the one that counts least to the one that wins."""
_SOMEWHERE: Final = "api"
"""Any name of an API server enables the webhook that wants one."""


class Remark(NamedTuple):
    """What is said once about all objects that it is true of."""

    webhook: str
    """Who would not be asked; empty: nobody would."""
    reason: str

    def about(self, candidates: Sequence[Candidate]) -> str:
        """The sentence; beyond a few objects it counts them."""
        names = [f"{printable(each.request.kind.kind)} {each.name}" for each in candidates]
        shown = ", ".join(names[:MOST_OBJECTS])
        rest = f" and {len(names) - MOST_OBJECTS} more" if len(names) > MOST_OBJECTS else ""
        asked = f"not ask {self.webhook}" if self.webhook else "ask no webhook"
        return f"an API server would {asked} about {shown}{rest}: {self.reason}"


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
        counts = self.verdicts
        order = ("changed", "unchanged", "denied")
        return summary([(counts[each], each) for each in order], ()) if self.reviews else "nothing reviewed"


async def reviewed_by(
    panel: Panel, candidates: Iterable[Candidate], facts: ReviewFacts, *, everything: bool
) -> Session:
    """The decisions of a panel.

    With `everything`, labels decide which webhooks are asked, as in a cluster. Otherwise all are that are for such
    requests, and whom labels would keep out is remarked on.

    Raises:
        CommandError: what a webhook looks up cannot be had.
    """
    asked = panel if everything else panel.regardless_of_labels()
    reviews: list[Reviewed] = []
    remarkable: dict[Remark, list[Candidate]] = {}
    for candidate in candidates:
        reviews_of_it = [each async for each in course(candidate, asked, facts)]
        reviews += reviews_of_it
        if everything and reviews_of_it:
            continue
        try:
            attributes = await seen_attributes(candidate.request, panel, facts)
        except CommandError:
            continue  # no decision here depends on the labels that the cluster does not tell
        kept_out = [*_kept_out(panel, attributes)]
        for remark in (
            [Remark("", "; ".join(dict.fromkeys(each.reason for each in kept_out)))] if everything else kept_out
        ):
            remarkable.setdefault(remark, []).append(candidate)
    return Session(reviews, [remark.about(of_whom) for remark, of_whom in remarkable.items()])


def _kept_out(panel: Panel, attributes: Attributes) -> Iterator[Remark]:
    """The webhooks that are for such requests, but that labels keep an API server from asking."""
    for entry in panel.entries:
        if is_asked(without_selectors(entry), attributes) and not is_asked(entry, attributes):
            yield Remark(panel.webhooks[entry.client.path].name, " and ".join(_unmatched(entry, attributes)))


def _unmatched(entry: Entry, attributes: Attributes) -> Iterator[str]:
    of_namespace = replace(without_selectors(entry), namespace_selector=entry.namespace_selector)
    of_object = replace(without_selectors(entry), object_selector=entry.object_selector)
    if not is_asked(of_namespace, attributes):
        yield f'the labels of its Namespace do not match "{selector_query(entry.namespace_selector)}"'
    if not is_asked(of_object, attributes):
        yield f'its labels do not match "{selector_query(entry.object_selector)}"'


def unregistered(
    candidates: Iterable[Candidate], panel: Panel, configured: AdmissionConfig | None, mode: Mode
) -> Iterator[str]:
    """What to say about requests that no webhook of a panel is registered for, whatever their labels."""
    found: dict[Remark, list[Candidate]] = {}
    for each in candidates:
        if not panel.concerns(each.request):
            found.setdefault(Remark("", _not_registered(each.request, configured, mode)), []).append(each)
    yield from (remark.about(of_whom) for remark, of_whom in found.items())


def _not_registered(request: AdmissionRequest, configured: AdmissionConfig | None, mode: Mode) -> str:
    what = printable(f"{request.operation} of {request.resource.resource}")
    if configured is not None and whole_panel(None, _SOMEWHERE, mode).concerns(request):
        return f"the configuration enables none for {what}"
    elsewhere = any(whole_panel(None, _SOMEWHERE, each).concerns(request) for each in Mode)
    return f"none is registered for {what}" + (f" in mode {mode}" if elsewhere else "")
