"""Services and EndpointSlices as the API server completes and refuses them; addresses and node ports are not allotted.

Source: Kubernetes API, Service of v1 and EndpointSlice of discovery.k8s.io/v1.
"""

from collections.abc import Iterator
from typing import Any, Final

from hedgerow.api import kubernetes
from hedgerow.machinery.names import dns_label_problem, label_key_problem, port_name_problem
from hedgerow.machinery.objects import Manifest, labels_of
from hedgerow_adapters.memory.field_errors import (
    FieldError,
    checked,
    duplicate,
    invalid,
    one_of,
    port_number_problem,
    required,
)
from hedgerow_adapters.memory.kinds.fields import CONDITIONS, LOAD_BALANCER_OF_A_SERVICE, is_address, label_errors
from hedgerow_adapters.memory.kinds.kind import Fields, Kind, fill, filled
from hedgerow_adapters.memory.shapes import (
    anything,
    flag,
    list_of,
    nonzero,
    number,
    number_or_text,
    optional_text,
    raised_flag,
    structure,
    text,
    text_map,
    texts,
)

AFFINITIES: Final = ("ClientIP", "None")
PROTOCOLS: Final = ("SCTP", "TCP", "UDP")
TYPES: Final = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")

_PORT: Final = structure(
    {
        "name": text,
        "protocol": text,
        "appProtocol": optional_text,
        "port": number,
        "targetPort": number_or_text,
        "nodePort": nonzero,
    }
)
_SERVICE: Final = structure(
    {
        "ports": list_of(_PORT),
        "selector": text_map,
        **dict.fromkeys(("type", "clusterIP", "externalName", "sessionAffinity"), text),
        **dict.fromkeys(("externalTrafficPolicy", "loadBalancerIP"), text),
        **dict.fromkeys(("internalTrafficPolicy", "ipFamilyPolicy"), optional_text),
        **dict.fromkeys(("loadBalancerClass", "trafficDistribution"), optional_text),
        **dict.fromkeys(("clusterIPs", "externalIPs", "loadBalancerSourceRanges", "ipFamilies"), texts),
        "publishNotReadyAddresses": raised_flag,
        "allocateLoadBalancerNodePorts": flag,
        "healthCheckNodePort": nonzero,
        "sessionAffinityConfig": structure({"clientIP": structure({"timeoutSeconds": number})}),
    }
)
_SERVICE_STATUS: Final = structure({"loadBalancer": LOAD_BALANCER_OF_A_SERVICE, "conditions": CONDITIONS})


_SERVICE_DEFAULTS: Final = {
    "spec": {"type": "ClusterIP", "sessionAffinity": "None", "ports[]": {"protocol": "TCP", "port": 0}}
}


def complete_service(service: Fields, _old: Manifest | None) -> None:
    """A ClusterIP service without affinity, whose ports are TCP and lead to the port of the same number."""
    fill(service, _SERVICE_DEFAULTS)
    spec = service["spec"]
    if spec["type"] != "ExternalName":
        spec.setdefault("internalTrafficPolicy", "Cluster")
    for port in spec.get("ports", ()):
        if not port.get("targetPort"):
            port["targetPort"] = port["port"]


def service_errors(service: Manifest, _old: Manifest | None) -> Iterator[FieldError]:
    """What is wrong with ports, selector and type."""
    spec = service["spec"]
    ports = spec.get("ports", ())
    headless = spec.get("clusterIP") == "None"
    if not headless and "clusterIP" in spec and not is_address(spec["clusterIP"]):
        yield invalid("spec.clusterIPs[0]", spec["clusterIP"], "must be a valid IP address")
    if not ports and not headless and spec["type"] != "ExternalName":
        yield required("spec.ports")
    if spec["type"] == "ExternalName" and not spec.get("externalName"):
        yield required("spec.externalName")
    yield from _ports_errors(ports)
    yield from label_errors(spec.get("selector", {}), "spec.selector")
    yield from one_of("spec.sessionAffinity", spec["sessionAffinity"], AFFINITIES)
    yield from one_of("spec.type", spec["type"], TYPES)


