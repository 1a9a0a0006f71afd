"""What is to become of each of the seven policies in one namespace.

Decides from the facts alone, and knows nothing of what exists already.

Source: network-and-nodes §3.8, §3.10.
"""

from typing import Final, NamedTuple, TypeAlias

from returns.result import Failure

from hedgerow.machinery.objects import ObjectKey
from hedgerow.operator.namespace_network_policies.egress import Problem
from hedgerow.operator.namespace_network_policies.facts import Facts
from hedgerow.operator.namespace_network_policies.names import ALLOW_TO_RUNTIME_API_SERVER
from hedgerow.operator.namespace_network_policies.policies import GENERAL_POLICIES, General, NamespacePolicy

NOT_RESOLVED: Final = "api-server-not-resolved"


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
    problem: Problem


Decision: TypeAlias = Apply | Delete | Keep | Failed


def decide(facts: Facts) -> dict[str, Decision]:
    """What is to become of each policy, by its name and in order; nothing at all in a namespace that is not active."""
    if not facts.namespace.is_active:
        return {}
    return {general.name: _decision(general, facts) for general in GENERAL_POLICIES}


def _decision(general: General, facts: Facts) -> Decision:
    namespace, config = facts.namespace, facts.config
    key = ObjectKey(namespace.name, general.name)
    if not general.reach.includes(namespace.labels, config.additional_selectors):
        return Delete(key)
    if general.name == ALLOW_TO_RUNTIME_API_SERVER and config.resolved and not config.resolved.is_in_sync:
        # Rules without addresses that are merely not known yet would cut off pods that are at work.
        return Keep(NOT_RESOLVED)
    rules = general.rules(facts)
    if isinstance(rules, Failure):
        return Failed(key, rules.failure())
    return Apply(general.in_namespace(namespace.name, rules.unwrap()))
