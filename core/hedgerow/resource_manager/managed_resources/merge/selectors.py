"""Refuses label selectors with unknown fields, in the kinds that every API server has.

An API server drops unknown fields. A selector that lost a letter is then empty: a NetworkPolicy selects all pods, a
webhook all objects.

Source: decision "unknown field in an annotation's JSON", for manifests.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hedgerow.api.kubernetes import RBAC
from hedgerow.api.references import group_kind_of
from hedgerow.machinery.failures import Problem
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.selectors import unknown_field_problems

_LIST: Final = "[]"
_ADMISSION: Final = "admissionregistration.k8s.io"
_PEERS: Final = ("podSelector", "namespaceSelector")
_MATCHES: Final = ("objectSelector", "namespaceSelector")
_WEBHOOKS: Final = tuple(f"webhooks[].{name}" for name in _MATCHES)
_CONSTRAINTS: Final = tuple(f"spec.matchConstraints.{name}" for name in _MATCHES)
_BINDINGS: Final = (*(f"spec.matchResources.{name}" for name in _MATCHES), "spec.paramRef.selector")

_SELECTORS: Final[Mapping[tuple[str, str], Sequence[str]]] = {
    ("networking.k8s.io", "NetworkPolicy"): (
        "spec.podSelector",
        *(f"spec.ingress[].from[].{name}" for name in _PEERS),
        *(f"spec.egress[].to[].{name}" for name in _PEERS),
    ),
    ("policy", "PodDisruptionBudget"): ("spec.selector",),
    (_ADMISSION, "MutatingWebhookConfiguration"): _WEBHOOKS,
    (_ADMISSION, "ValidatingWebhookConfiguration"): _WEBHOOKS,
    (_ADMISSION, "MutatingAdmissionPolicy"): _CONSTRAINTS,
    (_ADMISSION, "ValidatingAdmissionPolicy"): _CONSTRAINTS,
    (_ADMISSION, "MutatingAdmissionPolicyBinding"): _BINDINGS,
    (_ADMISSION, "ValidatingAdmissionPolicyBinding"): _BINDINGS,
    (RBAC, "ClusterRole"): ("aggregationRule.clusterRoleSelectors[]",),
    **{("apps", kind): ("spec.selector",) for kind in ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")},
}
"""Where each kind has label selectors; that of a Job stays as the API server generated it."""


def selector_problem(manifest: Manifest) -> Problem | None:
    """The first unknown field in a label selector; the API server refuses selectors of another shape."""
    for path in _SELECTORS.get(group_kind_of(manifest), ()):
        for field, selector in _values_at(manifest, path.split("."), ""):
            for problem in unknown_field_problems(selector, field):
                return problem
    return None


def _values_at(value: Any, path: Sequence[str], field: str) -> Iterator[tuple[str, Any]]:
    """The values at a path, each with the path that has the indexes of the items on the way."""
    if not path:
        yield field, value
        return
    name = path[0].removesuffix(_LIST)
    member = value.get(name) if isinstance(value, Mapping) else None
    at = f"{field}.{name}" if field else name
    if not path[0].endswith(_LIST):
        yield from _values_at(member, path[1:], at)
    elif isinstance(member, list):
        for index, item in enumerate(member):
            yield from _values_at(item, path[1:], f"{at}[{index}]")
