"""When a process gives memory back."""

import ctypes

import pytest

from hedgerow_entrypoints.process.memory import give_memory_back, trim_heap


class OverError(Exception):
    """Nobody looks any more."""


async def test_memory_is_given_back_again_and_again_whether_or_not_the_process_has_grown() -> None:
    """What is freed after the last time leaves the process as large as it was."""
    trimmed: list[None] = []

    def trim() -> None:
        trimmed.append(None)
        if len(trimmed) == 3:
            raise OverError

    with pytest.raises(OverError):
        await give_memory_back(trim, period=0)


def test_the_memory_of_this_process_can_be_trimmed() -> None:
    trim_heap()


def test_where_the_c_library_cannot_trim_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: object())

    trim_heap()
