"""NetworkPolicies and Ingresses as the API server completes and refuses them.

Source: Kubernetes API, NetworkPolicy and Ingress of networking.k8s.io/v1; network-and-nodes §2.7.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hedgerow.api import kubernetes
from hedgerow.machinery.names import dns_label_problem, dns_subdomain_problem, port_name_problem
from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.memory.field_errors import FieldError, forbidden, invalid, not_supported, required
from hedgerow_adapters.memory.field_rules import by_field, checked, needed, needed_as, one_of, port_problem
from hedgerow_adapters.memory.kinds.fields import (
    ADDRESS,
    LABEL_SELECTOR,
    ip_block_errors,
    is_address,
    label_selector_errors,
    named_port_problem,
)
from hedgerow_adapters.memory.kinds.kind import Fields, Kind
from hedgerow_adapters.memory.shapes import nonzero, number, number_or_text, optional_text, text, texts

_POLICY_TYPES: Final = ("Ingress", "Egress")
_PORTS: Final = [{"protocol": optional_text, "port": number_or_text, "endPort": number}]
_PEERS: Final = [
    {
        **dict.fromkeys(("podSelector", "namespaceSelector"), LABEL_SELECTOR),
        "ipBlock": {"cidr": text, "except": texts},
    }
]
_POLICY: Final = {
    "podSelector": LABEL_SELECTOR,
    "ingress": [{"ports": _PORTS, "from": _PEERS}],
    "egress": [{"ports": _PORTS, "to": _PEERS}],
    "policyTypes": texts,
}
_POLICY_RULE: Final = {"ports[]": {"protocol": "TCP"}}


def _complete_policy(policy: Fields, _old: Manifest | None) -> None:
    spec = policy["spec"]
    if "policyTypes" not in spec:
        spec["policyTypes"] = list(_POLICY_TYPES) if spec.get("egress") else ["Ingress"]


def _spec_differs(given: Any, new: Manifest, old: Manifest) -> bool:
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


_port_errors: Final = by_field({"protocol": one_of("TCP", "UDP", "SCTP"), "port": checked(named_port_problem)})


def _policy_port_errors(entry: Manifest, path: str) -> Iterator[FieldError]:
    port, end = entry.get("port"), entry.get("endPort")
    yield from _port_errors(entry, path)
    if end is None:
        return
    if not isinstance(port, int):
        state = "not specified" if port is None else "non-numeric"
        yield invalid(f"{path}.endPort", end, f"may not be specified when `port` is {state}")
        return
    if end < port:
        # The server shows the port here, not the end port.
        yield invalid(f"{path}.endPort", port, "must be greater than or equal to `port`")
    yield from checked(port_problem)(end, f"{path}.endPort")


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


def _policy_type_errors(types: Any, path: str) -> Iterator[FieldError]:
    if len(types) > len(_POLICY_TYPES):
        yield invalid(path, types, "may not specify more than two policyTypes")
        return
    for index, policy_type in enumerate(types):
        yield from one_of(*_POLICY_TYPES)(policy_type, f"{path}[{index}]")


NETWORK_POLICIES: Final = Kind(
    kubernetes.NETWORK_POLICIES,
    fields={"spec": _POLICY},
    defaults={"spec": {"podSelector": {}, "ingress[]": _POLICY_RULE, "egress[]": _POLICY_RULE}},
    completion=_complete_policy,
    field_rules={
        "spec.podSelector": label_selector_errors,
        "spec.ingress[].ports[]": _policy_port_errors,
        "spec.ingress[].from[]": _peer_errors,
        "spec.egress[].ports[]": _policy_port_errors,
        "spec.egress[].to[]": _peer_errors,
        "spec.policyTypes": _policy_type_errors,
    },
    has_generation=True,
    spec_differs=_spec_differs,
)


_IMPLEMENTATION_SPECIFIC: Final = "ImplementationSpecific"
_PATH_TYPES: Final = ("Exact", _IMPLEMENTATION_SPECIFIC, "Prefix")
_NOT_IN_A_PATH: Final = ("//", "/./", "/../", "%2f", "%2F")
_NOT_AT_ITS_END: Final = ("/..", "/.")
_BACKEND: Final = {
    "service": {"name": text, "port": {"name": text, "number": nonzero}},
    "resource": {"apiGroup": optional_text, "kind": text, "name": text},
}
_INGRESS: Final = {
    "ingressClassName": optional_text,
    "defaultBackend": _BACKEND,
    "tls": [{"hosts": texts, "secretName": text}],
    "rules": [
        {
            "host": text,
            "http": {"paths": [{"path": text, "pathType": optional_text, "backend": _BACKEND}]},
        }
    ],
}


def _spec_errors(spec: Manifest, path: str) -> Iterator[FieldError]:
    if not spec.get("rules") and "defaultBackend" not in spec:
        yield invalid(path, None, "either `defaultBackend` or `rules` must be specified")


def _host_problem(host: str) -> str | None:
    """A wildcard stands for the first part of a name, and for all of it."""
    return dns_subdomain_problem(host.removeprefix("*."))


def _rule_host_problem(host: str) -> str | None:
    return "must be a DNS name, not an IP address" if is_address(host) else _host_problem(host)


def _path_errors(entry: Manifest, path: str) -> Iterator[FieldError]:
    path_type, written = entry.get("pathType"), entry.get("path", "")
    if path_type is None:
        # The server looks no further then.
        yield required(f"{path}.pathType", "pathType must be specified")
        return
    if path_type not in _PATH_TYPES:
        yield not_supported(f"{path}.pathType", path_type, _PATH_TYPES)
    elif path_type != _IMPLEMENTATION_SPECIFIC or written:
        problems = _path_problems(written, is_literal=path_type != _IMPLEMENTATION_SPECIFIC)
        yield from (invalid(f"{path}.path", written, problem) for problem in problems)
    yield from _backend_errors(entry.get("backend", {}), f"{path}.backend")


def _path_problems(written: str, *, is_literal: bool) -> Iterator[str]:
    """What is wrong with a path; one that is compared as it is written has to be written in one way alone."""
    if not written.startswith("/"):
        yield "must be an absolute path"
    if is_literal:
        yield from (f"must not contain '{sequence}'" for sequence in _NOT_IN_A_PATH if sequence in written)
        yield from (f"cannot end with '{end}'" for end in _NOT_AT_ITS_END if written.endswith(end))


_resource_errors: Final = by_field({"apiGroup": checked(dns_subdomain_problem), "kind": needed, "name": needed})


def _backend_errors(backend: Any, path: str) -> Iterator[FieldError]:
    """A backend is a port of a Service or an object of another kind, and not both."""
    match backend:
        case None:
            return
        case {"service": _, "resource": _}:
            yield invalid(path, "", "cannot set both resource and service backends")
        case {"resource": resource}:
            yield from _resource_errors(resource, f"{path}.resource")
        case {"service": service}:
            yield from _service_errors(service, path)
        case _:
            yield invalid(path, "", "resource or service backend is required")


def _service_errors(service: Manifest, path: str) -> Iterator[FieldError]:
    yield from needed_as(checked(dns_label_problem))(service.get("name"), f"{path}.service.name")
    match service.get("port", {}):
        case {"name": _, "number": _}:
            yield invalid(path, "", "cannot set both port name & port number")
        case {"name": name}:
            yield from checked(port_name_problem)(name, f"{path}.service.port.name")
        case {"number": port}:
            yield from checked(port_problem)(port, f"{path}.service.port.number")
        case _:
            yield required(path, "port name or number is required")


INGRESSES: Final = Kind(
    kubernetes.INGRESSES,
    fields={"spec": _INGRESS, "status": {"loadBalancer": {"ingress": [ADDRESS]}}},
    defaults={"spec": {}},
    field_rules={
        "spec.tls[].hosts[]": checked(_host_problem),
        "spec.tls[].secretName": checked(dns_subdomain_problem),
        "spec": _spec_errors,
        "spec.defaultBackend": _backend_errors,
        "spec.rules[].host": checked(_rule_host_problem),
        "spec.rules[].http.paths": needed,
        "spec.rules[].http.paths[]": _path_errors,
        "spec.ingressClassName": checked(dns_subdomain_problem),
    },
    has_status=True,
    initial_status={"loadBalancer": {}},
    has_generation=True,
)
KINDS: Final = (NETWORK_POLICIES, INGRESSES)
