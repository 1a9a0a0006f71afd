"""Holds so many reviews that came about by chance to the laws; one that breaks them comes back with its number."""

import argparse
import sys
import time
import traceback
from typing import Final

from tests.unit.adapters.admission.fuzz.trials import LawBrokenError, hold

CHUNK: Final = 500
"""Examples on one event loop, which forgets the timers of reviews only with its end."""
NEWS: Final = 10.0
"""Seconds between two lines about progress."""


def main() -> int:
    """Go through the examples until one breaks a law; the exit code says whether one did."""
    parser = argparse.ArgumentParser(prog="python -m tests.unit.adapters.admission.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="another seed, other examples")
    parser.add_argument("--first", type=int, default=0, metavar="NUMBER", help="the example to begin with")
    parser.add_argument("--examples", type=int, default=1_000_000, metavar="COUNT", help="how many")
    options = parser.parse_args()
    _say(f"{options.examples} examples of seed {options.seed}")
    end = options.first + options.examples
    began = told = time.monotonic()
    for first in range(options.first, end, CHUNK):
        try:
            hold(options.seed, range(first, min(first + CHUNK, end)))
        except LawBrokenError as error:
            traceback.print_exception(error)
            _say(f"once more: {parser.prog} --seed {options.seed} --first {error.number} --examples 1")
            return 1
        if time.monotonic() - told > NEWS:
            told = time.monotonic()
            done = min(first + CHUNK, end) - options.first
            _say(f"{done:>9} held after {told - began:.0f} s")
    _say(f"all {options.examples} held after {time.monotonic() - began:.0f} s")
    return 0


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201 -- somebody waits for it at a terminal


if __name__ == "__main__":
    sys.exit(main())
