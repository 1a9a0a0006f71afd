"""Which files the paths on a command line mean, their texts, and what is said of the objects in them.

Touches the file system and standard input; what the texts hold is not looked at beyond being UTF-8.
"""
# ruff: noqa: PTH110, PTH112, PTH113 -- unlike Path's, these never raise: reading says what is wrong with a path

import codecs
import errno
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from hedgerow.machinery.objects import Manifest

STANDARD_INPUT: Final = "-"
WHOLE_FILE: Final = 0


@dataclass(frozen=True, slots=True)
class Source:
    """A document of a file, or a file or folder as a whole."""

    path: str
    """As the user gave it, or as it was found below a folder that the user gave; `-` is standard input."""
    document: int = WHOLE_FILE
    """Counted from 1, empty documents included; 0: the file as a whole."""

    def __str__(self) -> str:
        """`path:document`, or the path alone, printable."""
        name = "<stdin>" if self.path == STANDARD_INPUT else printable(self.path) or '""'
        return name if self.document == WHOLE_FILE else f"{name}:{self.document}"


@dataclass(frozen=True, slots=True)
class LoadedObject:
    """An object beside the document that it stands in."""

    manifest: Manifest
    source: Source
    is_placed: bool = False
    """Whether it names no namespace, and has been placed in one as its kind needs one."""


@dataclass(frozen=True, slots=True)
class LoadProblem:
    """Why a path, a document or an object could not be read."""

    source: Source
    what: str
    """One clause without a full stop; starts with `line N: ` where the line is known."""

    def __str__(self) -> str:
        """One sentence in one line: place, problem, printable."""
        return f"{self.source}: {printable(self.what)}"


def printable(text: str) -> str:
    """The text with everything escaped that a terminal would obey or could not show: files may hold anything."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


MANIFEST_SUFFIXES: Final = (".yaml", ".yml", ".json")
_OTHER_ENCODINGS: Final = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


class SourceText(NamedTuple):
    """The text of one file or of standard input."""

    path: str
    text: str


def source_texts(paths: Sequence[str], stdin: BinaryIO) -> Iterator[SourceText | LoadProblem]:
    """The texts of files, folders and standard input (`-`), in their order, and the problems with getting them.

    A folder stands for all manifest files in it and below, sorted, hidden ones left out. A file that several paths
    reach is read once.
    """
    seen: set[str] = set()
    for path in paths:
        if path == STANDARD_INPUT and path in seen:
            yield _problem(path, "is given twice and can be read only once")
        for found in _files(path):
            if isinstance(found, LoadProblem):
                yield found
            elif (identity := _identity(found)) not in seen:
                seen.add(identity)
                yield _text(found, stdin)


def _identity(path: str) -> str:
    return path if path == STANDARD_INPUT else os.path.realpath(path)


def _files(path: str) -> Iterator[str | LoadProblem]:
    if not path or "\0" in path:
        yield _problem(path, "is not the name of a file")
    elif path == STANDARD_INPUT or not os.path.isdir(path):
        yield path
    elif found := tuple(_files_below(path)):
        yield from found
    else:
        yield _problem(path, "holds no .yaml, .yml or .json files")


def _files_below(folder: str) -> Iterator[str | LoadProblem]:
    """The manifest files in a folder and below, sorted by name within each folder.

    Links to folders are followed, but no folder is entered twice, so that a loop of folders ends; a link that leads to
    nothing but itself is found whatever its name, and reading it says so. Keeps its own stack: folders may be nested
    deeper than calls.
    """
    entered: set[str] = set()
    waiting = [Path(folder)]
    while waiting:
        path = waiting.pop()
        if not os.path.isdir(path):
            # Reading from a pipe, socket or device may wait for ever; it says what is wrong with a broken link.
            is_readable = os.path.isfile(path) or not os.path.exists(path)
            if _is_loop(path) or (path.name.endswith(MANIFEST_SUFFIXES) and is_readable):
                yield str(path)
        elif (identity := _identity(str(path))) not in entered:
            entered.add(identity)
            try:
                visible = [entry for entry in path.iterdir() if not entry.name.startswith(".")]
            except OSError as error:
                yield _problem(str(path), _explanation(error))
            else:
                waiting += sorted(visible, reverse=True)


def _is_loop(path: Path) -> bool:
    """Whether a link leads back to itself: it may have been meant to lead to a folder of manifests."""
    try:
        path.stat()
    except OSError as error:
        return error.errno == errno.ELOOP
    return False


def _text(path: str, stdin: BinaryIO) -> SourceText | LoadProblem:
    try:
        content = stdin.read() if path == STANDARD_INPUT else Path(path).read_bytes()
    except FileNotFoundError:
        return _problem(path, "does not exist")
    except (OSError, ValueError) as error:  # ValueError: standard input is closed
        return _problem(path, _explanation(error))
    for mark, encoding in _OTHER_ENCODINGS:
        if content.startswith(mark):
            return _problem(path, f"is {encoding} text; only UTF-8 is read")
    if b"\0" in content:
        return _problem(path, "is a binary file: it holds NUL bytes")
    try:
        return SourceText(path, content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return _problem(path, f"line {line}: is not UTF-8 text: it holds the byte 0x{content[error.start]:02x}")


def _explanation(error: Exception) -> str:
    return f"cannot be read: {(getattr(error, 'strerror', None) or str(error)).lower()}"


def _problem(path: str, what: str) -> LoadProblem:
    return LoadProblem(Source(path), what)
