"""NetworkPolicies as the API server completes and refuses them.

Source: Kubernetes API, NetworkPolicy of networking.k8s.io/v1; network-and-nodes §2.7.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hedgerow.api import kubernetes
from hedgerow.machinery.names import port_name_problem
from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.memory.field_errors import (
    FieldError,
    checked,
    forbidden,
    invalid,
    not_supported,
    port_number_problem,
    required,
)
from hedgerow_adapters.memory.kinds.address_blocks import ip_block_errors
from hedgerow_adapters.memory.kinds.kind import Fields, Kind
from hedgerow_adapters.memory.kinds.label_selectors import LABEL_SELECTOR, label_selector_errors
from hedgerow_adapters.memory.shapes import list_of, number, number_or_text, optional_text, structure, text, texts

PROTOCOLS: Final = ("TCP", "UDP", "SCTP")
POLICY_TYPES: Final = ("Ingress", "Egress")

_PORTS: Final = list_of(structure({"protocol": optional_text, "port": number_or_text, "endPort": number}))
_PEERS: Final = list_of(
    structure(
        {
            "podSelector": LABEL_SELECTOR,
            "namespaceSelector": LABEL_SELECTOR,
            "ipBlock": structure({"cidr": text, "except": texts}),
        }
    )
)
_SPEC: Final = structure(
    {
        "podSelector": LABEL_SELECTOR,
        "ingress": list_of(structure({"ports": _PORTS, "from": _PEERS})),
        "egress": list_of(structure({"ports": _PORTS, "to": _PEERS})),
        "policyTypes": texts,
    }
)


def complete(policy: Fields, _old: Manifest | None) -> None:
    """Protocols are TCP; the policy types follow from which rules there are."""
    spec = policy.setdefault("spec", {})
    spec.setdefault("podSelector", {})
    for rule in (*spec.get("ingress", ()), *spec.get("egress", ())):
        for port in rule.get("ports", ()):
            port.setdefault("protocol", "TCP")
    if "policyTypes" not in spec:
        spec["policyTypes"] = list(POLICY_TYPES) if spec.get("egress") else ["Ingress"]


def spec_differs(given: Any, new: Manifest, old: Manifest) -> bool:
    """Whether the server counts an update as a change of the spec.

    It does so too where a client spells out an empty list or map that is then not stored: every such update counts.
    """
    return bool(new["spec"] != old["spec"]) or _spells_out_nothing(given.get("spec"))


def _spells_out_nothing(given: Any) -> bool:
    if isinstance(given, list | tuple):
        return not given or any(map(_spells_out_nothing, given))
    if isinstance(given, Mapping):
        # Empty policy types are completed before the server compares.
        return given.get("matchLabels") == {} or any(
            _spells_out_nothing(value) for name, value in given.items() if name != "policyTypes"
        )
    return False


def errors(policy: Manifest, _old: Manifest | None) -> Iterator[FieldError]:
    """Everything wrong with the spec."""
    spec = policy["spec"]
    yield from label_selector_errors(spec["podSelector"], "spec.podSelector")
    for direction, side in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction, ())):
            path = f"spec.{direction}[{index}]"
            for number_of_port, port in enumerate(rule.get("ports", ())):
                yield from _port_errors(port, f"{path}.ports[{number_of_port}]")
            for number_of_peer, peer in enumerate(rule.get(side, ())):
                yield from _peer_errors(peer, f"{path}.{side}[{number_of_peer}]")
    yield from _policy_type_errors(spec["policyTypes"])


def _port_errors(entry: Manifest, path: str) -> Iterator[FieldError]:
    protocol, port, end = entry["protocol"], entry.get("port"), entry.get("endPort")
    if protocol not in PROTOCOLS:
        yield not_supported(f"{path}.protocol", protocol, PROTOCOLS)
    match port:
        case None:
            if end is not None:
                yield invalid(f"{path}.endPort", end, "may not be specified when `port` is not specified")
        case str():
            if end is not None:
                yield invalid(f"{path}.endPort", end, "may not be specified when `port` is non-numeric")
            yield from checked(f"{path}.port", port, port_name_problem(port))
        case _:
            yield from checked(f"{path}.port", port, port_number_problem(port))
            if end is not None:
                yield from _end_port_errors(port, end, f"{path}.endPort")


def _end_port_errors(port: int, end: int, path: str) -> Iterator[FieldError]:
    if end < port:
        # The server shows the port here, not the end port.
        yield invalid(path, port, "must be greater than or equal to `port`")
    yield from checked(path, end, port_number_problem(end))


def _peer_errors(peer: Manifest, path: str) -> Iterator[FieldError]:
    for name in ("podSelector", "namespaceSelector"):
        if name in peer:
            yield from label_selector_errors(peer[name], f"{path}.{name}")
    if "ipBlock" in peer:
        yield from ip_block_errors(peer["ipBlock"], f"{path}.ipBlock")
    if not peer:
        yield required(path, "must specify a peer")
    elif "ipBlock" in peer and len(peer) > 1:
        yield forbidden(path, "may not specify both ipBlock and another peer")


def _policy_type_errors(types: Sequence[str]) -> Iterator[FieldError]:
    if len(types) > len(POLICY_TYPES):
        yield invalid("spec.policyTypes", types, "may not specify more than two policyTypes")
        return
    for index, policy_type in enumerate(types):
        if policy_type not in POLICY_TYPES:
            yield not_supported(f"spec.policyTypes[{index}]", policy_type, POLICY_TYPES)


NETWORK_POLICIES: Final = Kind(
    kubernetes.NETWORK_POLICIES,
    fields={"spec": _SPEC},
    defaults=complete,
    rules=errors,
    has_generation=True,
    spec_differs=spec_differs,
)
