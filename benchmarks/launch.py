"""How the command is started: as users install it, without the optional speed extras, or under a profiler.

The product knows nothing of this: a module that stands for None among the loaded ones cannot be imported, exactly as if
it were not installed. The profiler counts processor time, so that waiting does not hide work.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SPEED_EXTRAS: Final = ("orjson", "uvloop")
OF_LINTERS: Final = ("rich",)
"""What only the tools of this project bring along, and the command would load where it is there."""
REPOSITORY: Final = Path(__file__).resolve().parents[1]

_PLAIN: Final = """
import sys
sys.modules.update(dict.fromkeys({hidden!r}))
from {module} import main
main()
"""
_PROFILED: Final = """
import cProfile, sys, time
sys.modules.update(dict.fromkeys({hidden!r}))
def run():
    from {module} import main
    main()
profiler = cProfile.Profile(time.process_time)
try:
    profiler.runcall(run)
finally:
    profiler.dump_stats({file!r})
"""


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
        """The command line for a process that works at something of a name."""
        return self.line_of(name, "hedgerow_entrypoints.cli.command", *arguments)

    def line_of(self, name: str, module: str, *arguments: str) -> list[str]:
        """The same for the `main` of another module than the command's."""
        hidden = OF_LINTERS if self.with_speed_extras else (*OF_LINTERS, *SPEED_EXTRAS)
        if self.profiles is None:
            program = _PLAIN.format(hidden=hidden, module=module)
        else:
            program = _PROFILED.format(hidden=hidden, module=module, file=str(self.profiles / f"{name}.prof"))
        return [sys.executable, "-c", program, *arguments]
