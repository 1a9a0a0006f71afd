"""Objects and landscapes to test any webhook with: well-shaped, with unknown fields, spoiled, or any JSON."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any, Final, NamedTuple, cast

from hypothesis import strategies as st

from hedgerow.admission.catalog import webhooks
from hedgerow.admission.config import AdmissionConfig, HighAvailabilityConfig, SystemComponentsConfig
from hedgerow.admission.deletion_protection import CUSTOM_RESOURCES, DEFINITIONS
from hedgerow.admission.extension_validation.kinds import KINDS
from hedgerow.admission.webhook import Webhook
from hedgerow.api.gardener import HIGH_AVAILABILITY, HVPAS
from hedgerow.api.kubernetes import (
    DEPLOYMENTS,
    ENDPOINT_SLICES,
    HORIZONTAL_POD_AUTOSCALERS,
    NAMESPACES,
    NODES,
    PODS,
    SECRETS,
    SERVICE_ACCOUNTS,
    STATEFUL_SETS,
)
from hedgerow.api.tokens import CONSIDER, MOUNT_EXPIRATION
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow.machinery.selectors import LabelSelector
from hedgerow_adapters.protocol.json_patch import apply_json_patch

SYSTEM: Final = "worker.gardener.cloud/system-components"
CONFIG: Final = AdmissionConfig(
    crd_deletion_protection=True,
    endpoint_slice_hints=True,
    extension_validation=True,
    high_availability_config=HighAvailabilityConfig(not_ready_seconds=60, unreachable_seconds=0),
    kubernetes_service_host="api.example.com",
    pod_scheduler_name="bin-packing-scheduler",
    pod_topology_spread_constraints=True,
    projected_token_mount=43200,
    seccomp_profile=True,
    system_components_config=SystemComponentsConfig(
        LabelSelector(((SYSTEM, "true"),)), {SYSTEM: "true"}, ({"key": "configured", "operator": "Exists"},)
    ),
    token_invalidator=True,
)
WEBHOOKS: Final = {webhook.path: webhook for webhook in webhooks(CONFIG)}
"""All of them, by path."""
DELETION_PROTECTION: Final = "/webhooks/validate-crd-deletion"

Objects = st.SearchStrategy[dict[str, Any]]

JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
"""Any value that can be parsed."""
OF_EACH_TYPE: Final[st.SearchStrategy[Any]] = st.sampled_from(
    [None, False, True, 0, -1, 0.5, "", "a", [], {}, [None], ["a"], [[]], [{}], {"": None}, {"a": "b"}, {"a": {}}]
)
"""A few values of each type: to draw any value takes ten times as long."""


def nested(levels: int, *, in_objects: bool) -> Any:
    """Lists in lists, or objects in objects."""
    value: Any = {} if in_objects else []
    for _ in range(levels):
        value = {"a": value} if in_objects else [value]
    return value


DEEP: Final = st.sampled_from([nested(700, in_objects=in_objects) for in_objects in (False, True)])
"""Values nested nearly as deep as parsers read them."""


def partly(**members: st.SearchStrategy[Any]) -> Objects:
    """Objects with any of these members."""
    return st.fixed_dictionaries({}, optional=members)


def picked(**members: Sequence[Any]) -> Objects:
    """Objects with any of these members, each of which has few values: one draw instead of several for each member."""
    names, nothing = [*members], object()
    combinations = product(*([nothing, *values] for values in members.values()))
    return st.sampled_from(
        [
            {name: value for name, value in zip(names, combination, strict=True) if value is not nothing}
            for combination in combinations
        ]
    )


def texts(**members: str) -> Objects:
    """Labels or annotations: any of these."""
    return picked(**{name: [value] for name, value in members.items()})


def some(items: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(items, max_size=3)


def manifests(resource: Resource, metadata: Objects, **members: st.SearchStrategy[Any]) -> Objects:
    """Objects of a resource in the namespace `shop`."""
    stated = {"apiVersion": st.just(resource.api_version), "kind": st.just(resource.kind)}
    place = {"namespace": "shop"} if resource.namespaced else {}
    return st.fixed_dictionaries({**stated, "metadata": metadata.map(lambda given: {**place, **given}), **members})


ZONES: Final = ("", "a", "b")
KEYS: Final = ("", "own", "more", "configured", "dedicated", "node.kubernetes.io/not-ready")
EFFECTS: Final = ("", "NoSchedule", "NoExecute")
TOLERATIONS: Final = picked(key=KEYS, operator=["Exists", "Equal"], effect=EFFECTS, tolerationSeconds=[0, 1])
EXPRESSIONS: Final = picked(
    key=["pod-template-hash", "topology.kubernetes.io/zone", "disk"],
    operator=["In", "Exists"],
    values=[[*zones] for number in range(4) for zones in product(ZONES, repeat=number)],
)
CONSTRAINTS: Final = partly(
    topologyKey=st.sampled_from(["kubernetes.io/hostname", "topology.kubernetes.io/zone", "rack"]),
    maxSkew=st.integers(1, 3),
    labelSelector=partly(
        matchLabels=texts(**{"app": "x", "pod-template-hash": "other"}), matchExpressions=some(EXPRESSIONS)
    ),
)
CONTAINERS: Final = partly(
    name=st.just("c"),
    env=some(picked(name=["A", "KUBERNETES_SERVICE_HOST"], value=ZONES)),
    volumeMounts=some(picked(name=["tmp"])),
)
POD_SPECS: Final = partly(
    initContainers=some(CONTAINERS),
    containers=some(CONTAINERS),
    serviceAccountName=st.sampled_from(["", "default", "mounting", "sparing", "missing"]),
    automountServiceAccountToken=st.booleans(),
    volumes=some(picked(name=["tmp", "kube-api-access-1"])),
    schedulerName=st.sampled_from(["", "default-scheduler", "mine"]),
    securityContext=picked(seccompProfile=[{}, {"type": ""}, {"type": "Unconfined"}], runAsUser=[1]),
    nodeSelector=texts(**{SYSTEM: "false", "disk": "ssd"}),
    tolerations=some(TOLERATIONS),
    topologySpreadConstraints=some(CONSTRAINTS),
    affinity=partly(
        nodeAffinity=partly(
            requiredDuringSchedulingIgnoredDuringExecution=partly(
                nodeSelectorTerms=some(partly(matchExpressions=some(EXPRESSIONS)))
            )
        )
    ),
)
POD_METADATA: Final = partly(
    labels=texts(**{"app": "x", "pod-template-hash": "123abc"}),
    annotations=texts(**{MOUNT_EXPIRATION: "900", "other": "x"}),
    ownerReferences=some(picked(apiVersion=["apps/v1"], kind=["DaemonSet", "ReplicaSet"], controller=[False, True])),
)
SCALED_METADATA: Final = st.fixed_dictionaries(
    {"name": st.sampled_from(["scaled", "steady"])},
    optional={
        "labels": texts(**{f"{HIGH_AVAILABILITY}/type": "controller"})
        | texts(**{f"{HIGH_AVAILABILITY}/type": "server"}),
        "annotations": texts(**{f"{HIGH_AVAILABILITY}/replicas": "4"}),
    },
)
REPLICAS: Final = st.integers(0, 7)


def workloads(resource: Resource) -> Objects:
    template = partly(metadata=POD_METADATA, spec=POD_SPECS)
    return manifests(resource, SCALED_METADATA, spec=partly(replicas=REPLICAS, template=template))


def target(resource: Resource) -> Manifest:
    return {"apiVersion": resource.api_version, "kind": resource.kind, "name": "scaled"}


LIMITS: Final = {"minReplicas": REPLICAS, "maxReplicas": REPLICAS}
HPA_MANIFESTS: Final = manifests(
    HORIZONTAL_POD_AUTOSCALERS, SCALED_METADATA, spec=partly(**LIMITS, scaleTargetRef=st.just(target(DEPLOYMENTS)))
)
HVPA_MANIFESTS: Final = manifests(
    HVPAS,
    SCALED_METADATA,
    spec=partly(
        targetRef=st.just(target(STATEFUL_SETS)),
        hpa=partly(deploy=st.booleans(), template=partly(spec=partly(**LIMITS))),
    ),
)
POD_MANIFESTS: Final = manifests(PODS, POD_METADATA, spec=POD_SPECS)
CHANGED_BY: Final[Mapping[str, tuple[tuple[Resource, Objects], ...]]] = {
    "endpoint-slice-hints": (
        (
            ENDPOINT_SLICES,
            manifests(
                ENDPOINT_SLICES,
                partly(name=st.just("e")),
                endpoints=some(partly(zone=st.sampled_from(ZONES), hints=partly(forZones=some(picked(name=ZONES))))),
            ),
        ),
    ),
    "high-availability-config": (
        (DEPLOYMENTS, workloads(DEPLOYMENTS)),
        (STATEFUL_SETS, workloads(STATEFUL_SETS)),
        (HORIZONTAL_POD_AUTOSCALERS, HPA_MANIFESTS),
        (HVPAS, HVPA_MANIFESTS),
    ),
    "token-invalidator": (
        (
            SECRETS,
            manifests(
                SECRETS,
                partly(labels=texts(**{CONSIDER: "true"})),
                data=st.none() | picked(token=["AAAA", "dmFsaWQ="], ca=["Y2E="]),
            ),
        ),
    ),
    **dict.fromkeys(
        (
            "kubernetes-service-host",
            "pod-scheduler-name",
            "pod-topology-spread-constraints",
            "projected-token-mount",
            "seccomp-profile",
            "system-components-config",
        ),
        ((PODS, POD_MANIFESTS),),
    ),
}
"""What each webhook that changes objects is asked about, by its name."""


class Subject(NamedTuple):
    """A webhook that changes objects, and the objects of one resource that it is asked about."""

    webhook: Webhook
    resource: Resource
    objects: Objects

    def __str__(self) -> str:
        return f"{self.webhook.name} {self.resource.kind}"


SUBJECTS: Final = [
    Subject(webhook, resource, objects)
    for webhook in WEBHOOKS.values()
    for resource, objects in CHANGED_BY.get(webhook.name, ())
]

ASKED: Final = [
    *((subject.webhook, subject.resource) for subject in SUBJECTS),
    *((WEBHOOKS[DELETION_PROTECTION], resource) for resource in (*DEFINITIONS, *CUSTOM_RESOURCES)),
    *(
        (webhook, kind.resource)
        for kind in KINDS.values()
        for webhook in WEBHOOKS.values()
        if webhook.path.endswith(f"-{kind.resource.kind.lower()}")
    ),
]
"""Every webhook, with each resource that it is asked about."""


@cache
def anything(resource: Resource) -> st.SearchStrategy[Any]:
    """Any JSON value, and objects of a resource with values of any type in their places, one of which is any value."""
    names = ("name", "namespace", "labels", "annotations", "ownerReferences")
    metadata = partly(**dict.fromkeys(names, OF_EACH_TYPE)) | OF_EACH_TYPE
    members = dict.fromkeys(("spec", "data", "endpoints", "status"), OF_EACH_TYPE)
    stated = {"apiVersion": st.just(resource.api_version), "kind": st.just(resource.kind)}
    return JSON | spoiled(st.fixed_dictionaries({**stated, **members, "metadata": metadata}))


def landscapes(webhook: Webhook) -> st.SearchStrategy[list[Manifest]]:
    """What stands around these objects, if the webhook looks."""
    return surroundings() if webhook.reads else st.just([])


@cache
def surroundings() -> st.SearchStrategy[list[Manifest]]:
    """A Namespace, ServiceAccounts, Nodes and autoscalers."""
    annotations = texts(**{f"{HIGH_AVAILABILITY}/zones": "b,a", f"{HIGH_AVAILABILITY}/zone-pinning": "true"})
    tolerance = st.sampled_from(
        [{}, *({f"{HIGH_AVAILABILITY}/failure-tolerance-type": type_} for type_ in ("", "node", "zone"))]
    )
    namespace = manifests(
        NAMESPACES,
        st.builds(lambda one, other: {"name": "shop", "annotations": {**one, **other}}, annotations, tolerance),
    )
    accounts = [
        {**manifest_of(SERVICE_ACCOUNTS, name), "automountServiceAccountToken": automount}
        for name, automount in (("mounting", True), ("sparing", False))
    ]
    taints = st.lists(picked(key=KEYS, value=ZONES, effect=EFFECTS), min_size=1, max_size=3)
    labels = st.sampled_from([{SYSTEM: "true"}, {SYSTEM: "true", "other": "x"}, {}])
    node_metadata = st.fixed_dictionaries({"name": st.sampled_from("nmo"), "labels": labels})
    nodes = st.lists(
        manifests(NODES, node_metadata, spec=partly(taints=taints)),
        max_size=3,
        unique_by=lambda node: node["metadata"]["name"],
    )
    scalers = st.lists(HPA_MANIFESTS | HVPA_MANIFESTS, max_size=2, unique_by=lambda scaler: scaler["kind"])
    return st.builds(lambda one, several, more: [one, *accounts, *several, *more], namespace, nodes, scalers)


def manifest_of(resource: Resource, name: str) -> dict[str, Any]:
    metadata = {"namespace": "shop", "name": name}
    return {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}


def with_unknown_fields(value: Any) -> Any:
    """A value with a field in every object that no type knows, each with a text of its own."""
    numbers = iter(range(1_000_000))

    def extended(value: Any) -> Any:
        if isinstance(value, dict):
            return {**{name: extended(member) for name, member in value.items()}, "x-new": f"unknown {next(numbers)}"}
        return [extended(item) for item in value] if isinstance(value, list) else value

    return extended(value)


def unknown_fields(value: Any, below: frozenset[str] = frozenset()) -> set[str]:
    """What `with_unknown_fields` put into a value, but for what is below members of some names."""
    if isinstance(value, dict):
        found = (unknown_fields(member, below) for name, member in value.items() if name not in below)
        return {value["x-new"]}.union(*found) if "x-new" in value else set[str]().union(*found)
    return set[str]().union(*(unknown_fields(item, below) for item in value)) if isinstance(value, list) else set()


@cache
@st.composite
def spoiled(draw: st.DrawFn, objects: Objects, values: st.SearchStrategy[Any] = JSON) -> Any:
    """Objects in which one value, at any depth, is another JSON value instead."""
    manifest = draw(objects)
    path, value = "", cast("Any", manifest)
    while isinstance(value, dict | list) and value and draw(st.booleans()):
        name = draw(st.sampled_from([*value] if isinstance(value, dict) else range(len(value))))
        path, value = f"{path}/{str(name).replace('~', '~0').replace('/', '~1')}", value[name]
    return apply_json_patch(manifest, [{"op": "replace", "path": path, "value": draw(values)}]).unwrap()
