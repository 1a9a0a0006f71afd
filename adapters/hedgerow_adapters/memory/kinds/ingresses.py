"""Ingresses as the API server refuses them.

Source: Kubernetes API, Ingress of networking.k8s.io/v1.
"""

from collections.abc import Iterator
from typing import Final

from hedgerow.api import kubernetes
from hedgerow.machinery.names import dns_label_problem, dns_subdomain_problem, port_name_problem
from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.memory.field_errors import (
    FieldError,
    checked,
    invalid,
    not_supported,
    port_number_problem,
    required,
)
from hedgerow_adapters.memory.kinds.address_blocks import is_address
from hedgerow_adapters.memory.kinds.kind import Fields, Kind
from hedgerow_adapters.memory.kinds.observed import LOAD_BALANCER_OF_AN_INGRESS
from hedgerow_adapters.memory.shapes import list_of, nonzero, optional_text, structure, text, texts

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
_SPEC: Final = structure(
    {
        "ingressClassName": optional_text,
        "defaultBackend": _BACKEND,
        "tls": list_of(structure({"hosts": texts, "secretName": text})),
        "rules": list_of(structure({"host": text, "http": structure({"paths": list_of(_PATH)})})),
    }
)


def complete(ingress: Fields, _old: Manifest | None) -> None:
    """An Ingress always has a spec."""
    ingress.setdefault("spec", {})


def errors(ingress: Manifest, _old: Manifest | None) -> Iterator[FieldError]:
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
    for field in ("kind", "name"):
        if field not in resource:
            yield required(f"{path}.{field}")


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
    fields={"spec": _SPEC, "status": structure({"loadBalancer": LOAD_BALANCER_OF_AN_INGRESS})},
    defaults=complete,
    rules=errors,
    has_status=True,
    initial_status={"loadBalancer": {}},
    has_generation=True,
)
