"""The Service NetworkPolicy controller: what it watches, which Services a change concerns, and what it writes.

Source: network-and-nodes §1.2, §2.2, §2.4, and the update-predicate examples of §2.9.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any, Final

from returns import result
from returns.result import Result

from hedgerow.api.kubernetes import INGRESSES, METADATA_NAME, NAMESPACES, NETWORK_POLICIES, SERVICES, namespace_key
from hedgerow.api.network_policies import (
    FROM_WORLD_TO_PORTS,
    NAMESPACE_ALIAS,
    NAMESPACE_SELECTORS,
    allowed_ports_alias,
    correction,
    identifying_metadata,
    service_of_policy,
    transform_policy,
)
from hedgerow.machinery.clusters import Permission
from hedgerow.machinery.controller import Context, Controller, Watch, creation_deletion_or, own_key
from hedgerow.machinery.deletion_guard import ALLOW_DELETIONS, transform_allowance
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import (
    Manifest,
    ObjectKey,
    annotations_of,
    is_terminating,
    key_of,
    labels_of,
    resource_version_of,
    uid_of,
)
from hedgerow.machinery.plan import Action, Create, Delete, Event, MergePatch, Plan
from hedgerow.machinery.reading import keeping
from hedgerow.machinery.selectors import matches_any
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.resource_manager.network_policies.allowed_ports import (
    namespaces_that_matter,
    parse_namespace_selectors,
    services_of_ingress,
)
from hedgerow.resource_manager.network_policies.desired import DesiredPolicies, RefusedPolicy, desired_network_policies
from hedgerow.resource_manager.network_policies.policies import NetworkPolicy
from hedgerow.resource_manager.network_policies.views import (
    IngressView,
    NamespaceView,
    NetworkPolicyConfig,
    ServiceView,
    shape_problems,
)

_NOTHING: Mapping[str, Any] = {}
_SINGLE_ANNOTATIONS: Final = (NAMESPACE_SELECTORS, NAMESPACE_ALIAS, FROM_WORLD_TO_PORTS)
DEFAULT_CONCURRENCY: Final = 5
MOST_EVENTS: Final = 20
"""Events about one Service in one turn; its annotations can hold thousands of errors."""
POLICIES_BY_SERVICE: Final = Index("policies by service", NETWORK_POLICIES, service_of_policy)
_SELECTING: Final = Index(
    "services that select namespaces",
    SERVICES,
    lambda service: (True,) if NAMESPACE_SELECTORS in annotations_of(service) else (),
)


def network_policy_controller(
    config: NetworkPolicyConfig, concurrency: int = DEFAULT_CONCURRENCY
) -> Controller[NetworkPolicyConfig]:
    """The controller for a configuration; without an ingress controller it does not watch Ingresses."""
    enqueue = partial(_concerned_services, config=config)
    checks = {resource: partial(shape_problems, resource) for resource in (SERVICES, NAMESPACES, INGRESSES)}
    changed = creation_deletion_or(service_changed)
    watches: tuple[Watch, ...] = (
        Watch(SERVICES, transform_service, own_key, changed, problems=checks[SERVICES]),
        Watch(NETWORK_POLICIES, transform_policy, lambda policy, _: service_of_policy(policy)),
        Watch(NAMESPACES, transform_namespace, enqueue, metadata_only=True, problems=checks[NAMESPACES]),
    )
    if config.ingress_controller:
        changed = creation_deletion_or(ingress_changed)
        watches = (
            *watches,
            Watch(
                INGRESSES,
                transform_ingress,
                lambda ingress, _: services_of_ingress(ingress),
                changed,
                problems=checks[INGRESSES],
            ),
        )
    return Controller(
        name="networkpolicy",
        primary=SERVICES,
        watches=watches,
        indexes=(POLICIES_BY_SERVICE, _SELECTING),
        owned=POLICIES_BY_SERVICE,
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        permissions=(Permission.of(NETWORK_POLICIES, "create", "patch", "delete"),),
    )


def _concerned_services(namespace: Manifest, snapshot: Snapshot, config: NetworkPolicyConfig) -> Iterator[ObjectKey]:
    """The Services whose policies depend on a Namespace: its own, and those that select it.

    The ingress controller's Namespace concerns every Service. If a Namespace allows held deletions, it also concerns
    its deleted Services that still own policies.
    """
    view, controller = NamespaceView.of(namespace), config.ingress_controller
    concerns_all = controller is not None and controller.namespace == view.name
    yield from map(key_of, snapshot.list(SERVICES, namespace=None if concerns_all else view.name))
    for service in snapshot.by_index(_SELECTING, True):  # noqa: FBT003 -- a value of the index
        selectors = parse_namespace_selectors(annotations_of(service)[NAMESPACE_SELECTORS]).value_or(())
        if matches_any(selectors, view.labels):
            yield key_of(service)
    if transform_allowance(namespace):
        owners = {owner for policy in snapshot.list(NETWORK_POLICIES) for owner in service_of_policy(policy)}
        yield from (owner for owner in owners if owner.namespace == view.name)


def service_changed(old: Manifest, new: Manifest) -> bool:
    """True if an update of a Service may change its policies.

    An absent annotation equals an empty one, except for the set of allowed-ports annotations. The annotation that
    allows held deletions counts as one of ours.
    """
    before, after = annotations_of(old), annotations_of(new)
    return (
        (is_terminating(new) and not is_terminating(old))
        or any(_spec_of(old, field) != _spec_of(new, field) for field in ("selector", "ports"))
        or any(before.get(name, "") != after.get(name, "") for name in (*_SINGLE_ANNOTATIONS, ALLOW_DELETIONS))
        or _allowed_ports(before) != _allowed_ports(after)
    )


def _spec_of(manifest: Manifest, field: str) -> object:
    return (manifest.get("spec") or _NOTHING).get(field) or None


def _allowed_ports(annotations: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in annotations.items() if allowed_ports_alias(name)}


def ingress_changed(old: Manifest, new: Manifest) -> bool:
    """True if an update of an Ingress may change which Services it leads to."""
    return _spec_of(old, "rules") != _spec_of(new, "rules")


def transform_service(service: Manifest) -> Manifest:
    """Identity, our annotations, selector and ports."""
    annotations = annotations_of(service)
    ours = {name: annotations[name] for name in annotations if name in _SINGLE_ANNOTATIONS or allowed_ports_alias(name)}
    spec = service.get("spec") or _NOTHING
    if isinstance(spec, Mapping):
        spec = {name: spec[name] for name in ("selector", "ports") if spec.get(name)}
    metadata = {**identifying_metadata(service), "annotations": ours | transform_allowance(service)}
    return {"metadata": metadata, "spec": spec}


def transform_namespace(namespace: Manifest) -> Manifest:
    """Identity, what the deletion guard reads, and all labels: any may be selected by."""
    metadata = identifying_metadata(namespace)
    metadata["labels"] = {**labels_of(namespace), METADATA_NAME: metadata.get("name", "")}
    if allowance := transform_allowance(namespace):
        metadata["annotations"] = allowance
    return {"metadata": metadata}


transform_ingress: Final = keeping(
    *("metadata.name", "metadata.namespace", "metadata.uid", "metadata.resourceVersion"),
    *("metadata.deletionTimestamp", "spec.rules"),
)


def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[NetworkPolicyConfig]) -> Plan:
    """Bring the policies of one Service to what its annotations, ports and peers ask for.

    A Service that is gone takes all its policies with it. If its annotations cannot be understood, nothing is touched.
    If single policies are refused, the others proceed, and existing ones of those names stay.
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
    names = [policy.key for policy in asked.policies if policy.key not in own]
    others = {name: policy for name in names if (policy := snapshot.get(NETWORK_POLICIES, name)) is not None}
    desired = _without_those_of_others(key, asked, others, snapshot, context.config)
    wanted = desired.keys
    superfluous = {name: policy for name, policy in own.items() if name not in wanted}
    removals = _deletions(superfluous, reason=desired.none_because or "no-longer-asked-for")
    actions = (*_writes(desired.policies, {**own, **others}), *removals)
    return Plan(actions, _warnings(service, desired.failures, "NetworkPolicyRefused"), desired.failures)


