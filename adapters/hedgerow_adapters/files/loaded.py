"""What loading manifests yields: objects with the place they came from, or problems with theirs.

Knows nothing of formats and of files beyond their names.
"""

from dataclasses import dataclass
from typing import Final

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
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )
