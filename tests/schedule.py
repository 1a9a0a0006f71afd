"""In which order tests run, so that workers share the servers, and all of them end at the same time.

Each worker begins with an equal number of tests in a row, and takes from the end of another's when it has none left. So
what takes long stands at the beginning of each row, and the many quick tests at its end.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple, TypeAlias, TypeVar

SECONDS: Final = {"slow": 30.0, "process": 3.0, "exchange": 0.1, "quick": 0.01}
"""What a test takes, about: one that says so, one that starts processes, one that only talks to servers, and others."""

Item = TypeVar("Item")
Block: TypeAlias = Sequence[Item]


class Place(NamedTuple):
    """Where a test stands: what comes first sorts first."""

    kind: str
    """A name of `SECONDS`."""
    block: str
    """Tests of one block share servers, and begin on one worker; of no importance for the quick ones."""

    @property
    def is_quick(self) -> bool:
        """True for the tests that need no server."""
        return self.kind == "quick"


def place_of(parts: Sequence[str], *, is_slow: bool) -> Place:
    """The place of a test whose file is at this path within the folder of all tests."""
    of_process = "slow" if is_slow else "process"
    match parts:
        case ("e2e", "managed_resources" as folder, *_):
            return Place(of_process, folder)
        case ("e2e", *rest):
            talks = rest[0] == "admission_server" or rest[0].startswith("test_http_transport")
            return Place("exchange" if talks else of_process, "/".join(rest))
        case ("contract" as folder, *_):
            return Place("exchange", folder)
        case ("documentation" as folder, *_):
            return Place(of_process, folder)
        case _:
            return Place("quick", "")


def scheduled(items: Sequence[tuple[Place, Item]], workers: int) -> list[Item]:
    """The tests in the order in which as many workers get them; what is alike stays in the order in which it was."""
    quick = [item for place, item in items if place.is_quick]
    rows: list[list[tuple[Place, Item]]] = [[] for _ in range(workers)]
    for block in sorted(_blocks(items), key=_seconds, reverse=True):
        min(rows, key=_seconds).extend(block)
    order: list[Item] = []
    left = len(items)
    for number, row in enumerate(rows):
        share = left // (workers - number)
        left -= share
        room = max(0, share - len(row))
        order += [*(item for _, item in row), *quick[:room]]
        del quick[:room]
    return order + quick


def _blocks(items: Sequence[tuple[Place, Item]]) -> Iterator[Block[tuple[Place, Item]]]:
    """The tests that are not quick, by their blocks; the slow ones of a block first."""
    long = [placed for placed in items if not placed[0].is_quick]
    for _, block in groupby(sorted(long, key=lambda placed: placed[0].block), key=lambda placed: placed[0].block):
        yield sorted(block, key=lambda placed: placed[0].kind != "slow")


def _seconds(row: Block[tuple[Place, Item]]) -> float:
    return sum(SECONDS[place.kind] for place, _ in row)
