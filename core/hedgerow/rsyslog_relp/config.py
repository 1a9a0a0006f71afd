"""The provider configuration `RsyslogRelpConfig`: decoding of what a Shoot's author wrote, and its fields.

Decoding reads types only; `validation.py` has the rules about values. Strict decoding, for admission of Shoots, refuses
unknown and repeated fields; lenient decoding, for nodes, ignores them. `null` means the same as an absent field.

Source: rsyslog-relp §2, §2.1.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from returns.result import Failure, Result, Success

from hedgerow.machinery.documents.budget import finished
from hedgerow.machinery.documents.document import Document
from hedgerow.machinery.documents.json_reading import JsonReader, after_blanks
from hedgerow.machinery.documents.yaml_texts import not_text, read_yaml
from hedgerow.machinery.failures import Problem, child, unknown_fields
from hedgerow.machinery.reading import (
    UnreadableError,
    boolean_at,
    each_at,
    list_at,
    object_at,
    objects_at,
    text_at,
    unexpected,
)

API_VERSION: Final = "rsyslog-relp.extensions.gardener.cloud/v1alpha1"
KIND: Final = "RsyslogRelpConfig"
_INT64: Final = range(-(2**63), 2**63)
_HEAD: Final = ("apiVersion", "kind")
_FIELDS: Final = (
    *("target", "port", "loggingRules", "tls", "rebindInterval", "timeout"),
    *("resumeRetryCount", "reportSuspensionContinuation"),
)
_RULE_FIELDS: Final = ("programNames", "severity")
_TLS_FIELDS: Final = ("enabled", "secretReferenceName", "permittedPeer", "authMode", "tlsLib")


@dataclass(frozen=True, slots=True)
class LoggingRule:
    """One filter: messages of these programs, of this severity or a graver one, are forwarded."""

    program_names: tuple[str, ...] = ()
    """Empty: of any program."""
    severity: int = 0
    """From 0, an emergency, to 7, debug."""


@dataclass(frozen=True, slots=True)
class TLS:
    """How the connection is encrypted. Nothing but `enabled` counts unless that is set."""

    enabled: bool = False
    secret_reference_name: str | None = None
    """The name of an entry of `spec.resources` of the Shoot."""
    permitted_peers: tuple[str, ...] = ()
    auth_mode: str | None = None
    """`name` or `fingerprint`; none: rsyslog does not check its peer."""
    library: str | None = None
    """`openssl` or `gnutls`; none: librelp's default."""


@dataclass(frozen=True, slots=True)
class RsyslogRelpConfig:
    """Where the nodes of a Shoot forward their logs, and which. A field that is none is not rendered; zero is."""

    target: str = ""
    port: int = 0
    logging_rules: tuple[LoggingRule, ...] = ()
    tls: TLS | None = None
    rebind_interval: int | None = None
    timeout: int | None = None
    """In seconds."""
    resume_retry_count: int | None = None
    report_suspension_continuation: bool | None = None

    @property
    def active_tls(self) -> TLS | None:
        """The settings of TLS if it is enabled."""
        return self.tls if self.tls is not None and self.tls.enabled else None


def decode(
    document: object, *, is_strict: bool, problems: tuple[Problem, ...] = ()
) -> Result[RsyslogRelpConfig, tuple[Problem, ...]]:
    """The configuration that a parsed document states.

    Args:
        document: a JSON value, such as `spec.providerConfig` of an Extension. Null is the empty configuration.
        is_strict: whether unknown fields are problems.
        problems: of its text, which count as unknown fields do.

    Returns:
        The configuration; or another kind of document, a value of a wrong type, or all unknown fields.

    Source: rsyslog-relp §2.1; without an `apiVersion` no field is known (§0.1).
    """
    try:
        manifest = _manifest(document)
        config = _config(manifest)
    except UnreadableError as error:
        return Failure((error.problem,))
    if is_strict and (problems := (*problems, *_unknown(manifest))):
        return Failure(problems)
    return Success(config if _is_typed(manifest) else RsyslogRelpConfig())


def decode_text(text: str, *, is_strict: bool) -> Result[RsyslogRelpConfig, tuple[Problem, ...]]:
    """The configuration that a text states, JSON if it begins with a brace, else YAML; otherwise as `decode`.

    Repeated fields are problems as unknown ones are; where decoding is lenient, the last of them counts.
    """
    is_json = text.lstrip().startswith("{")
    document = _json_document(text) if is_json else _yaml_document(text, is_strict=is_strict)
    if isinstance(document, Problem):
        return Failure((document,))
    if is_json and document.problems:
        # The first of repeated values has to be of the right type, too.
        first = decode(json.loads(text, object_pairs_hook=lambda members: dict(reversed(members))), is_strict=False)
        if isinstance(first, Failure):
            return first
    return decode(document.value, is_strict=is_strict, problems=tuple(Problem("", each) for each in document.problems))


