"""When a process gives memory back."""

from collections.abc import Sequence

import pytest

from hedgerow_entrypoints.heap import WORTH_IT, give_memory_back, resident_bytes, trim_heap


class OverError(Exception):
    """Nobody looks any more."""


@pytest.mark.parametrize(
    ("sizes", "trims"),
    [
        ([100, 100, 110, 115], 0),
        ([100, 120, 118, 118], 1),
        ([100, 120, 119, 140, 120], 2),
        ([100, 50, 66, 50], 1),
    ],
    ids=["grows little", "has grown once", "grows again", "grows after it has shrunk"],
)
async def test_memory_is_given_back_when_the_process_has_grown_since_the_last_time(
    sizes: Sequence[int], trims: int
) -> None:
    """Sizes in MiB, as they are seen one after the other, after each trim as well."""
    left = iter(sizes)
    trimmed: list[None] = []

    def resident() -> int:
        for size in left:
            return size * 2**20
        raise OverError

    with pytest.raises(OverError):
        await give_memory_back(resident, lambda: trimmed.append(None), period=0)

    assert len(trimmed) == trims


def test_the_memory_of_this_process_is_known_and_can_be_trimmed() -> None:
    trim_heap()

    assert resident_bytes() > WORTH_IT
