"""How a command ends that cannot do what it was asked to."""

from collections.abc import Iterable
from typing import IO, Any

import click


class CommandError(click.ClickException):
    """One or more sentences for the user; the command ends with exit code 1 and no stack trace."""

    exit_code = 1

    def __init__(self, *sentences: str) -> None:
        super().__init__("\n".join(sentences))
        self.sentences = sentences

    @classmethod
    def of(cls, problems: Iterable[object]) -> "CommandError":
        """An error that lists several problems, a line each."""
        return cls(*map(str, problems))

    def show(self, file: IO[Any] | None = None) -> None:
        """Say each sentence as an error; those in the words of the reference begin with that word already."""
        for sentence in self.sentences:
            click.echo(sentence if sentence.startswith("error ") else f"error: {sentence}", file=file, err=file is None)


def note(sentence: str) -> None:
    """Say something to the person at the terminal; standard output is for data alone."""
    click.echo(sentence, err=True)
