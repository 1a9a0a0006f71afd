"""Ports as NetworkPolicies name them, and the annotation values that list ports and selectors, read and made.

Source: network-and-nodes §2.5, §2.7, §2.8.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple, NoReturn, TypeGuard

from returns.result import Failure, Result, Success

from hedgerow.api.network_policies import ALLOWED_PORTS_PREFIX, ALLOWED_PORTS_SUFFIX, NAMESPACE_SELECTORS, PortManifest
from hedgerow.machinery.failures import json_type, unknown_fields
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
    if port.end_port is None:
        return None
    if not isinstance(port.port, int):
        return "endPort needs a numeric port"
    fits = port.port <= port.end_port <= HIGHEST_PORT
    return None if fits else f"endPort must be between port {port.port} and {HIGHEST_PORT}, got {port.end_port}"


@remembered
def parse_ports_annotation(text: str) -> Result[tuple[PolicyPort, ...], str]:
    """The ports that an annotation value lists, in its order, or why it is no list of ports; `null` is empty.

    Digits become numbers. An unknown field is refused: without its misspelt `port` an entry would open every port.
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
    if end_port is not None and not is_int32(end_port):
        raise ValueError(f"[{position}].endPort must be an integer, got {_json_type(end_port)}")
    port = entry.get("port")
    if port is not None and not isinstance(port, str) and not is_int32(port):
        raise ValueError(f"[{position}].port must be a number or a name, got {_json_type(port)}")
    return PolicyPort(protocol or None, number_if_digits(port) if isinstance(port, str) else port, end_port)


def number_if_digits(port: str) -> int | str:
    """The number that digits spell, or the name; the API server takes no name of digits."""
    return int(port) if port.isascii() and port.isdigit() and len(port) < len("10000000000") else port


def is_int32(value: object) -> TypeGuard[int]:
    """True for an integer that fits into the fields of an API server."""
    return isinstance(value, int) and not isinstance(value, bool) and value in _INT32


def _json_type(value: object) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"the number {value}" if is_number else json_type(value)


def allowed_ports_annotation(alias: str, ports: Iterable[PolicyPort]) -> tuple[str, str]:
    """Key and value of the annotation that opens ports to pods with the alias' label.

    Example:
        `allowed_ports_annotation("all-scrape-targets", [PolicyPort("TCP", 8080)])`
    """
    value = json.dumps([port.manifest() for port in ports], separators=(",", ":"))
    return f"{ALLOWED_PORTS_PREFIX}{alias}{ALLOWED_PORTS_SUFFIX}", value


def namespace_selectors_annotation(selectors: Iterable[LabelSelector | Mapping[str, Any]]) -> tuple[str, str]:
    """Key and value of the annotation that lets pods connect from further namespaces, which any selector matches.

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
