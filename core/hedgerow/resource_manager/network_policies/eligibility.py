"""Whether a Service gets policies at all.

Source: network-and-nodes §2.4 step 3.
"""

from collections.abc import Callable
from typing import Final

from hedgerow.resource_manager.network_policies.facts import Facts
from hedgerow.resource_manager.network_policies.peers import is_handled


def service_is_terminating(facts: Facts) -> bool:
    """A Service that goes takes its policies with it."""
    return facts.service.terminating


def service_selects_no_pods(facts: Facts) -> bool:
    """Without a selector nobody knows which pods to open."""
    return not facts.service.selector


def namespace_is_not_handled(facts: Facts) -> bool:
    """The configuration leaves this namespace to somebody else."""
    return not is_handled(facts.own_namespace, facts.config.namespace_selectors)


def namespace_is_terminating(facts: Facts) -> bool:
    """Nothing can be created in a namespace that goes."""
    return facts.own_namespace.terminating


NO_POLICIES: Final[tuple[tuple[Callable[[Facts], bool], str], ...]] = (
    (service_is_terminating, "service-terminating"),
    (service_selects_no_pods, "service-without-selector"),
    (namespace_is_not_handled, "namespace-not-handled"),
    (namespace_is_terminating, "namespace-terminating"),
)


def no_policies_because(facts: Facts) -> str:
    """The first reason for which the Service gets no policy; empty where it may have some."""
    return next((reason for holds, reason in NO_POLICIES if holds(facts)), "")
