"""All requests reviewed, one after the other, and what is remarkable about it: above all, who would not be asked."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hedgerow_entrypoints.cli.rendering import summary
from hedgerow_entrypoints.cli.review.course import Panel, Reviewed, course, seen_attributes
from hedgerow_entrypoints.cli.review.facts import ReviewFacts
from hedgerow_entrypoints.cli.review.remarks import Remark, asked_by_nobody, not_asked_by
from hedgerow_entrypoints.cli.review.requests import Candidate
from hedgerow_entrypoints.errors import CommandError

VERDICTS: Final = ("unchanged", "changed", "denied")
"""From the one that counts least to the one that wins."""


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


async def reviewed_by(
    panel: Panel, candidates: Iterable[Candidate], facts: ReviewFacts, *, everything: bool
) -> Session:
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
    remarkable: dict[Remark, list[Candidate]] = {}
    for candidate in candidates:
        reviews_of_it = [each async for each in course(candidate, asked, facts)]
        reviews += reviews_of_it
        if everything and reviews_of_it:
            continue
        for remark in await _remarks(panel, candidate, facts, everything=everything):
            remarkable.setdefault(remark, []).append(candidate)
    return Session(reviews, [remark.about(of_whom) for remark, of_whom in remarkable.items()])


async def _remarks(panel: Panel, candidate: Candidate, facts: ReviewFacts, *, everything: bool) -> Sequence[Remark]:
    """Whom labels keep out; nothing where the cluster does not tell the labels, on which no decision depends here."""
    try:
        attributes = await seen_attributes(candidate.request, panel, facts)
    except CommandError:
        return ()
    return [asked_by_nobody(panel, attributes)] if everything else list(not_asked_by(panel, attributes))
