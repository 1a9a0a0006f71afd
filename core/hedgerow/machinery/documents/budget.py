"""Reading budget: how much may be read for one decision, and in which slices.

Small texts can stand for very large values. Long work pauses after each slice, so that other tasks can run. Slices are
counted in nodes, not in time: equal work has equal slices.
"""

import re
from collections.abc import Generator
from typing import Any, Final, TypeAlias, TypeVar

SLICE: Final = 250
"""Nodes that are read in a slice, which takes about 1 ms."""

Value = TypeVar("Value")
Slices: TypeAlias = Generator[None, None, Value]
"""Work that pauses wherever it yields; it returns its result."""


def finished(slices: Slices[Value]) -> Value:
    """The result of work that is done without a pause."""
    while True:
        try:
            next(slices)
        except StopIteration as end:
            value: Value = end.value
            return value


class SliceCounter:
    """Counts the work that is done in the current slice."""

    _worked = 0

    def ends_slice(self, nodes: int = 1) -> bool:
        """True if work equal to reading so many nodes completes a slice; the next one begins then."""
        self._worked += nodes
        if self._worked < SLICE:
            return False
        self._worked = 0
        return True


def count_nodes(value: Any) -> int:
    """The keys, scalars, lists and mappings of a parsed document."""
    count, level = 0, [value]
    while level:
        below: list[Any] = []
        for member in level:
            if isinstance(member, dict):
                count += len(member)
                below += member.values()
            elif isinstance(member, list):
                below += member
        count += len(level)
        level = below
    return count


MOST_BYTES: Final = 16 * 1024 * 1024
"""Of text once decompressed: more than ten times what a Secret can hold."""
MOST_NODES: Final = 500_000
"""Keys, scalars, lists and mappings, those that aliases repeat included. A node takes up to 100 bytes of memory."""
MOST_DOCUMENTS: Final = 5_000
"""References to so many objects are about 1 MiB of a status; etcd stores no object of more than 1.5 MiB."""

NODES_OF_A_DOCUMENT: Final = 100_000
"""What is done with one object is not sliced. An object of the 1.5 MiB that etcd stores has fewer."""
TEXT_OF_A_DOCUMENT: Final = 3 * 1024 * 1024
"""Characters of a YAML document: API servers accept no larger requests, and a parser reads one scalar at once."""

CHARACTERS_OF_A_NODE: Final = 100  # a longer text counts as several nodes
SEARCHED_AT_ONCE: Final = 64 * 1024
_CHARACTERS_FOR_A_NODE: Final = 256  # characters that are searched in the time that it takes to read a node


class OverBudgetError(Exception):
    """There is more to read than the budget allows; the text names the limit."""


class ReadingBudget(SliceCounter):
    """What is left to read, and what is left of the current slice."""

    nodes = 0
    exceeded: str | None = None
    """The limit that was passed, as errors name it; nothing more may be read."""
    _ended: str | None = None
    _bytes = _documents = 0

    def __init__(
        self,
        *,
        size: int = MOST_BYTES,
        nodes: int = MOST_NODES,
        documents: int = MOST_DOCUMENTS,
        nodes_of_a_document: int = NODES_OF_A_DOCUMENT,
        text_of_a_document: int = TEXT_OF_A_DOCUMENT,
    ) -> None:
        self._most_bytes, self._most_nodes, self._most_documents = size, nodes, documents
        self._nodes_of_a_document, self.text_of_a_document = nodes_of_a_document, text_of_a_document

    @property
    def nodes_of_next_document(self) -> int:
        """The most nodes of the next document; one with more is broken, or over the budget."""
        return min(self._nodes_of_a_document, self._most_nodes - self.nodes)

    def end(self, limit: str) -> None:
        """Let nothing more be read."""
        self._ended = limit

    def spend(self, *, size: int = 0, nodes: int = 0, documents: int = 0) -> None:
        """Count bytes of text, nodes or documents; OverBudgetError if they are too many, or nothing may be read."""
        self._bytes += size
        self.nodes += nodes
        self._documents += documents
        if self._ended is not None:
            self.exceeded = self._ended
        elif self._bytes > self._most_bytes:
            self.exceeded = f"more than {self._most_bytes} bytes once decompressed"
        elif self.nodes > self._most_nodes:
            self.exceeded = f"more than {self._most_nodes} values"
        elif self._documents > self._most_documents:
            self.exceeded = f"more than {self._most_documents} documents"
        else:
            return
        raise OverBudgetError(self.exceeded)

    def search_ends_slice(self, characters: int) -> bool:
        """True if to search so many characters at once completes a slice."""
        return self.ends_slice(1 + min(characters, SEARCHED_AT_ONCE) // _CHARACTERS_FOR_A_NODE)


def occurs(pattern: re.Pattern[str], text: str, budget: ReadingBudget, longest: int = 1) -> Slices[bool]:
    """True if a pattern that matches at most so many characters occurs in a text."""
    for start in range(0, len(text), SEARCHED_AT_ONCE):
        if pattern.search(text, start, start + SEARCHED_AT_ONCE + longest - 1):
            return True
        if budget.search_ends_slice(len(text) - start):
            yield
    return False
