import io
from pathlib import Path

import pytest

from hedgerow_entrypoints.cli.command import main
from tests.unit.entrypoints.command_line import REPOSITORY, Ended, Hedgerow


@pytest.fixture
def hedgerow(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Hedgerow:
    """The command, in this process: what it prints, and the exit code that a shell would see."""
    for variable in ("KUBECONFIG", "NO_COLOR"):
        monkeypatch.delenv(variable, raising=False)

    def run(*arguments: str, stdin: str | None = "") -> Ended:
        given = None if stdin is None else io.TextIOWrapper(io.BytesIO(stdin.encode()))
        monkeypatch.setattr("sys.stdin", given)
        with pytest.raises(SystemExit) as end:
            main(arguments)
        code = end.value.code
        assert code is None or isinstance(code, int)
        return Ended(code or 0, *capsys.readouterr())

    return run


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The checkout, as working directory."""
    monkeypatch.chdir(REPOSITORY)
    return REPOSITORY


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, as working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
