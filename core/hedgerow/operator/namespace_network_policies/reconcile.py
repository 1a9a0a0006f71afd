"""What to do so that one namespace has the policies that it is to have.

Reads the snapshot, asks `decide`, and plans the difference to what exists. A policy of one of the seven names that does
not carry our description was made by somebody else: it is neither changed nor deleted, and an event says so.

Source: network-and-nodes §3.8, §1.2; decision D-10.
"""

from collections.abc import Iterator, Mapping

from hedgerow.api.gardener import CLUSTERS
from hedgerow.api.kubernetes import ENDPOINTS, NAMESPACES, NETWORK_POLICIES, namespace_key
from hedgerow.api.network_policies import POLICY_DESCRIPTION
from hedgerow.machinery.controller import Context
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
from hedgerow.machinery.plan import Action, Create, Event, MergePatch, Plan
from hedgerow.machinery.plan import Delete as Deletion
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.network_policies import correction
from hedgerow.operator.namespace_network_policies.policies import NAMES, Apply, Decision, Delete, Failed, decide
from hedgerow.operator.namespace_network_policies.views import (
    API_SERVER,
    NamespaceFacts,
    NamespacePolicyConfig,
    NamespaceView,
    ShootView,
    subsets_of,
)


def is_ours(policy: Manifest) -> bool:
    """Whether a policy has one of our names and was made by us, or by who did this work before us."""
    return key_of(policy).name in NAMES and POLICY_DESCRIPTION in annotations_of(policy)


def namespace_of_own_policy(policy: Manifest) -> tuple[ObjectKey, ...]:
    """The key of the Namespace that a policy of ours belongs to; none of another policy."""
    return (namespace_key(key_of(policy).namespace),) if is_ours(policy) else ()


OWN_POLICIES = Index("general policies by namespace", NETWORK_POLICIES, namespace_of_own_policy)


def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[NamespacePolicyConfig]) -> Plan:
    """Bring the policies of one namespace to what its labels ask for.

    What one policy lacks keeps no other from being applied. With a namespace that is gone, or going, its policies go.
    """
    namespace = snapshot.get(NAMESPACES, key)
    if namespace is None:
        return Plan()
    decisions = decide(_facts(namespace, snapshot, context.config))
    existing = {name: snapshot.get(NETWORK_POLICIES, ObjectKey(key.name, name)) for name in decisions}
    foreign = {
        name: policy
        for name, policy in existing.items()
        if policy is not None and not is_ours(policy) and isinstance(decisions[name], (Apply, Delete))
    }
    ours = {name: decision for name, decision in decisions.items() if name not in foreign}
    return Plan(
        tuple(_actions(ours, existing)),
        tuple(_warning(policy) for policy in foreign.values()),
        tuple(_failure(each) for each in decisions.values() if isinstance(each, Failed)),
    )


def _facts(namespace: Manifest, snapshot: Snapshot, config: NamespacePolicyConfig) -> NamespaceFacts:
    view = NamespaceView.of(namespace)
    endpoints = snapshot.get(ENDPOINTS, API_SERVER)
    cluster = snapshot.get(CLUSTERS, ObjectKey("", view.name))
    return NamespaceFacts(
        view,
        config,
        subsets_of(endpoints) if endpoints is not None else None,
        ShootView.of(cluster) if cluster is not None else None,
    )


def _actions(decisions: Mapping[str, Decision], existing: Mapping[str, Manifest | None]) -> Iterator[Action]:
    for name, decision in decisions.items():
        live = existing[name]
        match decision:
            case Apply(policy) if live is None:
                yield Create(NETWORK_POLICIES, policy.manifest(), name)
            case Apply(policy) if live is not None:
                if patch := correction(live, labels={}, annotations=policy.annotations, spec=policy.spec):
                    yield MergePatch(NETWORK_POLICIES, policy.key, patch, name, resource_version_of(live))
            case Delete(key) if live is not None and not is_terminating(live):
                version = resource_version_of(live)
                yield Deletion(NETWORK_POLICIES, key, "namespace-not-selected", uid_of(live), version)


def _warning(policy: Manifest) -> Event:
    note = (
        "The policy has a name that is managed here, but not the annotation "
        f"{POLICY_DESCRIPTION}: it was made by somebody else and is left as it is."
    )
    return Event(NETWORK_POLICIES, key_of(policy), uid_of(policy), "Warning", "ForeignNetworkPolicy", note)


def _failure(failed: Failed) -> Failure:
    problem, retryable = failed.problem
    return Failure(NETWORK_POLICIES, failed.key, Problem("spec.egress", problem), retryable=retryable)
