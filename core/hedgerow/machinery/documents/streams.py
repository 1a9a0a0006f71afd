"""The documents of a text that holds several, divided as `kubectl` divides them.

Separator lines divide the text before any document is parsed, so a broken one costs only itself. Errors have kubectl's
words but show no values: such texts are kept in Secrets. Only the error of an invalid separator shows the rest of its
line. Source: managed-resources §7.3.
"""

import json
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from hedgerow.machinery.documents.budget import (
    SEARCHED_AT_ONCE,
    OverBudgetError,
    ReadingBudget,
    Slices,
    finished,
    occurs,
)
from hedgerow.machinery.documents.document import Document
from hedgerow.machinery.documents.json_reading import JsonReader, after_blanks, checked_for_halves, read_in_slices
from hedgerow.machinery.documents.yaml_texts import NOT_TEXT, not_text, read_yaml
from hedgerow.machinery.failures import shortened

_SNIFFED: Final = 1024  # characters in which the first that is no blank tells the format
_SHORT: Final = 8 * 1024  # characters of JSON that are read at once, in at most 2 ms
_LINES_AT_ONCE: Final = 16 * 1024  # characters of lines that are searched at once, in at most 1 ms
_CHARACTERS_FOR_A_NODE: Final = 40  # of such lines, that are searched in the time that it takes to read a node

_SEPARATOR: Final = "---"
_BARE_SEPARATOR: Final = re.compile(r"---(?=\s|\Z)")
_NO_CONTENT: Final = re.compile(r"(?:[ \r\n]++|#[^\n]*+\n)*+")
_LOOKS_LIKE_JSON: Final = re.compile(r"(?:---[ \r]*\n)?\s*(?=\{)")

_CONVERTING: Final = "error converting YAML to JSON: "
_NO_OBJECT: Final = "json: cannot unmarshal {} into Go value of type map[string]interface {{}}"
_IN_YAML: Final = "error unmarshaling JSON: while decoding JSON: "
_CUT_OFF: Final = "unexpected EOF"
_TYPES: Final = ((bool, "bool"), (str, "string"), (list, "array"))


def stream_documents(text: str) -> tuple[Document, ...]:
    """All documents of a text in order, empty ones included: each a mapping, null, or one problem.

    A text that begins with a brace is a stream of JSON values, which ends at the first syntax error; others are YAML.
    """
    return finished(documents_in_slices(text, ReadingBudget()))


def documents_in_slices(text: str, budget: ReadingBudget) -> Slices[tuple[Document, ...]]:
    """As `stream_documents`, in slices; the problem of the last document names the limit that was exceeded, if any."""
    documents: list[Document] = []
    is_json = text[:_SNIFFED].lstrip().startswith("{")
    try:
        yield from (_json_stream if is_json else _yaml_stream)(text, documents, budget)
    except OverBudgetError as error:
        documents.append(_broken(str(error)))
    return (yield from checked_for_halves(documents, text, budget))


def _json_stream(text: str, documents: list[Document], budget: ReadingBudget) -> Slices[None]:
    reader = JsonReader(is_strict=False)
    counted = offset = 0

    def broken_at(position: int, problem: str) -> Document:
        nonlocal counted, offset
        offset += len(text[counted:position].encode())
        counted = position
        return _broken(f"json: offset {offset}: {problem}")

    position = after_blanks(text, 0)
    while position < len(text):
        budget.spend(documents=1)
        try:
            document, end = yield from _json_value(reader, text, position, budget)
        except json.JSONDecodeError as error:
            problem = f"{error.msg[:1].lower()}{error.msg[1:]}"
            documents.append(_broken(_CUT_OFF) if _is_cut_off(error) else broken_at(error.pos, problem))
            return
        documents.append(broken_at(position, document.problems[0]) if document.problems else _mapping(document))
        position = after_blanks(text, end)


def _json_value(reader: JsonReader, text: str, position: int, budget: ReadingBudget) -> Slices[tuple[Document, int]]:
    """The value at a position; a short text is read at once, which is many times faster."""
    if len(text) - position <= _SHORT:
        try:
            document, end = reader.read(text, position)
        except json.JSONDecodeError:
            pass  # versions of Python differ in what they say then
        else:
            cost = 1 + sum(text.count(each, position, end) for each in ",:{[")
            budget.spend(nodes=cost)
            if budget.ends_slice(cost):
                yield
            return document, end
    return (yield from read_in_slices(reader, text, position, budget))


def _is_cut_off(error: json.JSONDecodeError) -> bool:
    rest = error.doc[error.pos :].rstrip()
    return error.msg.startswith("Unterminated") or any(word.startswith(rest) for word in ("-", "true", "false", "null"))


class _Piece(NamedTuple):
    """The text between two separators, or the rest of an invalid separator line."""

    text: str
    first_line: int
    is_separator: bool = False


