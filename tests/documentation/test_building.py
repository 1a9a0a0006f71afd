"""The documentation can be built: no page is left out, and every link and anchor leads somewhere."""

import subprocess
import sys
from pathlib import Path
from typing import Final

DOCS: Final = Path(__file__).parents[2] / "docs"


def test_the_documentation_is_built_without_a_warning(tmp_path: Path) -> None:
    building = [
        sys.executable,
        "-m",
        "sphinx",
        "-W",
        "--keep-going",
        "-q",
        "-b",
        "html",
        str(DOCS),
        str(tmp_path / "html"),
    ]

    built = subprocess.run(building, cwd=tmp_path, stderr=subprocess.PIPE, text=True, check=False)

    assert (built.returncode, built.stderr) == (0, "")
