"""The documents of a text that holds several, taken apart the way `kubectl` and its relatives do.

Lines tell documents apart before any of them is parsed, so a broken one costs only itself, and none is ever lost in
another. Errors are in the words of those readers, but show no values: such texts are kept in Secrets. One shows the
rest of a line, for its words are fixed: that which looks like a separator.

Source: managed-resources §7.3.
"""

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, NamedTuple

from hedgerow.machinery.documents.document import AS_KUBECTL, Document
from hedgerow.machinery.documents.json_values import JsonReader, after_blanks, checked_for_halves
from hedgerow.machinery.documents.yaml_reading import not_text, read_yaml
from hedgerow.machinery.fields import shortened

_SNIFFED: Final = 1024
"""Characters in which the first that is no blank says which format a text is in."""
_LONGEST_CAUSE: Final = 400

MOST_DOCUMENTS: Final = 10_000
"""Of more objects no status could tell; so few are read at once whatever is in them."""

MOST_NODES: Final = 1_000_000
"""Scalars, lists and mappings in all YAML documents together: no more than a second or two are spent on reading."""

_SEPARATOR_LINE: Final = re.compile(r"^---(.*)(?:\n|\Z)", re.MULTILINE)
_EMPTY: Final = re.compile(r"(?:---(?=\s|\Z))? *\r?(?:#.*)?(?:\n *\r?(?:#.*)?)*")
_LOOKS_LIKE_JSON: Final = re.compile(r"(?:---[ \r]*\n)?\s*(?=\{)")

_CONVERTING: Final = "error converting YAML to JSON: "
_NO_OBJECT: Final = "json: cannot unmarshal {} into Go value of type map[string]interface {{}}"
_IN_YAML: Final = "error unmarshaling JSON: while decoding JSON: "
_CUT_OFF: Final = "unexpected EOF"
_TYPES: Final = ((bool, "bool"), (str, "string"), (list, "array"))


def stream_documents(text: str) -> tuple[Document, ...]:
    """All documents of a text in order, empty ones included: a mapping or null each, or the one thing that is wrong.

    What begins with a brace is a stream of JSON values, all else is YAML. Of keys that a mapping has twice the last
    one counts. A JSON stream ends with the first error of syntax, any stream with what is too much to be read.
    """
    is_json = text[:_SNIFFED].lstrip().startswith("{")
    documents = _limited(_json_stream(text) if is_json else _yaml_stream(text))
    return checked_for_halves(map(_with_short_problem, documents), text)


def _limited(documents: Iterator[Document]) -> Iterator[Document]:
    """The documents up to the most that are read."""
    yield from islice(documents, MOST_DOCUMENTS)
    if next(documents, None) is not None:
        yield _broken(f"more than {MOST_DOCUMENTS} documents")


def _with_short_problem(document: Document) -> Document:
    return document._replace(problems=tuple(shortened(each, _LONGEST_CAUSE) for each in document.problems))


def _json_stream(text: str) -> Iterator[Document]:
    reader = JsonReader(AS_KUBECTL)
    position = after_blanks(text, 0)
    while position < len(text):
        try:
            document, end = reader.read(text, position)
        except json.JSONDecodeError as error:
            what = f"{error.msg[:1].lower()}{error.msg[1:]}"
            yield _broken(_CUT_OFF if _is_cut_off(error) else _at_offset(text, error.pos, what))
            return
        yield _broken(_at_offset(text, position, document.problems[0])) if document.problems else _mapping(document)
        position = after_blanks(text, end)


def _is_cut_off(error: json.JSONDecodeError) -> bool:
    """Whether a text ends where JSON has to go on."""
    rest = error.doc[error.pos :].rstrip()
    return (
        error.msg.startswith("Unterminated")
        or rest in {"", "-"}
        or any(word.startswith(rest) for word in ("true", "false", "null"))
    )


def _at_offset(text: str, position: int, problem: str) -> str:
    return f"json: offset {len(text[:position].encode())}: {problem}"


class _Piece(NamedTuple):
    """What stands between two separators, or the rest of a line that is none though it begins like one."""

    text: str
    first_line: int
    is_separator: bool = False


def _yaml_stream(text: str) -> Iterator[Document]:
    reader = JsonReader(AS_KUBECTL)
    nodes_left = MOST_NODES
    for piece in _pieces(text):
        if piece.is_separator:
            yield _broken(f"invalid Yaml document separator: {piece.text}")
        elif document := _read_fast(piece.text, reader):
            yield document
        else:
            document, nodes = _read(piece, nodes_left)
            nodes_left -= nodes
            yield document
            if nodes_left < 0:
                return


def _pieces(text: str) -> Iterator[_Piece]:
    """What a text falls into at the lines that begin with `---`; what an invalid one of them ends is lost.

    The last line ends as all others do, or a block of literal text would lack its last line end.
    """
    if text and not text.endswith("\n"):
        text += "\n"
    start, line = 0, 1
    for separator in _SEPARATOR_LINE.finditer(text):
        rest = separator[1].strip()
        if rest and rest[0] != "#":
            yield _Piece(rest, line, is_separator=True)
        elif separator.start() > start:
            yield _Piece(text[start : separator.start()], line)
        else:
            continue  # with nothing before it, it is the first line of its document
        line += text.count("\n", start, separator.end())
        start = separator.end()
    if start < len(text):
        yield _Piece(text[start:], line)


def _read_fast(text: str, reader: JsonReader) -> Document | None:
    """The document of a piece, if it is empty or all JSON: that reads many times faster, and means the same in YAML."""
    if _EMPTY.fullmatch(text):
        return Document(None)
    beginning = _LOOKS_LIKE_JSON.match(text)
    if beginning is None:
        return None
    try:
        document, end = reader.read(text, beginning.end())
    except json.JSONDecodeError:
        return None
    return None if document.problems or after_blanks(text, end) < len(text) else document


def _read(piece: _Piece, most_nodes: int) -> tuple[Document, int]:
    """The one document of a piece, and how many nodes were read of it."""
    if problem := not_text(piece.text, piece.first_line):
        return _broken(_CONVERTING + problem), 0
    reading = read_yaml(piece.text, first_line=piece.first_line, manner=AS_KUBECTL, most_nodes=most_nodes)
    return _one_mapping(reading.documents or (Document(None),), piece.first_line), reading.nodes


def _one_mapping(documents: tuple[Document, ...], first_line: int) -> Document:
    if problems := [problem for document in documents for problem in document.problems]:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        return _broken(f"{_CONVERTING}{problems[0]}{more}")
    if len(documents) > 1:
        return _broken(f"{_CONVERTING}line {first_line}: documents that no line --- tells apart")
    return _mapping(documents[0], _IN_YAML)


def _mapping(document: Document, prefix: str = "") -> Document:
    """A document that holds an object or nothing, or what is wrong with another one."""
    if document.value is None or isinstance(document.value, dict):
        return document
    return _broken(prefix + _NO_OBJECT.format(_json_type(document.value)))


def _json_type(value: Any) -> str:
    return next((name for types, name in _TYPES if isinstance(value, types)), "number")


def _broken(cause: str) -> Document:
    return Document(None, (cause,))
