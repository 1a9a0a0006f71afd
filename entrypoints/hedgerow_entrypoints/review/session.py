"""All requests reviewed, one after the other, and what is remarkable about it: above all, who would not be asked."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hedgerow.admission.dispatch import Attributes, Entry
from hedgerow.machinery.selectors import LabelSelector, selector_query
from hedgerow_adapters.files.loaded import printable
from hedgerow_entrypoints.rendering import summary
from hedgerow_entrypoints.review.course import Panel, Reviewed, attributes_of, course, is_asked, without_selectors
from hedgerow_entrypoints.review.facts import Facts
from hedgerow_entrypoints.review.requests import Candidate

VERDICTS: Final = ("unchanged", "changed", "denied")
"""From the one that counts least to the one that wins."""
MOST_OBJECTS: Final = 3


@dataclass(frozen=True, slots=True)
class Session:
    """What has come out."""

    reviews: Sequence[Reviewed]
    remarks: Sequence[str]
    """Why a cluster might do something else, a sentence each."""

    @property
    def verdicts(self) -> Mapping[str, int]:
        """How many requests had which outcome; a denial by any webhook counts, then a change by any."""
        outcomes: dict[int, str] = {}
        for each in self.reviews:
            earlier = outcomes.get(id(each.candidate), VERDICTS[0])
            outcomes[id(each.candidate)] = max(earlier, each.verdict, key=VERDICTS.index)
        return Counter(outcomes.values())

    @property
    def summary(self) -> str:
        """The outcomes in a line."""
        if not self.reviews:
            return "nothing reviewed"
        counts = self.verdicts
        return summary([(counts[verdict], verdict) for verdict in ("changed", "unchanged", "denied")], ())


async def reviewed_by(panel: Panel, candidates: Iterable[Candidate], facts: Facts, *, everything: bool) -> Session:
    """The decisions of a panel.

    Args:
        panel: who is asked.
        candidates: about what.
        facts: what is looked up.
        everything: whether labels decide which webhooks are asked, as in a cluster; otherwise all are that are for such
            requests, and whom labels would keep out is remarked on.

    Raises:
        CommandError: what a webhook looks up cannot be had.
    """
    asked = panel if everything else panel.regardless_of_labels()
    reviews: list[Reviewed] = []
    remarkable: dict[tuple[str, str], list[Candidate]] = {}
    for candidate in candidates:
        reviews_of_it = [each async for each in course(candidate, asked, facts)]
        reviews += reviews_of_it
        attributes = attributes_of(candidate.request, await facts.namespace_labels(candidate.request.namespace))
        for remark in _remarks(panel, attributes, everything=everything, is_reviewed=bool(reviews_of_it)):
            remarkable.setdefault(remark, []).append(candidate)
    return Session(reviews, [f"{start} {_abridged(about)}{end}" for (start, end), about in remarkable.items()])


def _remarks(panel: Panel, attributes: Attributes, *, everything: bool, is_reviewed: bool) -> Iterator[tuple[str, str]]:
    """What to say about a request: what stands before its name, and what after it."""
    if everything:
        if not is_reviewed:
            yield "an API server would ask no webhook about", ""
        return
    for entry in panel.entries:
        if is_asked(without_selectors(entry), attributes) and not is_asked(entry, attributes):
            name = panel.webhooks[entry.client.path].name
            reasons = " and ".join(_unmatched(entry, attributes))
            yield f"an API server would not ask {name} about", f": {reasons}"


def _unmatched(entry: Entry, attributes: Attributes) -> Iterator[str]:
    """What keeps an API server from asking a webhook that is for such requests."""
    of_namespace = replace(without_selectors(entry), namespace_selector=entry.namespace_selector)
    of_object = replace(without_selectors(entry), object_selector=entry.object_selector)
    if not is_asked(of_namespace, attributes):
        yield f"the labels of its Namespace do not match {_query(entry.namespace_selector)}"
    if not is_asked(of_object, attributes):
        yield f"its labels do not match {_query(entry.object_selector)}"


def _query(selector: LabelSelector) -> str:
    return f'"{selector_query(selector)}"'


def _abridged(candidates: Sequence[Candidate]) -> str:
    names = [f"{printable(each.request.kind.kind)} {each.name}" for each in candidates]
    shown = ", ".join(names[:MOST_OBJECTS])
    return f"{shown} and {len(names) - MOST_OBJECTS} more" if len(names) > MOST_OBJECTS else shown
