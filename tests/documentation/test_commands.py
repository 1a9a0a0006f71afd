"""The documentation shows what really happens: every command in it is run, and prints what stands below it."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.built_wheel import install_wheel

REPOSITORY: Final = Path(__file__).parents[2]
CONSOLE: Final = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HERE_DOCUMENT: Final = re.compile(r"<<'(\w+)'$")
STATUS: Final = "echo $?"
PAGES: Final = [page for page in sorted(REPOSITORY.glob("docs/**/*.md")) if CONSOLE.search(page.read_text("utf-8"))]


class Command(NamedTuple):
    """One command of a page."""

    script: str
    """With the document that it reads, if there is one."""
    printed: str


def commands_of(text: str) -> Iterator[Command]:
    """The commands of a page in their order, each with what is printed below it."""
    for block in CONSOLE.findall(text):
        lines = iter(block.splitlines())
        script, printed = list[str](), list[str]()
        for line in lines:
            if not line.startswith("$ "):
                printed.append(line)
                continue
            if script:
                yield Command("\n".join(script), "\n".join(printed))
            script, printed = [line.removeprefix("$ ")], []
            if here := HERE_DOCUMENT.search(line):
                while script[-1] != here[1]:
                    script.append(next(lines))
        yield Command("\n".join(script), "\n".join(printed))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the built wheel is installed: pages are about what is published."""
    return install_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_what_its_commands_print(page: Path, installed: Path, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(REPOSITORY / "examples")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {
        "PATH": path,
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(installed),
        "PYTHONWARNINGS": "ignore",
    }
    shown, code = list[Command](), 0
    commands = [*commands_of(page.read_text(encoding="utf-8"))]

    for command in commands:
        if command.script == STATUS:
            shown.append(Command(STATUS, str(code)))
            continue
        done = subprocess.run(
            ["/bin/sh", "-c", command.script],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        code = done.returncode
        shown.append(Command(command.script, done.stdout.rstrip("\n")))

    assert shown == commands
