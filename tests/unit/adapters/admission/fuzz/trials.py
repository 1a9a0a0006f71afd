"""Holds the examples of a seed to the laws, and says which one broke them."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from tests.unit.adapters.admission.fuzz.examples import Example, example, landscape
from tests.unit.adapters.admission.fuzz.laws import Court
from tests.unit.core.admission.properties import WEBHOOKS
from tests.virtual_clock import run


class LawBrokenError(AssertionError):
    """An example for which a law does not hold; its cause says which law."""

    def __init__(self, seed: int, number: int, broken: Example) -> None:
        super().__init__(f"seed {seed}, example {number}, sent to {broken.path}: {broken.body!r}")
        self.number: Final = number


def hold(seed: int, numbers: Iterable[int]) -> None:
    """Go through examples, on an event loop of their own; LawBrokenError at the first that breaks a law."""
    run(_hold(seed, numbers))


async def _hold(seed: int, numbers: Iterable[int]) -> None:
    for number in numbers:
        tried = example(seed, number)
        try:
            await _court(seed, tried.landscape).judge(tried.path, tried.body)
        except Exception as error:
            raise LawBrokenError(seed, number, tried) from error


@lru_cache(maxsize=256)
def _court(seed: int, number: int) -> Court:
    return Court(WEBHOOKS.values(), landscape(seed, number))