def _yaml_stream(text: str, documents: list[Document], budget: ReadingBudget) -> Slices[None]:
    reader = JsonReader(is_strict=False)
    for piece in _pieces(text):
        if isinstance(piece, int):
            if budget.search_ends_slice(piece):
                yield
            continue
        budget.spend(documents=1)
        if piece.is_separator:
            documents.append(_broken(f"invalid Yaml document separator: {piece.text}"))
        elif document := (yield from _read_fast(piece.text, reader, budget)):
            documents.append(document)
        else:
            documents.append((yield from _read(piece, budget)))


def _pieces(text: str) -> Iterator[_Piece | int]:
    """The pieces of a text between the lines that begin with `---`, and numbers of characters that were searched.

    The piece before an invalid separator is lost.
    """
    if text and not text.endswith("\n"):  # a block of literal text would lack its last line end
        text += "\n"
    start, line, searched = 0, 1, 0
    while start < len(text):
        separator = _separator(text, searched)
        if separator is None and searched + SEARCHED_AT_ONCE < len(text):
            searched += SEARCHED_AT_ONCE
            yield SEARCHED_AT_ONCE
            continue
        if separator is None:
            yield _Piece(text[start:], line)
            return
        end = text.index("\n", separator) + 1
        rest = text[separator + len(_SEPARATOR) : end].strip()
        if rest and rest[0] != "#":
            yield _Piece(rest, line, is_separator=True)
        elif separator > start:
            yield _Piece(text[start:separator], line)
        else:  # with nothing before it, it is the first line of its document
            yield end - searched
            searched = end
            continue
        line += text.count("\n", start, end)
        start = searched = end


def _separator(text: str, start: int) -> int | None:
    """Where the next line that begins with `---` begins, if it is in the characters that are searched at once."""
    if text.startswith(_SEPARATOR, start) and (start == 0 or text[start - 1] == "\n"):
        return start
    found = text.find(f"\n{_SEPARATOR}", start, start + SEARCHED_AT_ONCE + len(_SEPARATOR))
    return None if found < 0 else found + 1


def _read_fast(text: str, reader: JsonReader, budget: ReadingBudget) -> Slices[Document | None]:
    """The document of a piece that is empty or JSON, which is read many times faster and means the same in YAML."""
    if not (yield from _has_content(text, budget)):
        return Document(None)
    beginning = _LOOKS_LIKE_JSON.match(text, 0, _SNIFFED)
    if beginning is None:
        return None
    try:
        document, end = yield from _json_value(reader, text, beginning.end(), budget)
    except json.JSONDecodeError:
        return None
    return None if document.problems or after_blanks(text, end) < len(text) else document


def _has_content(text: str, budget: ReadingBudget) -> Slices[bool]:
    """True if a piece holds more than blanks, comments and its separator."""
    position = len(_SEPARATOR) if _BARE_SEPARATOR.match(text) else 0
    while position < len(text):
        begin, end = position, min(position + _LINES_AT_ONCE, len(text))
        found = _NO_CONTENT.match(text, begin, end)
        position = found.end() if found else begin
        if text.startswith("#", position):  # a comment that is longer, or the last one
            position = text.find("\n", position) + 1 or len(text)
        elif position < end:
            return True
        if budget.ends_slice(1 + min(position - begin, _LINES_AT_ONCE) // _CHARACTERS_FOR_A_NODE):
            yield
    return False


def _read(piece: _Piece, budget: ReadingBudget) -> Slices[Document]:
    if len(piece.text) > budget.text_of_a_document:
        return _broken(f"{_CONVERTING}more than {budget.text_of_a_document} characters in one document")
    if (yield from occurs(NOT_TEXT, piece.text, budget)):
        return _broken(_CONVERTING + (not_text(piece.text, piece.first_line) or ""))
    reading = yield from read_yaml(piece.text, first_line=piece.first_line, is_strict=False, budget=budget)
    budget.spend(nodes=reading.nodes)
    documents = reading.documents or (Document(None),)
    if problems := [problem for document in documents for problem in document.problems]:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        return _broken(f"{_CONVERTING}{problems[0]}{more}")
    if len(documents) > 1:
        return _broken(f"{_CONVERTING}line {piece.first_line}: documents that no line --- tells apart")
    return _mapping(documents[0], _IN_YAML)


def _mapping(document: Document, prefix: str = "") -> Document:
    """The document if it holds an object or nothing; a broken one otherwise."""
    if document.value is None or isinstance(document.value, dict):
        return document
    found = next((name for kind, name in _TYPES if isinstance(document.value, kind)), "number")
    return _broken(prefix + _NO_OBJECT.format(found))


def _broken(cause: str) -> Document:
    return Document(None, (shortened(cause, 400),))