def _ports_errors(ports: list[Manifest]) -> Iterator[FieldError]:
    names: set[str] = set()
    seen: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        path = f"spec.ports[{index}]"
        name = port.get("name", "")
        if not name and len(ports) > 1:
            yield required(f"{path}.name")
        elif name:
            yield from checked(f"{path}.name", name, dns_label_problem(name))
        if name and name in names:
            yield duplicate(f"{path}.name", name)
        names.add(name)
        yield from _port_errors(port, path)
        if (port["protocol"], port["port"]) in seen:
            yield duplicate(path, {"protocol": port["protocol"], "port": port["port"]})
        seen.add((port["protocol"], port["port"]))


def _port_errors(port: Manifest, path: str) -> Iterator[FieldError]:
    yield from checked(f"{path}.port", port["port"], port_number_problem(port["port"]))
    yield from one_of(f"{path}.protocol", port["protocol"], PROTOCOLS)
    target = port["targetPort"]
    problem = port_name_problem(target) if isinstance(target, str) else port_number_problem(target)
    yield from checked(f"{path}.targetPort", target, problem)
    if "appProtocol" in port:
        yield from checked(f"{path}.appProtocol", port["appProtocol"], label_key_problem(port["appProtocol"]))


SERVICES: Final = Kind(
    kubernetes.SERVICES,
    fields={"spec": _SERVICE, "status": _SERVICE_STATUS},
    name_problem=dns_label_problem,
    defaults=complete_service,
    rules=service_errors,
    has_status=True,
    initial_status={"loadBalancer": {}},
    answers_deleted_object=True,
)


ADDRESS_TYPES: Final = ("FQDN", "IPv4", "IPv6")

_HINTS: Final = structure(dict.fromkeys(("forZones", "forNodes"), list_of(structure({"name": optional_text}))))
_ENDPOINT: Final = structure(
    {
        "addresses": texts,
        "conditions": structure(dict.fromkeys(("ready", "serving", "terminating"), flag)),
        "deprecatedTopology": text_map,
        **dict.fromkeys(("hostname", "nodeName", "zone"), optional_text),
        "targetRef": anything,
        "hints": _HINTS,
    }
)
_SLICE_PORT: Final = structure(
    {**dict.fromkeys(("name", "protocol", "appProtocol"), optional_text), "port": number},
)
_PARTS: Final = ("addressType", "endpoints", "ports")


_SLICE_DEFAULTS: Final[dict[str, Any]] = {
    "endpoints": None,
    "ports": None,
    "endpoints[]": {"conditions": {}},
    "ports[]": {"name": "", "protocol": "TCP"},
}


def endpoint_slice_errors(endpoint_slice: Manifest, old: Manifest | None) -> Iterator[FieldError]:
    """The type of the addresses is one that exists, and stays."""
    address_type = endpoint_slice.get("addressType", "")
    yield from one_of("addressType", address_type, ADDRESS_TYPES) if address_type else (required("addressType"),)
    if old is not None and address_type != old["addressType"]:
        yield invalid("addressType", address_type, "field is immutable")


def _differs(_given: Any, new: Manifest, old: Manifest) -> bool:
    """An EndpointSlice has no spec: everything beside its metadata counts, and its labels do."""
    return labels_of(new) != labels_of(old) or any(new.get(part) != old.get(part) for part in _PARTS)


ENDPOINT_SLICES: Final = Kind(
    kubernetes.ENDPOINT_SLICES,
    fields={"addressType": optional_text, "endpoints": list_of(_ENDPOINT), "ports": list_of(_SLICE_PORT)},
    defaults=filled(_SLICE_DEFAULTS),
    rules=endpoint_slice_errors,
    has_generation=True,
    spec_differs=_differs,
)
