"""The documents of a JSON text, one after another with nothing or blanks between them.

Stricter than Python's reader, which takes what no API server does: NaN, numbers without end, repeated keys. Works on
text alone; knows nothing of files and objects.
"""

import json
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from hedgerow_adapters.files.document import MAX_NESTING, TOO_DEEP, Document, repeated_key
from hedgerow_adapters.files.yaml_scalars import NotInJson, plain_value

_BLANKS: Final = re.compile(r"[ \t\n\r]*")


def json_documents(text: str) -> tuple[Document, ...]:
    """All documents in order; nothing is read beyond one that is not JSON."""
    problems: list[str] = []
    decoder = _decoder(problems)
    documents: list[Document] = []
    position = _after_blanks(text, 0)
    while position < len(text):
        problems.clear()
        try:
            value, end = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            what = f"line {error.lineno}: is not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
            return (*documents, Document(None, (*problems, what)))
        except RecursionError:
            return (*documents, Document(None, (*problems, TOO_DEEP)))
        if _is_too_deep(value):
            problems.append(TOO_DEEP)
        documents.append(Document(value, tuple(problems)))
        position = _after_blanks(text, end)
    return tuple(documents)


def _decoder(problems: list[str]) -> json.JSONDecoder:
    """A decoder that notes what is not JSON in a list."""

    def mapping(entries: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(entries)
        if len(value) != len(entries):
            keys = [key for key, _ in entries]
            problems.extend(repeated_key(key) for key in value if keys.count(key) > 1)
        return value

    def integer(digits: str) -> int | None:
        value = plain_value(digits)
        if isinstance(value, NotInJson):
            problems.append(f"{digits[:40]} {value.why}")
        return value if isinstance(value, int) else None

    def number(digits: str) -> float:
        value = float(digits)
        if math.isinf(value):
            problems.append(f"{digits[:40]} is too large a number")
        return value

    def constant(name: str) -> None:
        problems.append(f"{name} is not a number that JSON knows")

    return json.JSONDecoder(object_pairs_hook=mapping, parse_int=integer, parse_float=number, parse_constant=constant)


def _after_blanks(text: str, position: int) -> int:
    found = _BLANKS.match(text, position)
    return found.end() if found else position


def _is_too_deep(value: Any) -> bool:
    """Whether a value has more levels of lists and mappings than any reader is asked to bear."""
    level = _collections((value,))
    for _ in range(MAX_NESTING):
        level = [child for one in level for child in _collections(one.values() if isinstance(one, dict) else one)]
        if not level:
            return False
    return bool(level)


def _collections(values: Iterable[Any]) -> list[dict[str, Any] | list[Any]]:
    return [value for value in values if isinstance(value, dict | list)]
