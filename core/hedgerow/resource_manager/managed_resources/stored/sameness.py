"""Which values are the same beyond doubt, whatever a rule says: most of what a settled object holds.

To see that takes a fraction of the time that it takes to go through them member by member. What is not evident here may
turn out to be the same all the same.
"""

from typing import Any, Final

SCALARS: Final = frozenset({str, int, bool})
"""Types of single values that are the same if they are equal and of one type."""

_EQUAL_TO_BOOLEANS: Final = frozenset({0, 1})
"""What Python holds for equal to false and true."""

_LEVELS: Final = 3
"""How many levels of a value are looked at. More would seldom be of use, and each is seen again from every level."""


def are_evidently_the_same(one: Any, other: Any) -> bool:
    """Whether two values are equal and hold nothing that is taken for equal to something else, or for absent."""
    kind = type(one)
    if kind is not type(other):
        return False
    if kind is dict or kind is list:  # what is cheap to ask comes first, so that little is lost if the answer is no
        return 0 < len(one) == len(other) and _is_unmistakable(one, _LEVELS) and bool(one == other)
    return kind in SCALARS and bool(one == other)


def _is_unmistakable(value: Any, levels: int) -> bool:
    """Whether only the same is equal to an object or list: it holds no booleans, numbers like them, or empty values.

    An empty value may be as good as not sent. What reaches deeper than these levels is in doubt.
    """
    for each in value.values() if type(value) is dict else value:
        kind = type(each)
        if kind is str:
            continue
        if kind is dict or kind is list:
            if not each or levels == 1 or not _is_unmistakable(each, levels - 1):
                return False
        elif kind is not int or each in _EQUAL_TO_BOOLEANS:
            return False
    return True
