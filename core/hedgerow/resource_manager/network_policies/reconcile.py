"""What to do so that the policies of one Service are what it asks for.

Reads the snapshot, asks `desired_network_policies`, and plans the difference to what exists.
Source: network-and-nodes §2.4, §1.2.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Final, TypeAlias

from returns import result
from returns.result import Result

from hedgerow.api.kubernetes import INGRESSES, NAMESPACES, NETWORK_POLICIES, SERVICES, namespace_key
from hedgerow.api.network_policies import correction, service_of_policy
from hedgerow.machinery.controller import Context
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import (
    Manifest,
    ObjectKey,
    annotations_of,
    key_of,
    resource_version_of,
    uid_of,
)
from hedgerow.machinery.plan import Action, Create, Delete, Event, MergePatch, Plan
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.resource_manager.network_policies.allowed_ports import namespaces_that_matter
from hedgerow.resource_manager.network_policies.desired import DesiredPolicies, RefusedPolicy, desired_network_policies
from hedgerow.resource_manager.network_policies.policies import NetworkPolicy
from hedgerow.resource_manager.network_policies.views import (
    IngressView,
    NamespaceView,
    NetworkPolicyConfig,
    ServiceView,
)

POLICIES_BY_SERVICE = Index("policies by service", NETWORK_POLICIES, service_of_policy)
MOST_EVENTS: Final = 20
"""Events about one Service in one turn; its annotations can hold thousands of errors."""
_Claim: TypeAlias = Callable[[ObjectKey], bool]
"""True for the key of a policy that a Service keeps."""


def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[NetworkPolicyConfig]) -> Plan:
    """Bring the policies of one Service to what its annotations, ports and peers ask for.

    A Service that is gone takes all its policies with it. Where its annotations cannot be understood nothing is
    touched; where single policies have to be refused the others proceed, and existing ones of those names stay.
    """
    own = {key_of(policy): policy for policy in snapshot.by_index(POLICIES_BY_SERVICE, key)}
    service = snapshot.get(SERVICES, key)
    if service is None:
        return Plan(tuple(_deletions(own, reason="service-gone")))
    decision = _asked_for(service, snapshot, context.config)
    if isinstance(decision, result.Failure):
        failures = decision.failure()
        return Plan((), _warnings(service, failures, "InvalidAnnotation"), failures)
    asked = decision.unwrap()
    others = _others_of_the_same_name(asked.policies, own, snapshot)
    desired = _without_those_of_others(key, asked, others, snapshot, context.config)
    actions = (*_writes(desired.policies, {**own, **others}), *_removals(desired, own))
    return Plan(actions, _warnings(service, desired.failures, "NetworkPolicyRefused"), desired.failures)


def _asked_for(
    service: Manifest, snapshot: Snapshot, config: NetworkPolicyConfig
) -> Result[DesiredPolicies, tuple[Failure, ...]]:
    """What the Service asks for. What is in the snapshot has been checked, by an API server or as it came in."""
    namespaces = _relevant_namespaces(service, snapshot, config)
    ingresses = snapshot.list(INGRESSES, namespace=key_of(service).namespace) if config.ingress_controller else ()
    views = map(NamespaceView.of, namespaces), map(IngressView.of, ingresses)
    return desired_network_policies(ServiceView.of(service), *views, config)


def _relevant_namespaces(service: Manifest, snapshot: Snapshot, config: NetworkPolicyConfig) -> Iterable[Manifest]:
    """Those of the Namespaces in the snapshot that the rules look at."""
    names = namespaces_that_matter(key_of(service).namespace, annotations_of(service), config)
    if names is None:
        return snapshot.list(NAMESPACES)
    found = (snapshot.get(NAMESPACES, namespace_key(name)) for name in names)
    return [namespace for namespace in found if namespace is not None]


def _others_of_the_same_name(
    policies: Iterable[NetworkPolicy], own: Mapping[ObjectKey, Manifest], snapshot: Snapshot
) -> dict[ObjectKey, Manifest]:
    """What exists under the names that a Service asks for without being its own."""
    found = ((policy.key, snapshot.get(NETWORK_POLICIES, policy.key)) for policy in policies if policy.key not in own)
    return {key: policy for key, policy in found if policy is not None}


def _without_those_of_others(
    key: ObjectKey,
    desired: DesiredPolicies,
    others: Mapping[ObjectKey, Manifest],
    snapshot: Snapshot,
    config: NetworkPolicyConfig,
) -> DesiredPolicies:
    """What a Service asks for, less what another asks for under the same name and has the better claim to.

    Two Services can come to one name. If each took the policy from the other they would never end, so the first by
    namespace and name keeps it.
    """
    refusals = []
    claims: dict[ObjectKey, _Claim] = {}
    for name, policy in others.items():
        for holder in service_of_policy(policy):
            if holder not in claims:
                claims[holder] = _claim(key, holder, snapshot, config)
            if claims[holder](name):
                problem = f"Service {holder} asks for a policy of this name as well, and keeps it"
                # Nothing tells this Service when the other lets go.
                failure = Failure(NETWORK_POLICIES, name, Problem("metadata.name", problem), retryable=True)
                refusals.append(RefusedPolicy(name, failure))
    if not refusals:
        return desired
    lost = {refusal.key for refusal in refusals}
    policies = tuple([policy for policy in desired.policies if policy.key not in lost])
    return DesiredPolicies(policies, (*desired.refused, *refusals), desired.none_because)


def _claim(key: ObjectKey, holder: ObjectKey, snapshot: Snapshot, config: NetworkPolicyConfig) -> _Claim:
    """Which policies another Service keeps: those that it may still ask for, if it comes first."""
    service = snapshot.get(SERVICES, holder) if holder < key else None
    if service is None:
        return lambda _: False
    asked = _asked_for(service, snapshot, config)
    # What cannot be understood keeps what exists.
    return (lambda _: True) if isinstance(asked, result.Failure) else asked.unwrap().keys.__contains__


def _writes(policies: Iterable[NetworkPolicy], existing: Mapping[ObjectKey, Manifest]) -> Iterator[Action]:
    for policy in policies:
        live = existing.get(policy.key)
        if live is None:
            yield Create(NETWORK_POLICIES, policy.manifest(), policy.reason)
        elif patch := correction(live, labels=policy.labels, annotations=policy.annotations, spec=policy.spec):
            yield MergePatch(NETWORK_POLICIES, policy.key, patch, policy.reason, resource_version_of(live))


def _removals(desired: DesiredPolicies, existing: Mapping[ObjectKey, Manifest]) -> Iterator[Delete]:
    """Deletions of what exists and is not desired; a policy that was refused is desired."""
    wanted = desired.keys
    superfluous = {key: policy for key, policy in existing.items() if key not in wanted}
    return _deletions(superfluous, reason=desired.none_because or "no-longer-asked-for")


def _deletions(policies: Mapping[ObjectKey, Manifest], *, reason: str) -> Iterator[Delete]:
    for key in sorted(policies):
        policy = policies[key]
        yield Delete(NETWORK_POLICIES, key, reason, uid_of(policy), resource_version_of(policy))


def _warnings(service: Manifest, failures: Iterable[Failure], reason: str) -> tuple[Event, ...]:
    return tuple(
        Event(SERVICES, key_of(service), uid_of(service), "Warning", reason, _note(failure))
        for failure in islice(failures, MOST_EVENTS)
    )


def _note(failure: Failure) -> str:
    """A failure as an event about the Service says it, which need not name the Service once more."""
    return str(failure.problem if failure.resource == SERVICES else failure)
