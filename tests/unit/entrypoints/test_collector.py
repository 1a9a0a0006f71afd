"""How many values are searched for cycles at a time."""

import asyncio
import gc
from collections.abc import Iterator

import pytest

from hedgerow_entrypoints.process import memory
from hedgerow_entrypoints.process.memory import keep_searches_short, search_seldom


@pytest.fixture(autouse=True)
def _as_in_a_new_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Without the values of the test run, with limits a hundredth of the real ones."""
    thresholds, callbacks = gc.get_threshold(), tuple(gc.callbacks)
    monkeypatch.setattr(memory, "NEW_VALUES", memory.NEW_VALUES // 100)
    monkeypatch.setattr(memory, "MOST_SEARCHED", memory.MOST_SEARCHED // 100)
    gc.collect()
    gc.freeze()
    gc.collect()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)
    gc.callbacks[:] = callbacks


def largest_search(new_values: int) -> int:
    """The most values that a search saw while so many more appeared, which all live on."""
    searched: list[int] = []

    def count(phase: str, _info: dict[str, int]) -> None:
        if phase == "start":
            searched.append(len(gc.get_objects()))

    gc.callbacks.append(count)
    kept: list[list[None]] = [[] for _ in range(new_values)]
    assert len(kept) == new_values
    return max(searched)


def test_no_search_sees_all_values_of_a_process_that_grows() -> None:
    search_seldom()

    assert largest_search(100_000) < 2_500


async def test_new_values_that_replace_old_ones_are_searched_before_they_are_many() -> None:
    search_seldom()
    looks = asyncio.create_task(keep_searches_short(period=0))
    values: list[list[None]] = [[] for _ in range(20_000)]
    gc.collect()
    most = 0

    for number in range(len(values)):
        values[number] = []
        if number % 100 == 0:
            await asyncio.sleep(0.0001)
            most = max(most, len(gc.get_objects()))

    looks.cancel()
    assert most < 2_500, "the interpreter alone would search none of the 20 000"


def test_few_values_are_searched_again() -> None:
    search_seldom()
    before = gc.get_freeze_count()

    few = [[] for _ in range(memory.MOST_SEARCHED // 2)]  # type: ignore[var-annotated]
    gc.collect()

    assert few
    assert gc.get_freeze_count() == before
