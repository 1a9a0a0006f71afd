"""The Namespace NetworkPolicy controller: what it watches, what it writes, and which Garden counts.

A policy of one of the seven names without our description was made by somebody else: it is neither changed nor deleted,
and an event says so.

Source: network-and-nodes §1.2, §3.2, §3.3, §3.8, §4; decision D-10.
"""

from typing import Final

from returns import result
from returns.result import Result, Success

from hedgerow.api.gardener import CLUSTERS, GARDENS
from hedgerow.api.kubernetes import ENDPOINTS, NAMESPACES, NETWORK_POLICIES, namespace_key
from hedgerow.api.network_policies import (
    IDENTITY,
    POLICY_DESCRIPTION,
    correction,
    policy_manifest,
    transform_policy,
)
from hedgerow.machinery import plan
from hedgerow.machinery.clusters import Permission
from hedgerow.machinery.controller import Change, Context, Controller, Watch, own_key
from hedgerow.machinery.deletion_guard import ALLOW_DELETIONS
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import (
    Manifest,
    ObjectKey,
    annotations_of,
    is_terminating,
    key_of,
    resource_version_of,
    uid_of,
)
from hedgerow.machinery.reading import UnreadableError, keeping, list_at, text_at
from hedgerow.machinery.selectors import LabelSelector, field_query
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.operator.namespace_network_policies.policies import (
    NAMES,
    Apply,
    Delete,
    decide,
    relevant_namespaces,
)
from hedgerow.operator.namespace_network_policies.views import (
    API_SERVER,
    NamespaceFacts,
    NamespacePolicyConfig,
    NamespaceView,
    RuntimeNetworks,
    ShootNetworks,
    ShootView,
    subsets_of,
)

DEFAULT_CONCURRENCY: Final = 5
_API_SERVER_ALONE: Final = field_query({"metadata.namespace": API_SERVER.namespace, "metadata.name": API_SERVER.name})
_NETWORKING: Final = ("spec", "runtimeCluster", "networking")


def namespace_network_policy_controller(
    config: NamespacePolicyConfig, concurrency: int = DEFAULT_CONCURRENCY
) -> Controller[NamespacePolicyConfig]:
    """The controller for a configuration.

    While it runs its networks and the resolved addresses may change. The additional selectors stay: they tell which
    namespaces a change of the API server's endpoints concerns.
    """

    def relevant(_endpoints: Manifest, snapshot: Snapshot) -> list[ObjectKey]:
        views = map(NamespaceView.of, snapshot.list(NAMESPACES))
        return [namespace_key(name) for name in relevant_namespaces(views, config.additional_selectors)]

    return Controller(
        name="networkpolicy",
        primary=NAMESPACES,
        watches=(
            # With a Namespace that is gone everything in it is.
            Watch(NAMESPACES, transform_namespace, own_key, lambda change: change.new is not None),
            Watch(ENDPOINTS, transform_endpoints, relevant, field_selector=_API_SERVER_ALONE),
            Watch(NETWORK_POLICIES, transform_policy, namespace_of_policy),
            Watch(CLUSTERS, transform_cluster, own_key, cluster_changed, may_be_absent=True),
        ),
        indexes=(OWN_POLICIES,),
        owned=OWN_POLICIES,
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        permissions=(Permission.of(NETWORK_POLICIES, "create", "patch", "delete"),),
    )


def is_ours(policy: Manifest) -> bool:
    """True if a policy has one of our names and our description; Gardener's operator writes the same ones."""
    return key_of(policy).name in NAMES and POLICY_DESCRIPTION in annotations_of(policy)


OWN_POLICIES: Final = Index(
    "general policies by namespace",
    NETWORK_POLICIES,
    lambda policy: (namespace_key(key_of(policy).namespace),) if is_ours(policy) else (),
)


def cluster_changed(change: Change) -> bool:
    """True if a Cluster was updated so that networks of its shoot differ."""
    return change.old is not None and change.new is not None and cluster_networks_changed(change.old, change.new)


def cluster_networks_changed(old: Manifest, new: Manifest) -> bool:
    """True if an update of a Cluster changes networks of its shoot that matter.

    Pods and nodes matter only where there are workers. Shoots that cannot be read, and one that no longer says anything
    about its networks, change nothing.
    """
    before, after = ShootView.of(old), ShootView.of(new)
    if before is None or after is None or after.networking is None:
        return False
    if after.has_workers:
        return before.networks != after.networks
    return before.networking is None or before.networking.services != after.networking.services


