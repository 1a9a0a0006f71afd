"""The seven policies: whom they select, what they say about themselves, and which rules they have.

Source: network-and-nodes §3.4, §3.5.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from returns.result import Success

from hedgerow.api.network_policies import ALLOWED, DESCRIPTION
from hedgerow.machinery.objects import ObjectKey
from hedgerow.network_policies import EgressRule, PolicySpec, policy_manifest
from hedgerow.operator.namespace_network_policies.egress import (
    Rules,
    to_blocked_cidrs,
    to_dns,
    to_private_networks,
    to_public_networks,
    to_runtime_api_server,
    to_shoot_networks,
)
from hedgerow.operator.namespace_network_policies.facts import Facts
from hedgerow.operator.namespace_network_policies.names import (
    ALLOW_TO_BLOCKED_CIDRS,
    ALLOW_TO_DNS,
    ALLOW_TO_PRIVATE_NETWORKS,
    ALLOW_TO_PUBLIC_NETWORKS,
    ALLOW_TO_RUNTIME_API_SERVER,
    ALLOW_TO_SHOOT_NETWORKS,
    DENY_ALL,
    LABEL_DOMAIN,
)
from hedgerow.operator.namespace_network_policies.selection import REACHES, Reach


class NamespacePolicy(NamedTuple):
    """One of the policies as it is to be in one namespace."""

    key: ObjectKey
    description: str
    spec: PolicySpec

    @property
    def annotations(self) -> dict[str, str]:
        """The description for people, by which the policy is known to be ours as well."""
        return {DESCRIPTION: self.description}

    def manifest(self) -> dict[str, Any]:
        """The object to send to an API server."""
        return policy_manifest(self.key, self.spec, self.annotations)


class General(NamedTuple):
    """One of the policies as it is in general."""

    name: str
    pod_label: str
    """What pods are labelled with that it is for, without the domain; empty: it is for all pods."""
    purpose: str
    """What it allows them, as its description says it."""
    rules: Callable[[Facts], Rules]

    @property
    def reach(self) -> Reach:
        """The namespaces that it belongs to."""
        return REACHES[self.name]

    def in_namespace(self, namespace: str, rules: tuple[EgressRule, ...]) -> NamespacePolicy:
        """The policy with these rules; without any, the pods that it selects may connect to nothing because of it."""
        key = ObjectKey(namespace, self.name)
        if not self.pod_label:
            return NamespacePolicy(key, self.purpose, {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]})
        label = f"{LABEL_DOMAIN}/{self.pod_label}"
        spec: PolicySpec = {"podSelector": {"matchLabels": {label: ALLOWED}}, "policyTypes": ["Egress"]}
        if rules:
            spec = {**spec, "egress": [*rules]}
        return NamespacePolicy(key, f"Allows egress from pods labeled with {label}={ALLOWED} {self.purpose}", spec)


def _nothing(_facts: Facts) -> Rules:
    return Success(())


GENERAL_POLICIES: Final = (
    General(
        DENY_ALL,
        "",
        "Denies all ingress and egress of all pods in this namespace. Other policies open what pods are labeled for.",
        _nothing,
    ),
    General(
        ALLOW_TO_RUNTIME_API_SERVER,
        "to-runtime-apiserver",
        "to the API server of the cluster in which they run.",
        to_runtime_api_server,
    ),
    General(
        ALLOW_TO_PUBLIC_NETWORKS,
        "to-public-networks",
        "to all addresses of IPv4 but private networks, those of carriers, and what this cluster blocks.",
        to_public_networks,
    ),
    General(
        ALLOW_TO_PRIVATE_NETWORKS,
        "to-private-networks",
        "to private networks and those of carriers, but not to the networks of this cluster or of the shoot, "
        "nor to what this cluster blocks.",
        to_private_networks,
    ),
    General(
        ALLOW_TO_BLOCKED_CIDRS,
        "to-blocked-cidrs",
        "to the addresses that this cluster blocks, such as those of metadata services.",
        to_blocked_cidrs,
    ),
    General(ALLOW_TO_DNS, "to-dns", "to the DNS servers of the cluster in which they run.", to_dns),
    General(
        ALLOW_TO_SHOOT_NETWORKS,
        "to-shoot-networks",
        "to the networks of the shoot: nodes, pods and Services, but not to what this cluster blocks.",
        to_shoot_networks,
    ),
)
"""In the order in which they are looked at."""

NAMES: Final = frozenset(general.name for general in GENERAL_POLICIES)
