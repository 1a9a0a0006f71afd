"""Services as the API server completes and refuses them, as far as controllers look at them.

Addresses and node ports are not allotted.
"""

from collections.abc import Iterator
from typing import Final

from hedgerow.api import kubernetes
from hedgerow.machinery.names import dns_label_problem, label_key_problem, port_name_problem
from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.memory.field_errors import (
    FieldError,
    checked,
    duplicate,
    invalid,
    not_supported,
    port_number_problem,
    required,
)
from hedgerow_adapters.memory.kinds.address_blocks import is_address
from hedgerow_adapters.memory.kinds.kind import Fields, Kind
from hedgerow_adapters.memory.kinds.label_selectors import label_errors
from hedgerow_adapters.memory.kinds.observed import CONDITIONS, LOAD_BALANCER_OF_A_SERVICE
from hedgerow_adapters.memory.shapes import (
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
_SPEC: Final = structure(
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
_STATUS: Final = structure({"loadBalancer": LOAD_BALANCER_OF_A_SERVICE, "conditions": CONDITIONS})


def complete(service: Fields, _old: Manifest | None) -> None:
    """A ClusterIP service without affinity, whose ports are TCP and lead to the port of the same number."""
    spec = service.setdefault("spec", {})
    spec.setdefault("type", "ClusterIP")
    spec.setdefault("sessionAffinity", "None")
    if spec["type"] != "ExternalName":
        spec.setdefault("internalTrafficPolicy", "Cluster")
    for port in spec.get("ports", ()):
        port.setdefault("protocol", "TCP")
        port.setdefault("port", 0)
        if not port.get("targetPort"):
            port["targetPort"] = port["port"]


def errors(service: Manifest, _old: Manifest | None) -> Iterator[FieldError]:
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
    if spec["sessionAffinity"] not in AFFINITIES:
        yield not_supported("spec.sessionAffinity", spec["sessionAffinity"], AFFINITIES)
    if spec["type"] not in TYPES:
        yield not_supported("spec.type", spec["type"], TYPES)


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
    if port["protocol"] not in PROTOCOLS:
        yield not_supported(f"{path}.protocol", port["protocol"], PROTOCOLS)
    target = port["targetPort"]
    problem = port_name_problem(target) if isinstance(target, str) else port_number_problem(target)
    yield from checked(f"{path}.targetPort", target, problem)
    if "appProtocol" in port:
        yield from checked(f"{path}.appProtocol", port["appProtocol"], label_key_problem(port["appProtocol"]))


SERVICES: Final = Kind(
    kubernetes.SERVICES,
    fields={"spec": _SPEC, "status": _STATUS},
    name_problem=dns_label_problem,
    defaults=complete,
    rules=errors,
    has_status=True,
    initial_status={"loadBalancer": {}},
    answers_deleted_object=True,
)
