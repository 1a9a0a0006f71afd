"""Reads a record line by line."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from hedgerow.machinery.recording.codec import Header, Line, UnknownValueError, parsed_line


class RecordError(Exception):
    """A file is no record, or none that can be read from its beginning to its end; names file and line."""


class RecordLine(NamedTuple):
    """One line of a record."""

    number: int
    content: Line | None
    """None: it is torn, as whoever wrote it was ended in the middle of it."""


def record_lines(path: Path) -> Iterator[RecordLine]:
    """The lines of a record in their order.

    Raises:
        RecordError: the file is no record, or broken elsewhere than where the record of a run ends.
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        torn: int | None = None
        number = 0
        for line in _parsed(path, file):
            number = line.number
            if torn is not None and not isinstance(line.content, Header):
                raise RecordError(f"{path}: line {torn}: is no line of a record")
            if line.number == 1 and not isinstance(line.content, Header):
                raise RecordError(f"{path}: is no record: its first line does not say who decides")
            torn = line.number if line.content is None else None
            yield line
        if number == 0:
            raise RecordError(f"{path}: is no record: it is empty")


def _parsed(path: Path, lines: Iterable[bytes]) -> Iterator[RecordLine]:
    for number, line in enumerate(lines, start=1):
        try:
            yield RecordLine(number, parsed_line(line))
        except ValueError:
            yield RecordLine(number, None)
        except RecursionError as error:
            raise RecordError(f"{path}: line {number}: is nested too deeply") from error
        except UnknownValueError as error:
            raise RecordError(f"{path}: line {number}: {error}") from error
