"""Whether the label selectors of an object hold only fields that selectors have.

An API server drops unknown fields. A selector that lost a letter is empty then: a NetworkPolicy selects all pods, a
webhook all objects. Only kinds that every API server has are checked, as their selectors are known.

Source: decision "unknown field in an annotation's JSON", for manifests.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hedgerow.api.kubernetes import RBAC
from hedgerow.machinery.failures import Problem
from hedgerow.machinery.objects import Kind, Manifest
from hedgerow.machinery.selectors import unknown_field_problems

_LIST: Final = "[]"
_ADMISSION: Final = "admissionregistration.k8s.io"
_PEERS: Final = ("podSelector", "namespaceSelector")
_MATCHES: Final = ("objectSelector", "namespaceSelector")
_WEBHOOKS: Final = tuple(f"webhooks[].{name}" for name in _MATCHES)
_CONSTRAINTS: Final = tuple(f"spec.matchConstraints.{name}" for name in _MATCHES)
_BINDINGS: Final = (*(f"spec.matchResources.{name}" for name in _MATCHES), "spec.paramRef.selector")
_OWN: Final = ("spec.selector",)

_SELECTORS: Final[Mapping[tuple[str, str], Sequence[str]]] = {
    ("networking.k8s.io", "NetworkPolicy"): (
        "spec.podSelector",
        *(f"spec.ingress[].from[].{name}" for name in _PEERS),
        *(f"spec.egress[].to[].{name}" for name in _PEERS),
    ),
    ("policy", "PodDisruptionBudget"): _OWN,
    (_ADMISSION, "MutatingWebhookConfiguration"): _WEBHOOKS,
    (_ADMISSION, "ValidatingWebhookConfiguration"): _WEBHOOKS,
    (_ADMISSION, "MutatingAdmissionPolicy"): _CONSTRAINTS,
    (_ADMISSION, "ValidatingAdmissionPolicy"): _CONSTRAINTS,
    (_ADMISSION, "MutatingAdmissionPolicyBinding"): _BINDINGS,
    (_ADMISSION, "ValidatingAdmissionPolicyBinding"): _BINDINGS,
    (RBAC, "ClusterRole"): ("aggregationRule.clusterRoleSelectors[]",),
    ("apps", "DaemonSet"): _OWN,
    ("apps", "Deployment"): _OWN,
    ("apps", "ReplicaSet"): _OWN,
    ("apps", "StatefulSet"): _OWN,
}
"""Where each kind has label selectors. That of a Job is not the manifest's to say."""


def selector_problem(manifest: Manifest) -> Problem | None:
    """The first unknown field in a label selector of an object; what has another shape is left to the API server."""
    kind = Kind.of(manifest)
    for path in _SELECTORS.get((kind.group, kind.kind), ()):
        for field, selector in _found(manifest, path.split("."), ""):
            for problem in unknown_field_problems(selector, field):
                return problem
    return None


def _found(value: Any, path: Sequence[str], field: str) -> Iterator[tuple[str, Any]]:
    """What stands at a path, with the index of each item on the way."""
    if not path:
        yield field, value
        return
    name = path[0].removesuffix(_LIST)
    member = value.get(name) if isinstance(value, Mapping) else None
    at = f"{field}.{name}" if field else name
    if not path[0].endswith(_LIST):
        yield from _found(member, path[1:], at)
    elif isinstance(member, list):
        for index, item in enumerate(member):
            yield from _found(item, path[1:], f"{at}[{index}]")
