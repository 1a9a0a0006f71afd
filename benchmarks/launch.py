"""Starts the installed command as it is, without the optional speed extras, or under the interpreter's profiler.

The product knows nothing of this: a module that stands for None among the loaded ones cannot be imported, exactly as if
it were not installed. The profiler counts processor time, so that waiting does not hide work.
"""

import argparse
import cProfile
import sys
import time
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Final, cast

SPEED_EXTRAS: Final = ("orjson", "uvloop")
REPOSITORY: Final = Path(__file__).resolve().parents[1]
INSTALLED: Final = Path(sys.executable).with_name("hedgerow")


@dataclass(frozen=True, slots=True)
class Command:
    """How the command is started in this run of the benchmarks."""

    with_speed_extras: bool = True
    profiles: Path | None = None
    """A folder for the profiles of all processes, named after what they worked at; none: they run unwatched."""

    def __str__(self) -> str:
        """How processes run."""
        extras = " and ".join(SPEED_EXTRAS)
        where_installed = f"with {extras} where installed" if self.with_speed_extras else f"without {extras}"
        return where_installed if self.profiles is None else f"{where_installed}, under the profiler"

    def line(self, name: str, *arguments: str) -> list[str]:
        """The command line for a process; it has to start in the folder of the repository."""
        options = [] if self.with_speed_extras else ["--without-speed-extras"]
        if self.profiles is not None:
            options += ["--profile", str(self.profiles / f"{name}.prof")]
        if not options:
            return [str(INSTALLED), *arguments]
        return [sys.executable, "-m", "benchmarks.launch", *options, "--", *arguments]


def main() -> None:
    """Become the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.launch", description=__doc__)
    parser.add_argument("--without-speed-extras", action="store_true", help=f"as if without {', '.join(SPEED_EXTRAS)}")
    parser.add_argument("--profile", metavar="FILE", help="where the profile goes, for the module pstats")
    parser.add_argument("arguments", nargs="+", help="those of the command, after --")
    options = parser.parse_args()
    if options.without_speed_extras:
        cast("dict[str, ModuleType | None]", sys.modules).update(dict.fromkeys(SPEED_EXTRAS))
    if options.profile is None:
        _run(options.arguments)
    profiler = cProfile.Profile(time.process_time)
    try:
        profiler.runcall(_run, options.arguments)
    finally:
        profiler.dump_stats(options.profile)


def _run(arguments: list[str]) -> None:
    """Imported this late, so that a profile shows imports too."""
    import_module("hedgerow_entrypoints.command").main(arguments)


if __name__ == "__main__":
    main()
