"""The installed command with some of its times shortened, where a test cannot wait for them.

Everything else is the command's own: the constants are set before it begins, by a launcher that knows nothing else.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tests.e2e.resource_manager import COMMAND, ResourceManager, run_command

QUICK_TO_TRY_AGAIN: Final = {
    "hedgerow_adapters.informer.recovery.FIRST": 0.02,
    "hedgerow_adapters.informer.recovery.LONGEST": 0.02,
}
QUICK_TO_NOTICE_SILENCE: Final = {
    "hedgerow_adapters.informer.informer.SHORTEST_WATCH": 2.0,
    "hedgerow_adapters.informer.informer.SILENCE_MARGIN": 1.0,
}
PERIODS_OF_ANY_LENGTH: Final = """
from hedgerow.machinery.configuration import rules
at_least = rules.at_least
rules.at_least = lambda least, *more, **options: at_least(type(least)(0), *more, **options)
"""
"""Code that runs before the command: no configured period is too short for it."""
_LAUNCHER: Final = """
import importlib, json, sys
for name, value in json.loads(sys.argv.pop(1)).items():
    module, _, constant = name.rpartition(".")
    module = importlib.import_module(module)
    assert isinstance(getattr(module, constant), type(value)), name
    setattr(module, constant, value)
from hedgerow_entrypoints.cli.command import main
sys.exit(main())
"""


def run_hasty_command(
    constants: Mapping[str, float], *arguments: str, before: str = ""
) -> subprocess.CompletedProcess[str]:
    """What a command printed some of whose constants, by their full names, have other values.

    Args:
        constants: the values.
        arguments: of the command.
        before: Python code that runs before it.
    """
    launched = (sys.executable, "-c", before + _LAUNCHER, json.dumps(constants))
    return run_command(*arguments, command=launched)


class HastyResourceManager(ResourceManager):
    """A process some of whose constants, by their full names, have other values."""

    def __init__(
        self,
        folder: Path,
        config: Mapping[str, Any],
        constants: Mapping[str, float],
        *,
        name: str = "resource-manager",
        before: str = "",
        shutdown_delay: str = "0s",
    ) -> None:
        """A process that has not been started.

        Args:
            folder: as for every process.
            config: likewise.
            constants: the values.
            name: tells the processes of one test apart.
            before: Python code that runs before the command.
            shutdown_delay: as for every process.
        """
        super().__init__(folder, config, name=name, shutdown_delay=shutdown_delay)
        at = self._command.index(str(COMMAND))
        launched = (sys.executable, "-c", before + _LAUNCHER, json.dumps(constants))
        self._command = (*self._command[:at], *launched, *self._command[at + 1 :])