def namespace_of_policy(policy: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
    """The namespace of a policy with one of the seven names."""
    key = key_of(policy)
    return (namespace_key(key.namespace),) if key.name in NAMES else ()


transform_namespace: Final = keeping(*IDENTITY, "metadata.labels", "status.phase", annotations=(ALLOW_DELETIONS,))
transform_endpoints: Final = keeping(*IDENTITY, "subsets")
transform_cluster: Final = keeping(
    *IDENTITY,
    "spec.shoot.apiVersion",
    "spec.shoot.kind",
    *(f"spec.shoot.spec.networking.{name}" for name in ShootNetworks._fields),
    "spec.shoot.spec.provider.workers.name",
)


def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[NamespacePolicyConfig]) -> plan.Plan:
    """Bring the policies of one namespace to what its labels ask for.

    A failure of one policy keeps no other from being applied. With a namespace that is gone, or going, its policies go.
    """
    namespace = snapshot.get(NAMESPACES, key)
    if namespace is None:
        return plan.Plan()
    actions, events, failures = list[plan.Action](), list[plan.Event](), list[Failure]()
    for name, decision in decide(_facts(namespace, snapshot, context.config)).items():
        live = snapshot.get(NETWORK_POLICIES, ObjectKey(key.name, name))
        if isinstance(decision, Failure):
            failures.append(decision)
        elif isinstance(decision, Apply | Delete):
            if live is not None and not is_ours(live):
                events.append(_warning(live))
            elif action := _action(decision, live):
                actions.append(action)
    return plan.Plan(tuple(actions), tuple(events), tuple(failures))


def _facts(namespace: Manifest, snapshot: Snapshot, config: NamespacePolicyConfig) -> NamespaceFacts:
    view, endpoints = NamespaceView.of(namespace), snapshot.get(ENDPOINTS, API_SERVER)
    cluster = snapshot.get(CLUSTERS, ObjectKey("", view.name))
    subsets = None if endpoints is None else subsets_of(endpoints)
    return NamespaceFacts(view, config, subsets, None if cluster is None else ShootView.of(cluster))


def _action(decision: Apply | Delete, live: Manifest | None) -> plan.Action | None:
    key = decision.key
    if isinstance(decision, Apply):
        annotations = {POLICY_DESCRIPTION: decision.description}
        if live is None:
            return plan.Create(NETWORK_POLICIES, policy_manifest(key, decision.spec, annotations), key.name)
        patch = correction(live, labels={}, annotations=annotations, spec=decision.spec)
        return plan.MergePatch(NETWORK_POLICIES, key, patch, key.name, resource_version_of(live)) if patch else None
    if live is None or is_terminating(live):
        return None
    version = resource_version_of(live)
    return plan.Delete(NETWORK_POLICIES, key, "namespace-not-selected", uid_of(live), version)


def _warning(policy: Manifest) -> plan.Event:
    note = (
        "The policy has a name that is managed here, but not the annotation "
        f"{POLICY_DESCRIPTION}: it was made by somebody else and is left as it is."
    )
    return plan.Event(NETWORK_POLICIES, key_of(policy), uid_of(policy), "Warning", "ForeignNetworkPolicy", note)


def register(
    garden: Manifest | None, additional_selectors: tuple[LabelSelector, ...] = (), *, already: bool = False
) -> Result[NamespacePolicyConfig | None, Failure]:
    """The configuration to start the controller with; none if there is nothing to start; or why it cannot start.

    It starts once in a process, unless the Garden is gone again. One that is being deleted still counts.
    """
    if already or garden is None:
        return Success(None)
    try:
        pods, services, nodes = (text_at(garden, *_NETWORKING, name) for name in ("pods", "services", "nodes"))
        blocked = list_at(garden, *_NETWORKING, "blockCIDRs")
    except UnreadableError as error:
        return result.Failure(Failure(GARDENS, key_of(garden), error.problem))
    if not pods or not services:
        missing = ".".join((*_NETWORKING, "services" if pods else "pods"))
        return result.Failure(Failure(GARDENS, key_of(garden), Problem(missing, "is missing")))
    networks = RuntimeNetworks(pods, services, nodes or None, tuple(map(str, blocked)))
    return Success(NamespacePolicyConfig(networks, additional_selectors))