def _asked_for(
    service: Manifest, snapshot: Snapshot, config: NetworkPolicyConfig
) -> Result[DesiredPolicies, tuple[Failure, ...]]:
    """What the Service asks for. Objects of the snapshot have been checked, by an API server or as they came in."""
    view = ServiceView.of(service)
    names = namespaces_that_matter(view, config)
    if names is None:
        namespaces: Iterable[Manifest] = snapshot.list(NAMESPACES)
    else:
        namespaces = filter(None, (snapshot.get(NAMESPACES, namespace_key(name)) for name in names))
    ingresses = snapshot.list(INGRESSES, namespace=view.key.namespace) if config.ingress_controller else ()
    return desired_network_policies(view, map(NamespaceView.of, namespaces), map(IngressView.of, ingresses), config)


def _without_those_of_others(
    key: ObjectKey,
    desired: DesiredPolicies,
    others: Mapping[ObjectKey, Manifest],
    snapshot: Snapshot,
    config: NetworkPolicyConfig,
) -> DesiredPolicies:
    """The desired policies, less those of a name that the policy of another Service has, and keeps.

    Two Services can ask for one name. If each took the policy from the other they would never end, so the first by
    namespace and name keeps it.
    """
    refusals = []
    claims: dict[ObjectKey, Container[ObjectKey] | None] = {}
    for name, policy in others.items():
        for holder in service_of_policy(policy):
            if holder not in claims:
                claims[holder] = _claimed(key, holder, snapshot, config)
            claimed = claims[holder]
            if claimed is None or name in claimed:
                problem = f"Service {holder} asks for a policy of this name as well, and keeps it"
                # Nothing tells this Service when the other lets go.
                failure = Failure(NETWORK_POLICIES, name, Problem("metadata.name", problem), retryable=True)
                refusals.append(RefusedPolicy(name, failure))
    if not refusals:
        return desired
    lost = {refusal.key for refusal in refusals}
    policies = tuple([policy for policy in desired.policies if policy.key not in lost])
    return DesiredPolicies(policies, (*desired.refused, *refusals), desired.none_because)


