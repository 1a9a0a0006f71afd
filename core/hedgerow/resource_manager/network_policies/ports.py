"""Ports as NetworkPolicies name them, and the annotation values that list them, read and made.

Decides which values are ports at all; knows nothing of policies.

Source: network-and-nodes §2.5, §2.7, §2.8.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, NoReturn, TypeGuard

from returns.result import Failure, Result, Success

from hedgerow.api.network_policies import ALLOWED_PORTS_PREFIX, ALLOWED_PORTS_SUFFIX, NAMESPACE_SELECTORS, PortManifest
from hedgerow.machinery.failures import unknown_fields
from hedgerow.machinery.names import port_name_problem
from hedgerow.machinery.remembering import remembered
from hedgerow.machinery.selectors import LabelSelector, parse_label_selector

PROTOCOLS: Final = ("TCP", "UDP", "SCTP")
HIGHEST_PORT: Final = 65535
MOST_PORTS: Final = 2500
"""Ports that a Service or one of its annotations may list: more would ask for too many policies anyway."""
_FIELDS: Final = ("protocol", "port", "endPort")
_INT32: Final = range(-(2**31), 2**31)


class PolicyPort(NamedTuple):
    """A container port by number or name; without `port` every port of the protocol is meant."""

    protocol: str | None
    """As written; none means TCP."""
    port: int | str | None
    end_port: int | None = None

    @property
    def text(self) -> str:
        """Number or name as names and descriptions show it."""
        return "<nil>" if self.port is None else str(self.port)

    @property
    def description(self) -> str:
        """`TCP/8080`, or the port alone where no protocol was written."""
        return f"{self.protocol}/{self.text}" if self.protocol else self.text

    def manifest(self) -> PortManifest:
        """The port as a policy's spec lists it, with the protocol that the API server would fill in."""
        protocol = self.protocol or "TCP"
        if self.port is None:
            return {"protocol": protocol}
        if self.end_port is None:
            return {"protocol": protocol, "port": self.port}
        return {"protocol": protocol, "port": self.port, "endPort": self.end_port}


def port_problem(port: PolicyPort) -> str | None:
    """Why the API server would refuse a policy with this port; none if it would take it."""
    if (port.protocol or "TCP") not in PROTOCOLS:
        return f"protocol must be one of TCP, UDP, SCTP, got {json.dumps(port.protocol)}"
    if isinstance(port.port, int) and not 1 <= port.port <= HIGHEST_PORT:
        return f"port must be between 1 and {HIGHEST_PORT}, got {port.port}"
    if isinstance(port.port, str) and (problem := port_name_problem(port.port)):
        return f"port name {json.dumps(port.port)} {problem}"
    return _end_port_problem(port)


def _end_port_problem(port: PolicyPort) -> str | None:
    if port.end_port is None:
        return None
    if not isinstance(port.port, int):
        return "endPort needs a numeric port"
    if not port.port <= port.end_port <= HIGHEST_PORT:
        return f"endPort must be between port {port.port} and {HIGHEST_PORT}, got {port.end_port}"
    return None


@remembered
def parse_ports_annotation(text: str) -> Result[tuple[PolicyPort, ...], str]:
    """The ports that an annotation value lists, in its order, or why it is no list of ports.

    `null` is the empty list. Numbers written as strings become numbers. An unknown field is refused: without its
    misspelt `port` an entry would open every port. Whether the API server would take a port is not asked here.
    """
    try:
        entries = json_list(text)
        if problem := too_many_ports(len(entries)):
            return Failure(problem)
        return Success(tuple(_entry(position, entry) for position, entry in enumerate(entries)))
    except ValueError as error:
        return Failure(str(error))


def too_many_ports(count: int) -> str | None:
    """Why so many ports are too many; none if they are not."""
    return f"lists {count} ports, at most {MOST_PORTS} are possible" if count > MOST_PORTS else None


def json_list(text: str) -> list[object]:
    """The list that a JSON text holds; `null` is the empty one.

    Raises:
        ValueError: the text is not JSON or holds something else.
    """
    try:
        value = json.loads(text, parse_constant=_not_json)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()  # fails for half a surrogate pair, which is no character
    except (ValueError, RecursionError) as error:
        raise ValueError("is not valid JSON") from error
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(f"must be a JSON list, got {_json_type(value)}")  # noqa: TRY004 -- one kind of error for callers
    return value


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _entry(position: int, entry: object) -> PolicyPort:
    if not isinstance(entry, Mapping):
        raise ValueError(f"[{position}] must be a JSON object, got {_json_type(entry)}")  # noqa: TRY004 -- as above
    for name, problem in unknown_fields(entry, _FIELDS):
        raise ValueError(f"[{position}].{name} {problem}")
    protocol = entry.get("protocol")
    if protocol is not None and not isinstance(protocol, str):
        raise ValueError(f"[{position}].protocol must be a string, got {_json_type(protocol)}")
    end_port = entry.get("endPort")
    if end_port is not None and not _is_int32(end_port):
        raise ValueError(f"[{position}].endPort must be an integer, got {_json_type(end_port)}")
    return PolicyPort(protocol or None, _port_number_or_name(position, entry.get("port")), end_port)


def _port_number_or_name(position: int, port: object) -> int | str | None:
    if isinstance(port, str):
        return number_if_digits(port)
    if port is None or _is_int32(port):
        return port
    raise ValueError(f"[{position}].port must be a number or a name, got {_json_type(port)}")


def number_if_digits(port: str) -> int | str:
    """A port written as digits is the number it spells; the API server takes no such name."""
    return int(port) if port.isascii() and port.isdigit() and len(port) < len("10000000000") else port


def _is_int32(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value in _INT32


def _json_type(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return f"the number {value}"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "an object"


def allowed_ports_annotation(alias: str, ports: Iterable[PolicyPort]) -> tuple[str, str]:
    """Key and value of the annotation that opens ports to pods with the alias' label.

    Example:
        `allowed_ports_annotation("all-scrape-targets", [PolicyPort("TCP", 8080)])`
    """
    value = json.dumps([port.manifest() for port in ports], separators=(",", ":"))
    return f"{ALLOWED_PORTS_PREFIX}{alias}{ALLOWED_PORTS_SUFFIX}", value


def namespace_selectors_annotation(selectors: Iterable[LabelSelector | Mapping[str, Any]]) -> tuple[str, str]:
    """Key and value of the annotation that lets pods of further namespaces connect.

    Args:
        selectors: label selectors, OR-ed, as values or as parsed manifests.

    Raises:
        ValueError: one of them is no label selector.
    """
    manifests = []
    for selector in selectors:
        match parse_label_selector(selector):
            case Success(parsed):
                manifests.append(parsed.manifest())
            case problems:
                raise ValueError(f"not a label selector: {'; '.join(map(str, problems.failure()))}")
    return NAMESPACE_SELECTORS, json.dumps(manifests, separators=(",", ":"))
