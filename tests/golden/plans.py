"""What `hedgerow plan` says of a golden case, in the form in which the case has it."""

import re
from pathlib import Path
from typing import Final

from click.testing import CliRunner

from hedgerow_entrypoints.cli.command import hedgerow

_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def planned_here(controller: str) -> str:
    """What is planned for the case in the working directory; times that it does not have itself are left out."""
    options = Path("options.txt").read_text().split() if Path("options.txt").exists() else []
    ended = CliRunner().invoke(hedgerow, ["plan", controller, "-f", "input.yaml", *options])
    given = set(_TIME.findall(Path("input.yaml").read_text()))
    shown = _TIME.sub(lambda time: time[0] if time[0] in given else "(now)", ended.stdout)
    return f"{shown}\n{ended.stderr}exit code {ended.exit_code}\n"
