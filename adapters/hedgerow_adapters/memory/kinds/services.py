"""Services as the API server completes and refuses them, as far as controllers look at them.

Addresses and node ports are not allotted.
"""

from collections.abc import Iterator
from typing import Final

from hedgerow.machinery.names import dns_label_problem, port_name_problem
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow_adapters.memory.field_errors import (
    FieldError,
    checked,
    duplicate,
    not_supported,
    port_number_problem,
    required,
)
from hedgerow_adapters.memory.kinds.kind import Fields, Kind
from hedgerow_adapters.memory.kinds.label_selectors import label_errors
from hedgerow_adapters.memory.shapes import (
    anything,
    list_of,
    number,
    number_or_text,
    optional_text,
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
        "nodePort": number,
    }
)
_TEXT_LISTS: Final = ("clusterIPs", "externalIPs", "loadBalancerSourceRanges", "ipFamilies")
_OTHERS: Final = (
    "publishNotReadyAddresses",
    "sessionAffinityConfig",
    "allocateLoadBalancerNodePorts",
    "healthCheckNodePort",
    "externalTrafficPolicy",
    "internalTrafficPolicy",
    "ipFamilyPolicy",
    "loadBalancerClass",
    "loadBalancerIP",
    "trafficDistribution",
)
_SPEC: Final = structure(
    {
        "ports": list_of(_PORT),
        "selector": text_map,
        "type": text,
        "clusterIP": text,
        "externalName": text,
        "sessionAffinity": text,
        **dict.fromkeys(_TEXT_LISTS, texts),
        **dict.fromkeys(_OTHERS, anything),
    }
)


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
    if target != port["port"]:
        problem = port_name_problem(target) if isinstance(target, str) else port_number_problem(target)
        yield from checked(f"{path}.targetPort", target, problem)


SERVICES: Final = Kind(
    Resource("", "v1", "services", "Service"),
    fields={"spec": _SPEC, "status": anything},
    name_problem=dns_label_problem,
    defaults=complete,
    rules=errors,
    has_status=True,
    initial_status={"loadBalancer": {}},
    answers_deleted_object=True,
)
