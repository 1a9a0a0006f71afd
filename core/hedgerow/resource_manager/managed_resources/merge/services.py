"""What of a Service stays as it is in the cluster: the addresses and ports that were allocated to it.

Source: managed-resources §8.4.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import object_at, objects_at, text_at, texts_at, with_each, with_value
from hedgerow.resource_manager.managed_resources.autoscalers import Scaling
from hedgerow.resource_manager.managed_resources.merge.workloads import with_live_value

KEPT_ANNOTATIONS: Final = "loadbalancer.openstack.org"
"""What the annotations begin with in which a cloud controller remembers the load balancer of a Service."""

_CLUSTER_IP: Final = "ClusterIP"
_NODE_PORT: Final = "NodePort"
_LOAD_BALANCER: Final = "LoadBalancer"
_EXTERNAL_NAME: Final = "ExternalName"


def merged_service(desired: Manifest, live: Manifest, _: Scaling) -> Manifest:
    """What was allocated stays, as far as the type of the Service still has a use for it."""
    desired_type, live_type = _type(desired), _type(live)
    merged: Manifest = with_value(_with_kept_annotations(desired, live), ("spec", "type"), desired_type)
    if desired_type in (_LOAD_BALANCER, _NODE_PORT):
        merged = _with_allocated_ports(merged, live)
        if not object_at(merged, "spec").get("loadBalancerIP"):
            merged = with_live_value(merged, live, "spec", "loadBalancerIP")
    if desired_type == _EXTERNAL_NAME:
        return merged
    if live_type != _EXTERNAL_NAME and object_at(merged, "spec").get("clusterIP") != "None":
        merged = with_live_value(merged, live, "spec", "clusterIP")
    if desired_type == live_type == _LOAD_BALANCER and _is_checked_at_a_port_of_its_own(merged, live):
        merged = with_live_value(merged, live, "spec", "healthCheckNodePort")
    return merged


def _type(service: Manifest) -> str:
    return text_at(service, "spec", "type") or _CLUSTER_IP


def _with_kept_annotations(desired: Manifest, live: Manifest) -> Manifest:
    path = ("metadata", "annotations")
    kept = {key: value for key, value in texts_at(live, *path).items() if key.startswith(KEPT_ANNOTATIONS)}
    return with_value(desired, path, {**kept, **texts_at(desired, *path)}) if kept else desired


def _with_allocated_ports(desired: Manifest, live: Manifest) -> Manifest:
    """The Service whose ports without a node port have that of the live port of the same number or name."""
    allocated = objects_at(live, "spec", "ports")
    return with_each(desired, ("spec", "ports"), lambda port: _with_node_port(port, allocated))


def _with_node_port(port: Manifest, allocated: Any) -> Manifest:
    if port.get("nodePort"):
        return port
    same = [each for each in allocated if each.get("port") == port.get("port") or _name(each) == _name(port)]
    node_port = same[-1].get("nodePort") if same else None
    return {**port, "nodePort": node_port} if node_port else port


def _name(port: Mapping[str, Any]) -> Any:
    return port.get("name") or ""


def _is_checked_at_a_port_of_its_own(desired: Manifest, live: Manifest) -> bool:
    """Whether both send traffic to local endpoints alone, and the manifest leaves open where these are checked."""
    policies = {object_at(service, "spec").get("externalTrafficPolicy") == "Local" for service in (desired, live)}
    return policies == {True} and not object_at(desired, "spec").get("healthCheckNodePort")
