"""A decoded document: the JSON value that it stands for, or what is wrong with it; and the limits both formats share.

Whether the value is a Kubernetes object is not asked here.
"""

from typing import Any, Final, NamedTuple

MAX_NESTING: Final = 100
"""Levels of lists and mappings; real objects stay below half of it, and nothing that walks one may run out of stack."""

TOO_DEEP: Final = f"lists and mappings are nested more than {MAX_NESTING} levels deep"


class Manner(NamedTuple):
    """How documents are read. In any manner problems show no values, which may be those of a Secret."""

    is_strict: bool
    """Whether a key that a mapping has twice, and a whole number of more than 64 bits, are problems. Otherwise the last
    value counts, and the number becomes what kubectl makes of it, which mostly is a float."""


CHECKING: Final = Manner(is_strict=True)
"""For files that somebody checks."""

AS_KUBECTL: Final = Manner(is_strict=False)
"""For texts that were written for kubectl and its relatives."""


class Document(NamedTuple):
    """One document of a file, in the order of the file."""

    value: Any
    """A JSON value; null for an empty document. Means nothing where there are problems."""
    problems: tuple[str, ...] = ()


def repeated_key(key: str) -> str:
    """What is wrong where a mapping holds a key twice: readers differ in which value they take."""
    return f'the key "{key}" appears twice in one mapping'
