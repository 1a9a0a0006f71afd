"""Which namespaces count: whose Services are handled, and whose pods may be let in.

Source: network-and-nodes §2.4 steps 2 and 5, §2.7.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from returns.result import Failure, Result, Success

from hedgerow.api.network_policies import NAMESPACE_SELECTORS
from hedgerow.machinery.remembering import remembered
from hedgerow.machinery.selectors import LabelSelector, matches_any, parse_label_selector
from hedgerow.resource_manager.network_policies.config import NetworkPolicyConfig
from hedgerow.resource_manager.network_policies.ports import json_list
from hedgerow.resource_manager.network_policies.views import NamespaceView

MOST_TERMS: Final = 250
"""Labels, expressions and values of all selectors of a Service. Each is compared with every Namespace, and of 2 000
Namespaces that takes 80 ms."""


@remembered
def parse_namespace_selectors(text: str) -> Result[tuple[LabelSelector, ...], str]:
    """The label selectors that an annotation value lists, or why it is no list of label selectors; `null` is empty."""
    try:
        entries = json_list(text)
    except ValueError as error:
        return Failure(str(error))
    selectors: list[LabelSelector] = []
    terms = 0
    for position, entry in enumerate(entries):
        match parse_label_selector(entry, f"[{position}]"):
            case Success(selector):
                selectors.append(selector)
            case Failure(problems):
                return Failure("; ".join(f"{problem.field} {problem.problem}" for problem in problems))
        terms += _terms(selectors[-1])
        if terms > MOST_TERMS:
            return Failure(f"holds more than {MOST_TERMS} labels, expressions and values")
    return Success(tuple(selectors))


def _terms(selector: LabelSelector) -> int:
    """How many comparisons a selector may take; the empty one counts as well."""
    expressions = selector.match_expressions
    return max(1, len(selector.match_labels) + len(expressions) + sum(len(each.values) for each in expressions))


def is_handled(namespace: NamespaceView, selectors: tuple[LabelSelector, ...]) -> bool:
    """Whether the Services of a namespace get policies at all: without selectors, those of every namespace do."""
    return not selectors or matches_any(selectors, namespace.labels)


def namespaces_that_matter(
    own: str, annotations: Mapping[str, str], config: NetworkPolicyConfig
) -> frozenset[str] | None:
    """The names of the Namespaces that decide about a Service; none: all of them, as it selects among them.

    Args:
        own: the Service's namespace.
        annotations: the Service's.
        config: may name the ingress controller's namespace.
    """
    if NAMESPACE_SELECTORS in annotations:
        return None
    controller = config.ingress_controller
    return frozenset({own, controller.namespace} if controller else {own})


def peer_namespaces(
    own: str, namespaces: Iterable[NamespaceView], selectors: tuple[LabelSelector, ...]
) -> tuple[str, ...]:
    """The Service's own namespace, then the others that a selector matches and that are not terminating, by name."""
    if not selectors:
        return (own,)
    matching = {
        namespace.name
        for namespace in namespaces
        if not namespace.terminating and matches_any(selectors, namespace.labels)
    }
    return (own, *sorted(matching - {own}))
