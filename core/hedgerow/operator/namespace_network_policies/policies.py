"""The seven policies: their namespaces, the pods that they select, their rules, and what to do about each.

Decides from the facts about one namespace alone, and knows nothing of what exists already.

Source: network-and-nodes §3.4, §3.5, §3.8, §3.10.
"""

from collections.abc import Callable, Iterable
from typing import Final, NamedTuple, TypeAlias

from hedgerow.api.gardener import EXPOSURE_CLASS_HANDLER, ROLE
from hedgerow.api.kubernetes import METADATA_NAME, NETWORK_POLICIES
from hedgerow.api.network_policies import ALLOWED, GARDENER_DOMAIN, PolicySpec
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.selectors import Labels, LabelSelector, Operator, Requirement, matches_any
from hedgerow.operator.namespace_network_policies.egress import (
    Rules,
    UnknownRangeError,
    to_blocked_cidrs,
    to_dns,
    to_private_networks,
    to_public_networks,
    to_runtime_api_server,
    to_shoot_networks,
)
from hedgerow.operator.namespace_network_policies.views import NamespaceFacts, NamespaceView

_GARDEN: Final = LabelSelector(((METADATA_NAME, "garden"),))
_EXPOSURE_CLASS: Final = LabelSelector((), (Requirement(EXPOSURE_CLASS_HANDLER, Operator.EXISTS),))
_ISTIO_SYSTEM, _ISTIO_INGRESS, _SHOOT, _EXTENSION = (
    LabelSelector(((ROLE, role),)) for role in ("istio-system", "istio-ingress", "shoot", "extension")
)
_WORKLOADS: Final = (_GARDEN, _SHOOT, _EXTENSION)
_EVERYWHERE: Final = (*_WORKLOADS, _ISTIO_SYSTEM, _ISTIO_INGRESS, _EXPOSURE_CLASS)
_DENY_ALL: Final = "deny-all"
_TO_API_SERVER: Final = "allow-to-runtime-apiserver"


class GeneralPolicy(NamedTuple):
    """One of the policies, in any namespace."""

    name: str
    """Behind `allow-` it is the label of the pods that the policy is for; `deny-all` is for all pods."""
    selectors: tuple[LabelSelector, ...]
    """Of the namespaces that it belongs to; one is enough."""
    rules: Callable[[NamespaceFacts], Rules]
    purpose: str
    """The end of its description."""
    additional: bool = True
    """True if it belongs to the namespaces of the additional selectors, too."""

    def belongs_to(self, labels: Labels, additional: Iterable[LabelSelector]) -> bool:
        """True if it belongs to namespaces with these labels."""
        return matches_any(self.selectors, labels) or (self.additional and matches_any(additional, labels))


GENERAL_POLICIES: Final = (
    GeneralPolicy(
        _DENY_ALL,
        _EVERYWHERE,
        lambda _facts: (),
        "Denies all ingress and egress of all pods in this namespace. Other policies open what pods are labeled for.",
    ),
    GeneralPolicy(
        _TO_API_SERVER,
        (*_WORKLOADS, _ISTIO_SYSTEM),
        to_runtime_api_server,
        "to the API server of the cluster in which they run.",
    ),
    GeneralPolicy(
        "allow-to-public-networks",
        _WORKLOADS,
        to_public_networks,
        "to all addresses of IPv4 but private networks, those of carriers, and what this cluster blocks.",
    ),
    GeneralPolicy(
        "allow-to-private-networks",
        _WORKLOADS,
        to_private_networks,
        "to private networks and those of carriers, but not to the networks of this cluster or of the shoot, "
        "nor to what this cluster blocks.",
    ),
    GeneralPolicy(
        "allow-to-blocked-cidrs",
        _WORKLOADS,
        to_blocked_cidrs,
        "to the addresses that this cluster blocks, such as those of metadata services.",
    ),
    GeneralPolicy("allow-to-dns", _EVERYWHERE, to_dns, "to the DNS servers of the cluster in which they run."),
    GeneralPolicy(
        "allow-to-shoot-networks",
        (_SHOOT,),
        to_shoot_networks,
        "to the networks of the shoot: nodes, pods and Services, but not to what this cluster blocks.",
        additional=False,
    ),
)
"""In the order in which they are applied."""

NAMES: Final = frozenset(policy.name for policy in GENERAL_POLICIES)


def policies_for_labels(labels: Labels, additional: tuple[LabelSelector, ...] = ()) -> tuple[str, ...]:
    """The names of the policies that a namespace with these labels gets, in their order."""
    return tuple(policy.name for policy in GENERAL_POLICIES if policy.belongs_to(labels, additional))


def relevant_namespaces(
    namespaces: Iterable[NamespaceView], additional: tuple[LabelSelector, ...] = ()
) -> tuple[str, ...]:
    """The names of the namespaces that get any policy, each once and sorted."""
    return tuple(sorted({each.name for each in namespaces if policies_for_labels(each.labels, additional)}))


class Apply(NamedTuple):
    """The policy has to exist, exactly so."""

    key: ObjectKey
    description: str
    """For people; by its annotation the policy is also known to be ours."""
    spec: PolicySpec


class Delete(NamedTuple):
    """The policy must not exist: it does not belong to the namespace."""

    key: ObjectKey


class Keep(NamedTuple):
    """The policy stays as it is, or away."""

    reason: str


PolicyDecision: TypeAlias = Apply | Delete | Keep | Failure
"""A failure: the policy has to exist, but where it leads is unknown; an existing one stays."""


def decide(facts: NamespaceFacts) -> dict[str, PolicyDecision]:
    """What to do about each policy, by name and in order; nothing in a namespace that is not active."""
    is_active = facts.namespace.phase == "Active" and not facts.namespace.deleting
    return {policy.name: _decision(policy, facts) for policy in GENERAL_POLICIES if is_active}


def _decision(policy: GeneralPolicy, facts: NamespaceFacts) -> PolicyDecision:
    config, key = facts.config, ObjectKey(facts.namespace.name, policy.name)
    if not policy.belongs_to(facts.namespace.labels, config.additional_selectors):
        return Delete(key)
    if policy.name == _TO_API_SERVER and config.resolved and not config.resolved.addresses:
        # Rules without addresses that are merely not known yet would cut off pods that are at work.
        return Keep("api-server-not-resolved")
    try:
        rules = policy.rules(facts)
    except UnknownRangeError as error:
        return Failure(NETWORK_POLICIES, key, Problem("spec.egress", str(error)), retryable=error.retryable)
    if policy.name == _DENY_ALL:
        return Apply(key, policy.purpose, {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]})
    label = f"{GARDENER_DOMAIN}/{policy.name.removeprefix('allow-')}"
    spec: PolicySpec = {"podSelector": {"matchLabels": {label: ALLOWED}}, "policyTypes": ["Egress"]}
    if rules:
        spec = {**spec, "egress": [*rules]}
    return Apply(key, f"Allows egress from pods labeled with {label}={ALLOWED} {policy.purpose}", spec)