def _claimed(
    key: ObjectKey, holder: ObjectKey, snapshot: Snapshot, config: NetworkPolicyConfig
) -> Container[ObjectKey] | None:
    """The policies that another Service keeps, if it comes first; none: all, as it cannot be understood."""
    service = snapshot.get(SERVICES, holder) if holder < key else None
    if service is None:
        return ()
    asked = _asked_for(service, snapshot, config)
    return None if isinstance(asked, result.Failure) else asked.unwrap().keys


def _writes(policies: Iterable[NetworkPolicy], existing: Mapping[ObjectKey, Manifest]) -> Iterator[Action]:
    for policy in policies:
        live = existing.get(policy.key)
        if live is None:
            yield Create(NETWORK_POLICIES, policy.manifest(), policy.reason)
        elif patch := correction(live, labels=policy.labels, annotations=policy.annotations, spec=policy.spec):
            yield MergePatch(NETWORK_POLICIES, policy.key, patch, policy.reason, resource_version_of(live))


def _deletions(policies: Mapping[ObjectKey, Manifest], *, reason: str) -> Iterator[Delete]:
    for key in sorted(policies):
        policy = policies[key]
        yield Delete(NETWORK_POLICIES, key, reason, uid_of(policy), resource_version_of(policy))


def _warnings(service: Manifest, failures: Iterable[Failure], reason: str) -> tuple[Event, ...]:
    """Warnings about a Service; a failure of the Service itself need not name it."""
    shown = islice(failures, MOST_EVENTS)
    notes = [str(failure.problem if failure.resource == SERVICES else failure) for failure in shown]
    return tuple(Event(SERVICES, key_of(service), uid_of(service), "Warning", reason, note) for note in notes)