def _json_document(text: str) -> Document | Problem:
    """The value of a JSON text, and its problems. The value is Python's: 601.0 is no integer here."""
    try:
        value = json.loads(text)
        document, _ = JsonReader().read(text, after_blanks(text, 0))
    except (ValueError, RecursionError) as error:
        return Problem("", f"is not valid JSON: {error}")
    return document._replace(value=value)


def _yaml_document(text: str, *, is_strict: bool) -> Document | Problem:
    """The value of the first document of a YAML text, and its problems."""
    if problem := not_text(text):
        return Problem("", problem)
    reading = finished(read_yaml(text, is_strict=is_strict))
    if reading.broken is not None:
        return Problem("", reading.documents[-1].problems[-1])
    return reading.documents[0] if reading.documents else Document(None)


def _manifest(document: object) -> Mapping[str, Any]:
    """The document if it can be a configuration, by its shape, version and kind."""
    if document is None:
        return {"apiVersion": API_VERSION}
    if not isinstance(document, Mapping):
        raise unexpected("", "an object", document)
    version, kind = text_at(document, "apiVersion"), text_at(document, "kind")
    if version and (version != API_VERSION or kind not in (None, "", KIND)):
        raise UnreadableError(Problem("", f'no kind "{kind or KIND}" is registered for version "{version}"'))
    return document


def _is_typed(manifest: Mapping[str, Any]) -> bool:
    return bool(manifest.get("apiVersion"))


def _config(manifest: Mapping[str, Any]) -> RsyslogRelpConfig:
    return RsyslogRelpConfig(
        target=text_at(manifest, "target") or "",
        port=_integer_at(manifest, "port") or 0,
        logging_rules=each_at(_rule, manifest, "loggingRules"),
        tls=None if manifest.get("tls") is None else _tls(object_at(manifest, "tls")),
        rebind_interval=_integer_at(manifest, "rebindInterval"),
        timeout=_integer_at(manifest, "timeout"),
        resume_retry_count=_integer_at(manifest, "resumeRetryCount"),
        report_suspension_continuation=boolean_at(manifest, "reportSuspensionContinuation"),
    )


def _rule(manifest: Mapping[str, Any]) -> LoggingRule:
    return LoggingRule(_texts_at(manifest, "programNames"), _integer_at(manifest, "severity") or 0)


def _tls(manifest: Mapping[str, Any]) -> TLS:
    try:
        return TLS(
            enabled=boolean_at(manifest, "enabled") or False,
            secret_reference_name=text_at(manifest, "secretReferenceName"),
            permitted_peers=_texts_at(manifest, "permittedPeer"),
            auth_mode=text_at(manifest, "authMode"),
            library=text_at(manifest, "tlsLib"),
        )
    except UnreadableError as error:
        raise error.below("tls") from error


def _texts_at(manifest: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """A list of texts; a null among them is an empty one, as Go reads it."""
    items = list_at(manifest, name)
    for index, item in enumerate(items):
        if not isinstance(item, str | None):
            raise unexpected(f"{name}[{index}]", "a string", item)
    return tuple(item or "" for item in items)


def _integer_at(manifest: Mapping[str, Any], name: str) -> int | None:
    """An integer of 64 bits, written without fraction and exponent."""
    value = manifest.get(name)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value in _INT64):
        return value
    raise unexpected(name, "an integer of 64 bits", value)


def _unknown(manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """The problem with each field that no configuration has; without an `apiVersion` it has none."""
    parts: list[tuple[str, Mapping[str, Any], Sequence[str]]] = [("", manifest, _HEAD)]
    if _is_typed(manifest):
        rules = enumerate(objects_at(manifest, "loggingRules"))
        parts = [("", manifest, (*_HEAD, *_FIELDS))]
        parts += [(f"loggingRules[{index}]", rule, _RULE_FIELDS) for index, rule in rules]
        parts += [("tls", object_at(manifest, "tls"), _TLS_FIELDS)]
    for path, part, known in parts:
        yield from (Problem(child(path, name), text) for name, text in unknown_fields(part, known))
