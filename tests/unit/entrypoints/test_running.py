"""How a process ends that fails."""

import json

import pytest

from hedgerow.machinery.configuration.process import ClientConnection, LeaderElection, Server
from hedgerow.machinery.configuration.reading import Decoded
from hedgerow_entrypoints.components import running
from hedgerow_entrypoints.components.registry import Component
from hedgerow_entrypoints.components.running import run_component
from hedgerow_entrypoints.fatal import failures_are_logged
from hedgerow_entrypoints.process.process import Process
from hedgerow_entrypoints.process.settings import ProcessSettings

SETTINGS = ProcessSettings(source=ClientConnection(), server=Server(), leader_election=LeaderElection())


def test_an_operating_system_error_is_logged_with_its_cause_and_not_told_as_one_of_the_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def fail(_process: Process) -> None:
        raise OSError("too many open files")

    monkeypatch.setattr(Process, "run", fail)
    monkeypatch.setattr(running, "leave_out_what_exists", lambda: None)
    component = Component(
        name="test", controllers=(), without_file=lambda _ask: SETTINGS, settings=lambda settings: settings
    )

    with pytest.raises(SystemExit) as end, failures_are_logged("test"):
        run_component(component, {}, Decoded(SETTINGS, ()), None)

    last = json.loads(capsys.readouterr().err.splitlines()[-1])
    assert end.value.code == 1
    assert (last["level"], last["msg"]) == ("error", "Process ended with a defect")
    assert "in fail" in last["stacktrace"]
    assert last["stacktrace"].endswith("OSError: too many open files")
