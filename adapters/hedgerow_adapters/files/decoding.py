"""Which format a text is in, and its documents.

JSON is YAML, almost, and reads many times faster: what looks like JSON is tried as JSON first.
"""

import re
from collections.abc import Iterable
from typing import Any, Final

from returns.result import Failure, Result, Success

from hedgerow.machinery.documents.budget import ReadingBudget, finished
from hedgerow.machinery.documents.document import Document
from hedgerow.machinery.documents.json_reading import checked_for_halves
from hedgerow_adapters.files.json_documents import json_documents
from hedgerow_adapters.files.loaded import printable
from hedgerow_adapters.files.yaml_documents import yaml_documents

_LOOKS_LIKE_JSON: Final = re.compile(r"\s*(?:\[|\{(?!\{))")  # {{ begins a template


def decoded(text: str, path: str) -> tuple[Document, ...]:
    """The documents of a file.

    Args:
        text: what the file holds.
        path: the name of the file; one that ends in `.json` is read as nothing else.
    """
    return finished(checked_for_halves(_documents(text, path), text, ReadingBudget()))


def single_document(text: str, path: str) -> Result[Any, tuple[str, ...]]:
    """The one document of a file that must hold no second one, or everything that is wrong, printable, a clause each.

    Empty documents before and behind it do not count.

    Args:
        text: what the file holds.
        path: the name of the file, as for `decoded`.
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
