"""Recorded behaviour of the reference: where it lies, and one test case per line."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

DIRECTORY = Path(os.environ.get("HEDGEROW_REFERENCE") or Path(__file__).parents[4] / "shared" / "reference")


def cases(file_name: str) -> Iterator[Any]:
    """The lines of a recording, each as a parameter whose id is its number; one skipped case where it is absent."""
    path = DIRECTORY / file_name
    if not path.is_file():
        reason = f"no recording {file_name} in {DIRECTORY}: set HEDGEROW_REFERENCE"
        yield pytest.param(None, marks=pytest.mark.skip(reason=reason), id="absent")
        return
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        yield pytest.param(json.loads(line), id=str(number))
