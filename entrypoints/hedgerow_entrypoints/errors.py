"""What commands say to people: errors, notes, long lists of names."""

from collections.abc import Iterable, Sequence
from typing import IO, Any, Final, Literal, NamedTuple, TypeAlias

import click

MOST_NAMES: Final = 5
LogFormat: TypeAlias = Literal["json", "text"]


class Cause(NamedTuple):
    """One error, apart from what it is about."""

    error: str
    field: str = ""
    """Of the configuration, as its author wrote it, or an environment variable; empty: none is to blame."""
    file: str = ""
    """That states the field, or cannot be used."""


class CommandError(click.ClickException):
    """One or more sentences for the user; the command ends with exit code 1 and no stack trace.

    Any function of a command may raise it, where a file, an object or a cluster does not give what the command needs.
    """

    exit_code = 1

    def __init__(self, *sentences: str, field: str = "") -> None:
        """Sentences, and the field of the configuration that leads to them, if any."""
        super().__init__("\n".join(sentences))
        self.sentences = sentences
        self.causes: Sequence[Cause] = [Cause(sentence, field) for sentence in sentences]
        self.warnings: Sequence[str] = ()
        """What is odd besides."""
        self.log_format: LogFormat | None = None
        """That of the log in which a process says it; none: the one in force."""

    @classmethod
    def of(cls, problems: Iterable[object]) -> "CommandError":
        """An error that lists several problems, a line each."""
        return cls(*map(str, problems))

    def show(self, file: IO[Any] | None = None) -> None:
        """Say what is odd, then each error; those in the words of the reference begin with that word already."""
        for warning in self.warnings:
            click.echo(f"warning: {warning}", file=file, err=file is None)
        for sentence in self.sentences:
            click.echo(sentence if sentence.startswith("error ") else f"error: {sentence}", file=file, err=file is None)


def note(sentence: str) -> None:
    """Say something to the person at the terminal; standard output is for data alone."""
    click.echo(sentence, err=True)


def abridged(names: Sequence[str], most: int = MOST_NAMES) -> str:
    """Names in a sentence: the first ones, and how many there are more."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
