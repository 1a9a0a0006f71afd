"""Whether a controller may delete as much as it plans to.

A list that came back empty, a selector that matches nothing or the wrong cluster all look like "everything is to be
deleted". The guard looks at what a controller would delete altogether, before the first deletion.
"""

from enum import Enum, auto
from typing import Final

ALWAYS_ALLOWED: Final = 20
SHARE_ALLOWED: Final = 0.3
SHARE_NEVER_BELIEVED: Final = 0.9
"""The share of what a controller owns from which on even fresh lists are taken for part of the mistake."""


class Verdict(Enum):
    """What the guard says of a number of deletions."""

    PROCEED = auto()
    CONFIRM = auto()
    """Only a second, fresh list of everything that the decision read can justify it."""
    STOP = auto()


def judge_deletions(deletions: int, owned: int, *, confirmed: bool) -> Verdict:
    """Whether deletions may proceed, need a fresh list first, or stop.

    More than 20 and more than 30 % of what the controller owns needs confirmation. More than 20 and 90 % or more is not
    believed even then: a mistake seldom takes everything, as an object or two of another origin always remain.

    Args:
        deletions: how many objects all pending plans would delete, those of owners that were seen to go not counted.
        owned: how many objects the controller owns, those included.
        confirmed: whether the plans were made from a list taken for this purpose.

    Source: decision A-5.
    """
    if deletions <= max(ALWAYS_ALLOWED, owned * SHARE_ALLOWED):
        return Verdict.PROCEED
    if not confirmed:
        return Verdict.CONFIRM
    return Verdict.STOP if deletions >= owned * SHARE_NEVER_BELIEVED else Verdict.PROCEED
