"""Reads a component configuration file, and says what is wrong with it in the words of the reference.

Source: managed-resources §4.1.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from returns.result import Failure, Result

from hedgerow.resource_manager.configuration import ConfigurationErrors, Decoded, Stage
from hedgerow_entrypoints.errors import CommandError, note


def read_configuration(path: str, decode: Callable[[object], Result[Decoded, ConfigurationErrors]]) -> Decoded:
    """The configuration that a file states.

    Args:
        path: the file.
        decode: for which purpose it is read.

    Raises:
        CommandError: it cannot be read, decoded or accepted.
    """
    result = decode(_document(path))
    if isinstance(result, Failure):
        errors = result.failure()
        for warning in errors.warnings:
            note(f"warning: {path}: {warning}")
        raise CommandError(f"error decoding config: {errors}" if errors.stage is Stage.DECODING else str(errors))
    return result.unwrap()


def _document(path: str) -> Any:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise CommandError(f"error reading config file: {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"error decoding config: {path}: not a text in UTF-8") from error
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise CommandError(f"error decoding config: {path}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "not YAML"
    return f"line {mark.line + 1}: {problem}" if mark else str(problem)
