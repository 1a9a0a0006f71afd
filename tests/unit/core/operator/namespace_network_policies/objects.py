"""Namespaces, Endpoints and Clusters of the worked examples, and what the controller plans about them."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from hedgerow.api.gardener import CLUSTERS
from hedgerow.api.kubernetes import ENDPOINTS, METADATA_NAME, NAMESPACES, NETWORK_POLICIES
from hedgerow.api.network_policies import POLICY_DESCRIPTION
from hedgerow.machinery.controller import Context
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Plan
from hedgerow.operator.namespace_network_policies import (
    NamespacePolicyConfig,
    RuntimeNetworks,
    namespace_network_policy_controller,
)
from hedgerow_adapters.cache import StoreSnapshot
from tests.executions import plan_of
from tests.golden.network_policies.cases import carry_out
from tests.snapshots import snapshot_over

API_SERVER_KEY = ObjectKey("default", "kubernetes")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
NETWORKS = RuntimeNetworks("10.0.0.0/16", "10.1.0.0/16", "10.2.0.0/16", ("169.254.169.254/32",))
CONFIG = NamespacePolicyConfig(NETWORKS)
SHOOT = "shoot--foo--bar"
SHOOT_NETWORKING = {"nodes": "172.16.2.0/18", "pods": "10.150.0.0/16", "services": "192.168.1.0/17"}
RESOURCES = {resource.kind: resource for resource in (NAMESPACES, ENDPOINTS, NETWORK_POLICIES, CLUSTERS)}
DENY_ALL, API_SERVER, PUBLIC, PRIVATE, BLOCKED, DNS, SHOOTS = NAMES = (
    "deny-all",
    "allow-to-runtime-apiserver",
    "allow-to-public-networks",
    "allow-to-private-networks",
    "allow-to-blocked-cidrs",
    "allow-to-dns",
    "allow-to-shoot-networks",
)


def namespace(name: str, labels: Mapping[str, str] | None = None, phase: str = "Active", **metadata: Any) -> Manifest:
    """A Namespace as an API server stores it."""
    labelled = {METADATA_NAME: name, **(labels or {})}
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "uid": f"uid-of-{name}", "labels": labelled, **metadata},
        "status": {"phase": phase},
    }


def role(value: str) -> dict[str, str]:
    return {"gardener.cloud/role": value}


def endpoints(*subsets: Manifest, key: ObjectKey = API_SERVER_KEY) -> Manifest:
    """The Endpoints of the API server; one subset `10.2.0.5`, TCP 443, unless others are given."""
    return {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {"name": key.name, "namespace": key.namespace},
        "subsets": [*(subsets or (subset("10.2.0.5"),))],
    }


def subset(*addresses: str, ports: Sequence[tuple[str, int]] = (("TCP", 443),), not_ready: str = "") -> Manifest:
    manifest: dict[str, Any] = {
        "addresses": [{"ip": address} for address in addresses],
        "ports": [{"name": "https", "protocol": protocol, "port": port} for protocol, port in ports],
    }
    return {**manifest, "notReadyAddresses": [{"ip": not_ready}]} if not_ready else manifest


def cluster(
    name: str = SHOOT, networking: Mapping[str, Any] | None = None, workers: Sequence[Any] = ({"name": "w"},)
) -> Manifest:
    """The Cluster of a shoot; one without networking where none is given."""
    spec: dict[str, Any] = {"provider": {"type": "local", "workers": [*workers]}}
    if networking is not None:
        spec["networking"] = {"type": "calico", **networking}
    shoot = {"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot", "spec": spec}
    return {
        "apiVersion": CLUSTERS.api_version,
        "kind": "Cluster",
        "metadata": {"name": name},
        "spec": {"cloudProfile": {}, "seed": {}, "shoot": shoot},
    }


def policy(key: ObjectKey, spec: Manifest | None = None, *, described: bool = True) -> Manifest:
    """A NetworkPolicy that exists; one of ours has a description."""
    annotations = {POLICY_DESCRIPTION: "as it was"} if described else {}
    metadata = {"name": key.name, "namespace": key.namespace, "annotations": annotations, "uid": f"uid-of-{key}"}
    return {
        "apiVersion": NETWORK_POLICIES.api_version,
        "kind": "NetworkPolicy",
        "metadata": {**metadata, "resourceVersion": "7"},
        "spec": spec or {"podSelector": {}, "policyTypes": ["Ingress"]},
    }


def blocks(*cidrs: str) -> list[Manifest]:
    """Peers that are ranges without exceptions."""
    return [{"ipBlock": {"cidr": cidr}} for cidr in cidrs]


class World:
    """A cluster that keeps what it is given and does what it is told."""

    def __init__(self, *objects: Manifest, config: NamespacePolicyConfig = CONFIG) -> None:
        self.controller = namespace_network_policy_controller(config)
        self.config = config
        self.objects: dict[Resource, dict[ObjectKey, Manifest]] = {resource: {} for resource in RESOURCES.values()}
        self.put(*objects)

    def put(self, *objects: Manifest) -> None:
        for manifest in objects:
            self.objects[RESOURCES[manifest["kind"]]][key_of(manifest)] = manifest

    @property
    def snapshot(self) -> StoreSnapshot:
        present: dict[Resource, Iterable[Manifest]] = {
            watch.resource: [each for each in self.objects[watch.resource].values() if watch.reads(each)]
            for watch in self.controller.watches
        }
        return snapshot_over(self.controller, present)

    def plan(self, name: str) -> Plan:
        """What a look at a namespace comes to."""
        return plan_of(self.controller.reconcile(ObjectKey("", name), self.snapshot, Context(NOW, self.config)))

    def apply(self, plan: Plan) -> None:
        """Do what a plan wants."""
        policies = self.objects[NETWORK_POLICIES]
        for action in plan.actions:
            carry_out(action, policies)

    def policies(self, name: str) -> dict[str, Any]:
        """The specs of the policies in a namespace, by their names."""
        return {key.name: each["spec"] for key, each in self.objects[NETWORK_POLICIES].items() if key.namespace == name}


def full_world(config: NamespacePolicyConfig = CONFIG, *, networking: Mapping[str, Any] | None = None) -> World:
    """One namespace of each sort, the API server's Endpoints, and the Cluster of the shoot."""
    return World(
        namespace("garden"),
        namespace("istio-system", role("istio-system")),
        namespace("istio-ingress", role("istio-ingress")),
        namespace("exposed", {"handler.exposureclass.gardener.cloud/name": ""}),
        namespace(SHOOT, role("shoot")),
        namespace("extension-x", role("extension")),
        namespace("foo"),
        endpoints(),
        cluster(networking=SHOOT_NETWORKING if networking is None else networking),
        config=config,
    )
