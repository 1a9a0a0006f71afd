"""The seven policies: where they belong, whom they select, which rules they have, what is to become of each.

Decides from the facts about one namespace alone, and knows nothing of what exists already.

Source: network-and-nodes §3.4, §3.5, §3.8, §3.10.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, TypeAlias

from hedgerow.api.gardener import EXPOSURE_CLASS_HANDLER, ROLE
from hedgerow.api.kubernetes import METADATA_NAME
from hedgerow.api.network_policies import ALLOWED, GARDENER_DOMAIN, POLICY_DESCRIPTION
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.selectors import Labels, LabelSelector, Operator, Requirement, matches_any
from hedgerow.network_policies import PolicySpec, policy_manifest
from hedgerow.operator.namespace_network_policies.egress import (
    EgressProblem,
    Rules,
    egress_rules,
    to_blocked_cidrs,
    to_dns,
    to_private_networks,
    to_public_networks,
    to_runtime_api_server,
    to_shoot_networks,
)
from hedgerow.operator.namespace_network_policies.views import NamespaceFacts, NamespaceView

NOT_RESOLVED: Final = "api-server-not-resolved"
_GARDEN: Final = LabelSelector(((METADATA_NAME, "garden"),))
_EXPOSURE_CLASS: Final = LabelSelector((), (Requirement(EXPOSURE_CLASS_HANDLER, Operator.EXISTS),))
_TO_API_SERVER: Final = "allow-to-runtime-apiserver"


class NamespacePolicy(NamedTuple):
    """One of the policies as it is to be in one namespace."""

    key: ObjectKey
    description: str
    spec: PolicySpec

    @property
    def annotations(self) -> dict[str, str]:
        """The description for people, by which the policy is known to be ours as well."""
        return {POLICY_DESCRIPTION: self.description}

    def manifest(self) -> dict[str, Any]:
        """The object to send to an API server."""
        return policy_manifest(self.key, self.spec, self.annotations)


class Reach(NamedTuple):
    """The namespaces that one policy belongs to."""

    selectors: tuple[LabelSelector, ...]
    """One of them is enough."""
    additional: bool = True
    """Whether the additional selectors of the configuration count as well."""

    def includes(self, labels: Labels, additional: Iterable[LabelSelector]) -> bool:
        """Whether a namespace with these labels is among them."""
        return matches_any(self.selectors, labels) or (self.additional and matches_any(additional, labels))


class General(NamedTuple):
    """One of the policies as it is in general."""

    name: str
    reach: Reach
    pod_label: str
    """What pods are labelled with that it is for, without the domain; empty: it is for all pods."""
    purpose: str
    """What it allows them, as its description says it."""
    rules: Callable[[NamespaceFacts], Rules]

    def in_namespace(self, namespace: str, rules: Rules) -> NamespacePolicy:
        """The policy with these rules; without any, the pods that it selects may connect to nothing because of it."""
        key = ObjectKey(namespace, self.name)
        if not self.pod_label:
            return NamespacePolicy(key, self.purpose, {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]})
        label = f"{GARDENER_DOMAIN}/{self.pod_label}"
        spec: PolicySpec = {"podSelector": {"matchLabels": {label: ALLOWED}}, "policyTypes": ["Egress"]}
        if rules:
            spec = {**spec, "egress": [*rules]}
        return NamespacePolicy(key, f"Allows egress from pods labeled with {label}={ALLOWED} {self.purpose}", spec)


def _role(value: str) -> LabelSelector:
    return LabelSelector(((ROLE, value),))


_ISTIO_SYSTEM: Final = _role("istio-system")
_SHOOT: Final = _role("shoot")
_EXTENSION: Final = _role("extension")

_EVERYWHERE: Final = Reach((_GARDEN, _ISTIO_SYSTEM, _role("istio-ingress"), _EXPOSURE_CLASS, _SHOOT, _EXTENSION))
_WORKLOADS: Final = Reach((_GARDEN, _SHOOT, _EXTENSION))

GENERAL_POLICIES: Final = (
    General(
        "deny-all",
        _EVERYWHERE,
        "",
        "Denies all ingress and egress of all pods in this namespace. Other policies open what pods are labeled for.",
        lambda _facts: (),
    ),
    General(
        _TO_API_SERVER,
        Reach((_GARDEN, _ISTIO_SYSTEM, _SHOOT, _EXTENSION)),
        "to-runtime-apiserver",
        "to the API server of the cluster in which they run.",
        to_runtime_api_server,
    ),
    General(
        "allow-to-public-networks",
        _WORKLOADS,
        "to-public-networks",
        "to all addresses of IPv4 but private networks, those of carriers, and what this cluster blocks.",
        to_public_networks,
    ),
    General(
        "allow-to-private-networks",
        _WORKLOADS,
        "to-private-networks",
        "to private networks and those of carriers, but not to the networks of this cluster or of the shoot, "
        "nor to what this cluster blocks.",
        to_private_networks,
    ),
    General(
        "allow-to-blocked-cidrs",
        _WORKLOADS,
        "to-blocked-cidrs",
        "to the addresses that this cluster blocks, such as those of metadata services.",
        to_blocked_cidrs,
    ),
    General("allow-to-dns", _EVERYWHERE, "to-dns", "to the DNS servers of the cluster in which they run.", to_dns),
    General(
        "allow-to-shoot-networks",
        Reach((_SHOOT,), additional=False),
        "to-shoot-networks",
        "to the networks of the shoot: nodes, pods and Services, but not to what this cluster blocks.",
        to_shoot_networks,
    ),
)
"""In the order in which they are looked at."""

NAMES: Final = frozenset(general.name for general in GENERAL_POLICIES)


def policies_for_labels(labels: Labels, additional: tuple[LabelSelector, ...] = ()) -> tuple[str, ...]:
    """The names of the policies that a namespace with these labels gets, in their order."""
    return tuple(general.name for general in GENERAL_POLICIES if general.reach.includes(labels, additional))


def relevant_namespaces(
    namespaces: Iterable[NamespaceView], additional: tuple[LabelSelector, ...] = ()
) -> tuple[str, ...]:
    """The names of those namespaces that get any policy at all, each once and sorted."""
    return tuple(sorted({each.name for each in namespaces if policies_for_labels(each.labels, additional)}))


class Apply(NamedTuple):
    """The policy is to exist, and to be just so."""

    policy: NamespacePolicy


class Delete(NamedTuple):
    """The policy is not to exist: the namespace is none of those that it belongs to."""

    key: ObjectKey


class Keep(NamedTuple):
    """The policy stays as it is, or away."""

    reason: str


class Failed(NamedTuple):
    """The policy is to exist, and cannot be said; what there is of it stays."""

    key: ObjectKey
    problem: EgressProblem


Decision: TypeAlias = Apply | Delete | Keep | Failed


def decide(facts: NamespaceFacts) -> dict[str, Decision]:
    """What is to become of each policy, by its name and in order; nothing at all in a namespace that is not active."""
    if not facts.namespace.is_active:
        return {}
    return {general.name: _decision(general, facts) for general in GENERAL_POLICIES}


def _decision(general: General, facts: NamespaceFacts) -> Decision:
    namespace, config = facts.namespace, facts.config
    key = ObjectKey(namespace.name, general.name)
    if not general.reach.includes(namespace.labels, config.additional_selectors):
        return Delete(key)
    if general.name == _TO_API_SERVER and config.resolved and not config.resolved.is_in_sync:
        # Rules without addresses that are merely not known yet would cut off pods that are at work.
        return Keep(NOT_RESOLVED)
    rules = egress_rules(general.rules, facts)
    if isinstance(rules, EgressProblem):
        return Failed(key, rules)
    return Apply(general.in_namespace(namespace.name, rules))
