"""Reads a component configuration file, and says what is wrong with it in the words of the reference.

The file is read as manifests are: what a reader might misunderstand, such as a key that stands twice, is refused.

Source: managed-resources §3.2, §4.1.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from returns.result import Failure

from hedgerow.machinery.configuration.reading import Decoded, Stage
from hedgerow.machinery.configuration.section import Purpose
from hedgerow.machinery.failures import Problem
from hedgerow_adapters.files.decoding import single_document
from hedgerow_adapters.files.sources import STANDARD_INPUT
from hedgerow_entrypoints.components import RUNNABLE, component
from hedgerow_entrypoints.components.registry import Component
from hedgerow_entrypoints.errors import Cause, CommandError, LogFormat
from hedgerow_entrypoints.process.settings import ProcessSettings

_DEFAULT_FORMAT: Final = "json"


class UnusableConfigurationError(CommandError):
    """Everything for which a file states no usable configuration.

    Each error is a sentence of its own that names the file, for people at a terminal, and a cause, for the log of a
    process.
    """

    def __init__(
        self,
        path: str,
        stage: Stage,
        errors: Sequence[Problem],
        warnings: Sequence[str] = (),
        log_format: LogFormat = _DEFAULT_FORMAT,
    ) -> None:
        """What is wrong, and odd; `log_format` is that of the log in which to tell it."""
        opening = "error decoding config: " if stage is Stage.DECODING else ""
        super().__init__(*dict.fromkeys(f"{opening}{path}: {error}" for error in errors))
        self.causes = tuple(dict.fromkeys(Cause(error.body, error.path, path) for error in errors))
        self.warnings = tuple(f"{path}: {warning}" for warning in warnings)
        self.log_format = log_format


class UnreadableFileError(CommandError):
    """A file that cannot be read at all."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"error reading config file: {path}: {problem}")
        self.causes = [Cause(f"the configuration cannot be read: {problem}", file=path)]


class Stated(NamedTuple):
    """The configuration of a component, of a file or by default."""

    component: Component[Any]
    decoded: Decoded[Any]

    @property
    def process(self) -> ProcessSettings:
        """What a process is told, such as the namespaces that it sees."""
        return self.component.settings(self.decoded.configuration)

    @property
    def webhooks(self) -> frozenset[str]:
        """The names of the enabled webhooks."""
        return frozenset(each.name for each in self.component.webhooks(self.decoded.configuration))


def read_configuration(
    path: str, purpose: Purpose, components: Sequence[str] = RUNNABLE, stdin: BinaryIO | None = None
) -> Stated:
    """The configuration that a file states, which is of one of some components; `-` is standard input where given.

    Raises:
        CommandError: it cannot be read, decoded or accepted.
    """
    content = _document(path, stdin)
    kind = content.get("kind") if isinstance(content, Mapping) else None
    candidates = [component(name) for name in components]
    found = next((each for each in candidates if each.document and each.document.kind == kind), candidates[0])
    result = found.decoded(content, purpose)
    if isinstance(result, Failure):
        errors = result.failure()
        raise UnusableConfigurationError(path, errors.stage, errors.errors, errors.warnings, _log_format(content))
    return Stated(found, result.unwrap())


def _document(path: str, stdin: BinaryIO | None) -> Any:
    if path == STANDARD_INPUT and stdin is None:
        raise UnreadableFileError(path, "only `hedgerow config check` reads standard input")
    try:
        content = stdin.read() if path == STANDARD_INPUT and stdin is not None else Path(path).read_bytes()
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise UnreadableFileError(path, error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise UnusableConfigurationError(path, Stage.DECODING, [Problem("", "not a text in UTF-8")]) from error
    except ValueError as error:  # standard input is closed
        raise UnreadableFileError(path, str(error)) from error
    document = single_document(text, path)
    if isinstance(document, Failure):
        problems = document.failure()
        raise UnusableConfigurationError(path, Stage.DECODING, [Problem("", problem) for problem in problems])
    return document.unwrap()


def _log_format(content: object) -> LogFormat:
    """The log format that a document states, although it is not valid."""
    stated = content.get("logFormat") if isinstance(content, Mapping) else None
    return "text" if stated == "text" else _DEFAULT_FORMAT
