"""The documents of a YAML stream as JSON values, read the way Kubernetes reads them.

Values are built from parser events and not by PyYAML's own constructor: in one pass this finds repeated keys, bounds
nesting, and counts what aliases would expand to without expanding it. A document that cannot be parsed costs only itself:
reading goes on at the next `---`. Works on text alone; files and objects are not known here.
"""

import io
import re
from dataclasses import dataclass, field
from typing import Any, Final

import yaml
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from hedgerow_adapters.files.document import MAX_NESTING, TOO_DEEP, Document, repeated_key
from hedgerow_adapters.files.yaml_scalars import NotInJson, plain_value

MAX_ALIASED_NODES: Final = 1_000_000
FREE_ALIASED_NODES: Final = 10_000
MAX_ALIASED_SHARE: Final = 10
"""Aliases may add so many nodes for each one written, once they add more than the free ones."""

_Parser: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_SEPARATOR: Final = re.compile(r"^---(?=\s|$)", re.MULTILINE)
_NOT_TEXT: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TAGS: Final = "tag:yaml.org,2002:"
_EXPECTED: Final = {"int": int, "float": (int, float), "bool": bool, "null": type(None)}

_NO_KEY: Final = object()
_MERGE: Final = object()


def yaml_documents(text: str) -> tuple[Document, ...]:
    """All documents of a stream in order, those that are broken or empty included."""
    if found := _NOT_TEXT.search(text):
        line = text.count("\n", 0, found.start()) + 1
        return (Document(None, (f"line {line}: the character U+{ord(found[0]):04X} may not stand in YAML",)),)
    stream = io.StringIO(text)
    documents: list[Document] = []
    start: int | None = 0
    line = 1
    while start is not None:
        begun, start = start, _read_until_broken(text, stream, start, line, documents)
        line += text.count("\n", begun, start)
    return tuple(documents)


def _read_until_broken(
    text: str, stream: io.StringIO, start: int, first_line: int, documents: list[Document]
) -> int | None:
    """Append the documents from a position on; returns where to go on after one that broke the parser, none at the end."""
    stream.seek(start)
    parser = _Parser(stream)
    builder = _Builder(first_line)
    document_start = 0
    try:
        while True:
            event = parser.get_event()
            match event:
                case DocumentStartEvent():
                    document_start = event.start_mark.index
                    builder = _Builder(first_line)
                case DocumentEndEvent():
                    documents.append(builder.document())
                case StreamEndEvent():
                    return None
                case _:
                    builder.take(event)
    except _Abandoned as error:
        pass
    finally:
        parser.dispose()
    return None
