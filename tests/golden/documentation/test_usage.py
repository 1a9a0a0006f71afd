"""Every call of the command that the documentation shows is understood, whether it is run there or not."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import click
import pytest

from hedgerow_entrypoints.cli.command import hedgerow

REPOSITORY: Final = Path(__file__).parents[3]
PAGES: Final = sorted([*REPOSITORY.glob("*.md"), *REPOSITORY.glob("[de]*/**/*.md")])
SHELL: Final = re.compile(r"^```(?:sh|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCK: Final = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
IN_A_SENTENCE: Final = re.compile(r"`(hedgerow\s[^`]+)`")
HERE_DOCUMENT: Final = re.compile(r"<<'(\w+)'\n.*?^\1$", re.MULTILINE | re.DOTALL)
CONTINUED: Final = "\\\n"
ENDS_A_CALL: Final = frozenset({"|", "&", "&&", "||", ";", ">", "2>/dev/null"})
ELLIPSIS: Final = "…"


def in_blocks(text: str) -> Iterator[list[str]]:
    """The arguments of every call in a block for the shell."""
    for block in SHELL.findall(text):
        for line in HERE_DOCUMENT.sub("", block).replace(CONTINUED, "").splitlines():
            if "hedgerow " in line:
                yield from calls(line.removeprefix("$ "))


def in_sentences(text: str) -> Iterator[list[str]]:
    """The arguments of every call in a sentence, which may leave some out, or replace them by an ellipsis."""
    for code in IN_A_SENTENCE.findall(BLOCK.sub("", text)):
        for call in calls(code):
            yield [
                word for before, word in zip(["", *call], call, strict=False) if word != ELLIPSIS or before[:1] == "-"
            ]


def calls(line: str) -> Iterator[list[str]]:
    """The calls in one line, some of which may read what the one before them writes."""
    call: list[str] | None = None
    for word in [*shlex.split(line, comments=True), ";"]:
        if word in ENDS_A_CALL:
            if call is not None:
                yield call
            call = None
        elif call is not None:
            call.append(word)
        elif word == "hedgerow":
            call = []


@pytest.fixture
def _nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def _do_nothing(_command: click.Command, _context: click.Context) -> Any:
        """Arguments have been read by now."""

    monkeypatch.setattr(click.Command, "invoke", _do_nothing)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
@pytest.mark.usefixtures("_nothing_is_done")
def test_calls_of_the_command_are_understood(page: Path) -> None:
    text = page.read_text(encoding="utf-8")

    for arguments in in_blocks(text):
        hedgerow.main(arguments, standalone_mode=False)
    for arguments in in_sentences(text):
        try:
            hedgerow.main(arguments, standalone_mode=False)
        except (click.MissingParameter, click.exceptions.NoArgsIsHelpError):
            continue
