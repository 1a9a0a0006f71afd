"""The values of an installation on a command line: files and single settings over defaults, as Helm combines them."""

import functools
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from returns.result import Failure

from hedgerow.api.shape import read
from hedgerow.installation.values import Values, default_values
from hedgerow.machinery.failures import json_type
from hedgerow_adapters.files.decoding import single_document
from hedgerow_entrypoints.errors import CommandError

_WORDS: Final[Mapping[str, Any]] = {"true": True, "false": False, "null": None}
_INTEGER: Final = re.compile(r"-?(0|[1-9][0-9]*)")
_DOT: Final = re.compile(r"(?<!\\)\.")
"""A dot that separates names, and does not stand in one."""
V = TypeVar("V", bound=Values)


def stated_values(files: Sequence[str], settings: Sequence[str], **options: str | None) -> dict[str, Any]:
    """What a command line says about values: a later file counts more, then `NAME.NAME=VALUE`, then options."""
    of_options = {name: value for name, value in options.items() if value is not None}
    layers: list[Mapping[str, Any]] = [*map(_file, files), *map(_setting, settings), of_options]
    return functools.reduce(functools.partial(combined, keeps_nulls=True), layers, {})


def complete_values(kind: type[V], stated: Mapping[str, Any]) -> V:
    """The values of an installation, with defaults for what is not stated."""
    values = read(kind, combined(default_values(kind), stated))
    if isinstance(values, Failure):
        raise CommandError.of(f"values: {error}" for error in values.failure())
    return values.unwrap()


def _file(path: str) -> Mapping[str, Any]:
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{path}: not a text in UTF-8") from error
    document = single_document(text, path)
    if isinstance(document, Failure):
        raise CommandError.of(f"{path}: {problem}" for problem in document.failure())
    content = document.unwrap()
    if not isinstance(content, Mapping):
        raise CommandError(f"{path}: expected an object, got {json_type(content)}")
    return content


def _setting(text: str) -> dict[str, Any]:
    path, equals, value = text.partition("=")
    split = _DOT.split(path)
    if not equals or not all(split):
        raise CommandError(f"--set {text}: must be NAME=VALUE, with dots between the names of what is nested")
    # As Helm takes it: a truth, nothing, or a whole number where it reads like one, else a text.
    typed = json.loads(value) if _INTEGER.fullmatch(value) else _WORDS.get(value, value)
    *outer, last = (name.replace(r"\.", ".") for name in split)
    setting = {last: typed}
    for name in reversed(outer):
        setting = {name: setting}
    return setting


def combined(below: Mapping[str, Any], above: Mapping[str, Any], *, keeps_nulls: bool = False) -> dict[str, Any]:
    """Values with others on top: objects are combined, null takes away what there is, everything else replaces.

    Args:
        below: mostly the defaults.
        above: the others.
        keeps_nulls: whether null stays, to take away what is further below.
    """
    result = dict(below)
    for name, value in above.items():
        if value is None and name in result and not keeps_nulls:
            del result[name]
        elif isinstance(value, Mapping) and isinstance(result.get(name), Mapping):
            result[name] = combined(result[name], value, keeps_nulls=keeps_nulls)
        else:
            result[name] = value
    return result
