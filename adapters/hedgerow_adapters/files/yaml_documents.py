"""The documents of a YAML stream as JSON values, read the way Kubernetes reads them.

A document that cannot be parsed costs only itself: reading goes on at the next `---`. Works on text alone; knows
nothing of files and objects.
"""

import io
import re
from typing import Any, Final

import yaml
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    StreamStartEvent,
)

from hedgerow_adapters.files.document import Document
from hedgerow_adapters.files.yaml_values import ValueBuilder

# libyaml's parser is some ten times faster, and not compiled into every PyYAML.
_Parser: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# What it raises; the pure Python one leaks the last two for escapes beyond Unicode.
_UNREADABLE: Final = (yaml.MarkedYAMLError, ValueError, OverflowError)
_SEPARATOR: Final = re.compile(r"^---(?=\s|$)", re.MULTILINE)
_INDENTING_TAB: Final = re.compile(r"\s*\t$")
_NOT_TEXT: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def yaml_documents(text: str) -> tuple[Document, ...]:
    """All documents of a stream in order, those that are broken or empty included."""
    if found := _NOT_TEXT.search(text):
        line = text.count("\n", 0, found.start()) + 1
        return (Document(None, (f"line {line}: the character U+{ord(found[0]):04X} cannot stand in YAML",)),)
    stream = io.StringIO(text)
    documents: list[Document] = []
    start: int | None = 0
    line = 1
    while start is not None:
        begun = start
        read, start = _read(text, stream, begun, line)
        documents += read
        line += text.count("\n", begun, start)
    return tuple(documents)


def _read(text: str, stream: io.StringIO, start: int, first_line: int) -> tuple[list[Document], int | None]:
    """The documents from a position on, the first broken one included, and where the one after it begins.

    Args:
        text: the whole stream.
        stream: the same; the parser takes from it what it needs, so that a restart copies nothing.
        start: where to begin, in characters.
        first_line: the number of the line that begins there.
    """
    stream.seek(start)
    builder = ValueBuilder(first_line)
    take: dict[type, Any] = {
        ScalarEvent: builder.scalar,
        AliasEvent: builder.alias,
        SequenceStartEvent: builder.begin_list,
        MappingStartEvent: builder.begin_mapping,
        SequenceEndEvent: builder.end,
        MappingEndEvent: builder.end,
        DocumentEndEvent: lambda _: documents.append(builder.document()),
    }
    documents: list[Document] = []
    document_start = start
    try:
        parser = _Parser(stream)
        while (kind := type(event := parser.get_event())) is not StreamEndEvent:
            if kind is DocumentStartEvent:
                document_start = start + event.start_mark.index
            elif kind is not StreamStartEvent:
                take[kind](event)
    except _UNREADABLE as error:
        mark = getattr(error, "problem_mark", None)
        broken = document_start if mark is None else start + mark.index
        documents.append(builder.abandoned(_explanation(error, text, broken, first_line)))
        following = _SEPARATOR.search(text, max(text.rfind("\n", 0, broken) + 1, document_start + 1))
        return documents, following.start() if following else None
    return documents, None


def _explanation(error: Exception, text: str, broken: int, first_line: int) -> str:
    """What the parser found wrong, in terms of lines of the file."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return f"is not YAML: {error}"
    line = first_line + error.problem_mark.line
    if _INDENTING_TAB.match(text, text.rfind("\n", 0, broken) + 1, broken + 1):
        return f"line {line}: tabs cannot indent YAML; use blanks"
    if error.context is None or error.context_mark is None:
        return f"line {line}: {error.problem}"
    return f"line {line}: {error.problem} ({error.context} that begins in line {first_line + error.context_mark.line})"
