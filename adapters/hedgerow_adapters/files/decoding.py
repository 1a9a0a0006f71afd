"""Which format a text is in, and its documents as JSON values, read the way Kubernetes reads them.

JSON is YAML, almost, and reads many times faster: what looks like JSON is tried as JSON first. A YAML document that
cannot be parsed costs only itself: reading goes on at the next `---`. Works on text alone.
"""

import io
import json
import re
from collections.abc import Iterable
from typing import Any, Final

from returns.result import Failure, Result, Success

from hedgerow.machinery.documents.budget import ReadingBudget, finished
from hedgerow.machinery.documents.document import Document
from hedgerow.machinery.documents.json_reading import JsonReader, after_blanks, checked_for_halves
from hedgerow.machinery.documents.yaml_texts import not_text, read_yaml
from hedgerow_adapters.files.sources import printable


def json_documents(text: str) -> tuple[Document, ...]:
    """All documents in order; nothing is read beyond one that is not JSON."""
    reader = JsonReader()
    documents: list[Document] = []
    position = after_blanks(text, 0)
    while position < len(text):
        try:
            document, end = reader.read(text, position)
        except json.JSONDecodeError as error:
            what = f"line {error.lineno}: is not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
            return (*documents, Document(None, (*reader.problems, what)))
        documents.append(document)
        position = after_blanks(text, end)
    return tuple(documents)


_SEPARATOR: Final = re.compile(r"^---(?=\s|$)", re.MULTILINE)


def yaml_documents(text: str) -> tuple[Document, ...]:
    """All documents of a stream in order, those that are broken or empty included."""
    if problem := not_text(text):
        return (Document(None, (problem,)),)
    if not text.endswith("\n"):  # a block of literal text would lack its last line end
        text += "\n"
    # The parser takes from it what it needs, so that a restart copies nothing.
    stream = io.StringIO(text)
    documents: list[Document] = []
    start, line = 0, 1
    while True:
        stream.seek(start)
        reading = finished(read_yaml(text, start=start, first_line=line, source=stream))
        documents += reading.documents
        if reading.broken is None:
            return tuple(documents)
        document_start, place = reading.broken
        following = _SEPARATOR.search(text, max(text.rfind("\n", 0, place) + 1, document_start + 1))
        if following is None:
            return tuple(documents)
        line += text.count("\n", start, following.start())
        start = following.start()


_LOOKS_LIKE_JSON: Final = re.compile(r"\s*(?:\[|\{(?!\{))")  # {{ begins a template


def decoded(text: str, path: str) -> tuple[Document, ...]:
    """The documents in the text of a file; one whose name ends in `.json` is read as nothing else."""
    return finished(checked_for_halves(_documents(text, path), text, ReadingBudget()))


def single_document(text: str, path: str) -> Result[Any, tuple[str, ...]]:
    """The one document of a file that must hold no second one, or everything that is wrong, printable, a clause each.

    Empty documents before and behind it do not count.
    """
    documents = decoded(text, path)
    if problems := tuple(printable(problem) for document in documents for problem in document.problems):
        return Failure(problems)
    values = [document.value for document in documents if document.value is not None]
    if not values:
        return Failure(("holds no document",))
    if len(values) > 1:
        return Failure((f"holds {len(values)} documents, of which only one could count",))
    return Success(values[0])


def _documents(text: str, path: str) -> tuple[Document, ...]:
    if path.endswith(".json"):
        return json_documents(text)
    if not _LOOKS_LIKE_JSON.match(text):
        return yaml_documents(text)
    as_json = json_documents(text)
    if not _has_problems(as_json):
        return as_json
    as_yaml = yaml_documents(text)
    return as_json if _has_problems(as_yaml) else as_yaml


def _has_problems(documents: Iterable[Document]) -> bool:
    return any(document.problems for document in documents)
