"""NetworkPolicies and Ingresses as the API server completes and refuses them.

Source: Kubernetes API, NetworkPolicy and Ingress of networking.k8s.io/v1; network-and-nodes §2.7.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hedgerow.api import kubernetes
from hedgerow.machinery.names import dns_label_problem, dns_subdomain_problem, port_name_problem
from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.memory.field_errors import (
    FieldError,
    checked,
    forbidden,
    invalid,
    missing,
    not_supported,
    one_of,
    port_number_problem,
    required,
)
from hedgerow_adapters.memory.kinds.fields import (
    LABEL_SELECTOR,
    LOAD_BALANCER_OF_AN_INGRESS,
    ip_block_errors,
    is_address,
    label_selector_errors,
)
from hedgerow_adapters.memory.kinds.kind import Fields, Kind, fill, filled
from hedgerow_adapters.memory.shapes import (
    list_of,
    nonzero,
    number,
    number_or_text,
    optional_text,
    structure,
    text,
    texts,
)

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
_POLICY: Final = structure(
    {
        "podSelector": LABEL_SELECTOR,
        "ingress": list_of(structure({"ports": _PORTS, "from": _PEERS})),
        "egress": list_of(structure({"ports": _PORTS, "to": _PEERS})),
        "policyTypes": texts,
    }
)


_RULE: Final = {"ports[]": {"protocol": "TCP"}}


def complete_policy(policy: Fields, _old: Manifest | None) -> None:
    """Protocols are TCP; the policy types follow from which rules there are."""
    fill(policy, {"spec": {"podSelector": {}, "ingress[]": _RULE, "egress[]": _RULE}})
    spec = policy["spec"]
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


def policy_errors(policy: Manifest, _old: Manifest | None) -> Iterator[FieldError]:
    """Everything wrong with the spec."""
    spec = policy["spec"]
    yield from label_selector_errors(spec["podSelector"], "spec.podSelector")
    for direction, side in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction, ())):
            path = f"spec.{direction}[{index}]"
            for number_of_port, port in enumerate(rule.get("ports", ())):
                yield from _policy_port_errors(port, f"{path}.ports[{number_of_port}]")
            for number_of_peer, peer in enumerate(rule.get(side, ())):
                yield from _peer_errors(peer, f"{path}.{side}[{number_of_peer}]")
    yield from _policy_type_errors(spec["policyTypes"])


def _policy_port_errors(entry: Manifest, path: str) -> Iterator[FieldError]:
    protocol, port, end = entry["protocol"], entry.get("port"), entry.get("endPort")
    yield from one_of(f"{path}.protocol", protocol, PROTOCOLS)
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
        yield from one_of(f"spec.policyTypes[{index}]", policy_type, POLICY_TYPES)


NETWORK_POLICIES: Final = Kind(
    kubernetes.NETWORK_POLICIES,
    fields={"spec": _POLICY},
    defaults=complete_policy,
    rules=policy_errors,
    has_generation=True,
    spec_differs=spec_differs,
)


IMPLEMENTATION_SPECIFIC: Final = "ImplementationSpecific"
PATH_TYPES: Final = ("Exact", IMPLEMENTATION_SPECIFIC, "Prefix")
_NOT_IN_A_PATH: Final = ("//", "/./", "/../", "%2f", "%2F")
_NOT_AT_ITS_END: Final = ("/..", "/.")

_BACKEND: Final = structure(
    {
        "service": structure({"name": text, "port": structure({"name": text, "number": nonzero})}),
        "resource": structure({"apiGroup": optional_text, "kind": text, "name": text}),
    }
)
_PATH: Final = structure({"path": text, "pathType": optional_text, "backend": _BACKEND})
_INGRESS: Final = structure(
    {
        "ingressClassName": optional_text,
        "defaultBackend": _BACKEND,
        "tls": list_of(structure({"hosts": texts, "secretName": text})),
        "rules": list_of(structure({"host": text, "http": structure({"paths": list_of(_PATH)})})),
    }
)


def ingress_errors(ingress: Manifest, _old: Manifest | None) -> Iterator[FieldError]:
    """Everything wrong with the spec."""
    spec = ingress["spec"]
    for index, tls in enumerate(spec.get("tls", ())):
        for number_of_host, host in enumerate(tls.get("hosts", ())):
            yield from checked(f"spec.tls[{index}].hosts[{number_of_host}]", host, _host_problem(host))
        secret = tls.get("secretName")
        if secret:
            yield from checked(f"spec.tls[{index}].secretName", secret, dns_subdomain_problem(secret))
    if not spec.get("rules") and "defaultBackend" not in spec:
        yield invalid("spec", None, "either `defaultBackend` or `rules` must be specified")
    if "defaultBackend" in spec:
        yield from _backend_errors(spec["defaultBackend"], "spec.defaultBackend")
    for index, rule in enumerate(spec.get("rules", ())):
        yield from _rule_errors(rule, f"spec.rules[{index}]")
    if "ingressClassName" in spec:
        name = spec["ingressClassName"]
        yield from checked("spec.ingressClassName", name, dns_subdomain_problem(name))


def _host_problem(host: str) -> str | None:
    """A wildcard stands for the first part of a name, and for all of it."""
    return dns_subdomain_problem(host.removeprefix("*."))


def _rule_errors(rule: Manifest, path: str) -> Iterator[FieldError]:
    host = rule.get("host", "")
    if is_address(host):
        yield invalid(f"{path}.host", host, "must be a DNS name, not an IP address")
    elif host:
        yield from checked(f"{path}.host", host, _host_problem(host))
    if "http" not in rule:
        return
    entries = rule["http"].get("paths", ())
    if not entries:
        yield required(f"{path}.http.paths")
    for index, entry in enumerate(entries):
        yield from _path_errors(entry, f"{path}.http.paths[{index}]")


def _path_errors(entry: Manifest, path: str) -> Iterator[FieldError]:
    path_type, written = entry.get("pathType"), entry.get("path", "")
    if path_type is None:
        # The server looks no further then.
        yield required(f"{path}.pathType", "pathType must be specified")
        return
    if path_type not in PATH_TYPES:
        yield not_supported(f"{path}.pathType", path_type, PATH_TYPES)
    elif path_type == IMPLEMENTATION_SPECIFIC:
        if written and not written.startswith("/"):
            yield invalid(f"{path}.path", written, "must be an absolute path")
    else:
        yield from checked(f"{path}.path", written, *_literal_path_problems(written))
    yield from _backend_errors(entry.get("backend", {}), f"{path}.backend")


def _literal_path_problems(written: str) -> Iterator[str]:
    """What is wrong with a path that is compared as it is written, and so has to be written in one way alone."""
    if not written.startswith("/"):
        yield "must be an absolute path"
    yield from (f"must not contain '{sequence}'" for sequence in _NOT_IN_A_PATH if sequence in written)
    yield from (f"cannot end with '{end}'" for end in _NOT_AT_ITS_END if written.endswith(end))


def _backend_errors(backend: Manifest, path: str) -> Iterator[FieldError]:
    """A backend is a port of a Service or an object of another kind, and not both."""
    match backend:
        case {"service": _, "resource": _}:
            yield invalid(path, "", "cannot set both resource and service backends")
        case {"resource": resource}:
            yield from _resource_errors(resource, f"{path}.resource")
        case {"service": service}:
            yield from _service_errors(service, path)
        case _:
            yield invalid(path, "", "resource or service backend is required")


def _resource_errors(resource: Manifest, path: str) -> Iterator[FieldError]:
    if "apiGroup" in resource:
        yield from checked(f"{path}.apiGroup", resource["apiGroup"], dns_subdomain_problem(resource["apiGroup"]))
    yield from missing(resource, path, "kind", "name")


def _service_errors(service: Manifest, path: str) -> Iterator[FieldError]:
    name, port = service.get("name"), service.get("port", {})
    if name is None:
        yield required(f"{path}.service.name")
    else:
        yield from checked(f"{path}.service.name", name, dns_label_problem(name))
    match port:
        case {"name": _, "number": _}:
            yield invalid(path, "", "cannot set both port name & port number")
        case {"name": port_name}:
            yield from checked(f"{path}.service.port.name", port_name, port_name_problem(port_name))
        case {"number": port_number}:
            yield from checked(f"{path}.service.port.number", port_number, port_number_problem(port_number))
        case _:
            yield required(path, "port name or number is required")


INGRESSES: Final = Kind(
    kubernetes.INGRESSES,
    fields={"spec": _INGRESS, "status": structure({"loadBalancer": LOAD_BALANCER_OF_AN_INGRESS})},
    defaults=filled({"spec": {}}),
    rules=ingress_errors,
    has_status=True,
    initial_status={"loadBalancer": {}},
    has_generation=True,
)
