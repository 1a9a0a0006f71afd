"""Services and EndpointSlices as the API server completes and refuses them; addresses and node ports are not allotted.

Source: Kubernetes API, Service of v1 and EndpointSlice of discovery.k8s.io/v1.
"""

from collections.abc import Iterator
from typing import Any, Final

from hedgerow.api import kubernetes
from hedgerow.machinery.names import dns_label_problem, label_key_problem
from hedgerow.machinery.objects import Manifest, labels_of
from hedgerow_adapters.memory import shapes
from hedgerow_adapters.memory.field_errors import FieldError, duplicate, invalid, required
from hedgerow_adapters.memory.field_rules import checked, needed_as, one_of, port_problem
from hedgerow_adapters.memory.kinds.fields import ADDRESS, CONDITIONS, is_address, label_errors, named_port_problem
from hedgerow_adapters.memory.kinds.kind import Fields, Kind

_PORT: Final = {
    **dict.fromkeys(("name", "protocol"), shapes.text),
    "appProtocol": shapes.optional_text,
    "port": shapes.number,
    "targetPort": shapes.number_or_text,
    "nodePort": shapes.nonzero,
}
_TEXTS: Final = ("type", "clusterIP", "externalName", "sessionAffinity", "externalTrafficPolicy", "loadBalancerIP")
_OPTIONAL_TEXTS: Final = ("internalTrafficPolicy", "ipFamilyPolicy", "loadBalancerClass", "trafficDistribution")
_SERVICE: Final = {
    "ports": [_PORT],
    "selector": shapes.text_map,
    **dict.fromkeys(_TEXTS, shapes.text),
    **dict.fromkeys(_OPTIONAL_TEXTS, shapes.optional_text),
    **dict.fromkeys(("clusterIPs", "externalIPs", "loadBalancerSourceRanges", "ipFamilies"), shapes.texts),
    "publishNotReadyAddresses": shapes.raised_flag,
    "allocateLoadBalancerNodePorts": shapes.flag,
    "healthCheckNodePort": shapes.nonzero,
    "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": shapes.number}},
}


def _complete(service: Fields, _old: Manifest | None) -> None:
    spec = service["spec"]
    if spec["type"] != "ExternalName":
        spec.setdefault("internalTrafficPolicy", "Cluster")
    for port in spec.get("ports", ()):
        if not port.get("targetPort"):
            port["targetPort"] = port["port"]


def _errors(service: Manifest, _old: Manifest | None) -> Iterator[FieldError]:
    spec = service["spec"]
    ports = spec.get("ports", ())
    headless, is_external = spec.get("clusterIP") == "None", spec["type"] == "ExternalName"
    if not headless and "clusterIP" in spec and not is_address(spec["clusterIP"]):
        yield invalid("spec.clusterIPs[0]", spec["clusterIP"], "must be a valid IP address")
    if not ports and not headless and not is_external:
        yield required("spec.ports")
    if is_external and not spec.get("externalName"):
        yield required("spec.externalName")
    names = [port.get("name") for port in ports]
    numbers = [{"protocol": port["protocol"], "port": port["port"]} for port in ports]
    for index, (name, number) in enumerate(zip(names, numbers, strict=True)):
        path = f"spec.ports[{index}]"
        if name is None and len(ports) > 1:
            yield required(f"{path}.name")
        elif name in names[:index]:
            yield duplicate(f"{path}.name", name)
        if number in numbers[:index]:
            yield duplicate(path, number)


SERVICES: Final = Kind(
    kubernetes.SERVICES,
    fields={
        "spec": _SERVICE,
        "status": {
            "loadBalancer": {"ingress": [{**ADDRESS, "ipMode": shapes.optional_text}]},
            "conditions": CONDITIONS,
        },
    },
    name_problem=dns_label_problem,
    defaults={"spec": {"type": "ClusterIP", "sessionAffinity": "None", "ports[]": {"protocol": "TCP", "port": 0}}},
    completion=_complete,
    field_rules={
        "spec.ports[].name": checked(dns_label_problem),
        "spec.ports[].port": checked(port_problem),
        "spec.ports[].protocol": one_of("SCTP", "TCP", "UDP"),
        "spec.ports[].targetPort": checked(named_port_problem),
        "spec.ports[].appProtocol": checked(label_key_problem),
        "spec.selector": label_errors,
        "spec.sessionAffinity": one_of("ClientIP", "None"),
        "spec.type": one_of("ClusterIP", "ExternalName", "LoadBalancer", "NodePort"),
    },
    rules=_errors,
    has_status=True,
    initial_status={"loadBalancer": {}},
    answers_deleted_object=True,
)


_ZONES: Final = [{"name": shapes.optional_text}]
_ENDPOINT: Final = {
    "addresses": shapes.texts,
    "conditions": dict.fromkeys(("ready", "serving", "terminating"), shapes.flag),
    "deprecatedTopology": shapes.text_map,
    **dict.fromkeys(("hostname", "nodeName", "zone"), shapes.optional_text),
    "targetRef": shapes.anything,
    "hints": {"forZones": _ZONES, "forNodes": _ZONES},
}
_SLICE: Final = {
    "addressType": shapes.optional_text,
    "endpoints": [_ENDPOINT],
    "ports": [{**dict.fromkeys(("name", "protocol", "appProtocol"), shapes.optional_text), "port": shapes.number}],
}


def _slice_errors(new: Manifest, old: Manifest | None) -> Iterator[FieldError]:
    if old is not None and new.get("addressType") != old["addressType"]:
        yield invalid("addressType", new.get("addressType", ""), "field is immutable")


def _slice_differs(_given: Any, new: Manifest, old: Manifest) -> bool:
    """An EndpointSlice has no spec: everything beside its metadata counts, and its labels do."""
    return labels_of(new) != labels_of(old) or any(new.get(part) != old.get(part) for part in _SLICE)


ENDPOINT_SLICES: Final = Kind(
    kubernetes.ENDPOINT_SLICES,
    fields=_SLICE,
    defaults={
        "endpoints": None,
        "ports": None,
        "endpoints[]": {"conditions": {}},
        "ports[]": {"name": "", "protocol": "TCP"},
    },
    field_rules={"addressType": needed_as(one_of("FQDN", "IPv4", "IPv6"))},
    rules=_slice_errors,
    has_generation=True,
    spec_differs=_slice_differs,
)
KINDS: Final = (SERVICES, ENDPOINT_SLICES)
