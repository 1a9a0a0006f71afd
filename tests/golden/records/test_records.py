"""What an earlier version has recorded is decided in the same way, or refused as of another format."""

import json
from pathlib import Path
from typing import Final

import pytest

from hedgerow.machinery.recording.codec import FORMAT
from hedgerow.version import __version__
from tests.e2e.resource_manager import run_here

RECORDS: Final = {file.stem: file for file in sorted(Path(__file__).parent.glob("*.jsonl"))}


@pytest.mark.parametrize("version", RECORDS)
def test_a_record_is_repeated_exactly_or_its_format_is_named(version: str) -> None:
    header, *decisions = [json.loads(line) for line in RECORDS[version].read_text("utf-8").splitlines()]

    done = run_here("replay", str(RECORDS[version]))

    assert header["version"] == version
    if header["hedgerow-record"] == FORMAT:
        repeated = f"{len(decisions)} decisions repeated, none different\n"
        assert (done.returncode, done.stdout, done.stderr) == (0, "", repeated)
    else:
        assert done.returncode == 1
        assert f"its format is {header['hedgerow-record']}, this version knows only {FORMAT}" in done.stderr


def test_a_record_of_a_later_format_is_refused_by_name(tmp_path: Path) -> None:
    """What a downgrade meets."""
    later = tmp_path / "later.jsonl"
    header, rest = RECORDS[__version__].read_text("utf-8").split("\n", maxsplit=1)
    later.write_text(f"{json.dumps({**json.loads(header), 'hedgerow-record': FORMAT + 1})}\n{rest}", encoding="utf-8")

    done = run_here("replay", str(later))

    assert done.returncode == 1
    assert f"its format is {FORMAT + 1}, this version knows only {FORMAT}" in done.stderr


def test_every_version_has_a_record() -> None:
    assert __version__ in RECORDS
