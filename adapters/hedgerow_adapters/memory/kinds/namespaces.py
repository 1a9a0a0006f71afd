"""Namespaces: how they are completed, who may be created in them, and how they come to their end.

Source: Kubernetes documentation, "Namespaces" and the admission controller NamespaceLifecycle.
"""

from collections.abc import Iterator
from typing import Any, Final

from hedgerow.api import kubernetes
from hedgerow.machinery.names import dns_label_problem, label_key_problem
from hedgerow.machinery.objects import Manifest, Resource, is_terminating
from hedgerow_adapters.memory.field_errors import FieldError, invalid
from hedgerow_adapters.memory.field_rules import checked
from hedgerow_adapters.memory.kinds.fields import CONDITIONS
from hedgerow_adapters.memory.kinds.kind import Fields, Kind
from hedgerow_adapters.memory.shapes import text, texts
from hedgerow_adapters.memory.statuses import forbidden, not_found

CONTENT_FINALIZER: Final = "kubernetes"
ALWAYS_THERE: Final = ("default", "kube-node-lease", "kube-public", "kube-system")
INDESTRUCTIBLE: Final = frozenset({"default", "kube-public", "kube-system"})


def _complete(namespace: Fields, old: Manifest | None) -> None:
    """A label with its name, and a finalizer that stays until the content is gone; only `finalize` changes those."""
    metadata = namespace["metadata"]
    metadata["labels"] = {**metadata.get("labels", {}), kubernetes.METADATA_NAME: metadata.get("name", "")}
    if old is not None:
        namespace["spec"] = old["spec"]
        return
    finalizers = namespace.get("spec", {}).get("finalizers", [])
    namespace["spec"] = {"finalizers": list(dict.fromkeys((*finalizers, CONTENT_FINALIZER)))}


def _errors(namespace: Manifest, _old: Manifest | None) -> Iterator[FieldError]:
    """Finalizers are named as everywhere; only a deletion makes a namespace terminate, and it always does."""
    for finalizer in namespace["spec"].get("finalizers", ()):
        yield from checked(label_key_problem)(finalizer, "spec.finalizers")
        if finalizer and "/" not in finalizer and finalizer != CONTENT_FINALIZER:
            problem = "name is neither a standard finalizer name nor is it fully qualified"
            yield invalid("spec.finalizers", finalizer, problem)
    phase, deleted = namespace["status"].get("phase"), is_terminating(namespace)
    if deleted != (phase == "Terminating"):
        only, when = ("Terminating", "not empty") if deleted else ("Active", "empty")
        yield invalid("status.Phase", phase, f"may only be '{only}' if `deletionTimestamp` is {when}")


def admit_creation(namespace: Manifest | None, name: str, resource: Resource, created: str) -> None:
    """Refuse to create `created` in a namespace that does not exist or terminates."""
    if namespace is None:
        raise not_found(kubernetes.NAMESPACES, name)
    if not is_terminating(namespace):
        return
    problem = f"unable to create new content in namespace {name} because it is being terminated"
    message = f"namespace {name} is being terminated"
    cause = {"reason": "NamespaceTerminating", "message": message, "field": "metadata.namespace"}
    raise forbidden(resource, created, problem, cause=cause)


def terminating(namespace: Manifest, since: str) -> Manifest:
    """The namespace with the marks of its deletion, which stay as they were if it has them already."""
    if is_terminating(namespace):
        return namespace
    metadata = {**namespace["metadata"], "deletionTimestamp": since}
    return {**namespace, "metadata": metadata, "status": {**namespace["status"], "phase": "Terminating"}}


def with_finalizers(namespace: Manifest, finalizers: list[str]) -> dict[str, Any]:
    """The namespace with other finalizers in its spec."""
    return {**namespace, "spec": {"finalizers": finalizers} if finalizers else {}}


def is_needed(namespace: Manifest) -> bool:
    """Whether somebody still holds on to a namespace that is being deleted."""
    return bool(namespace["spec"].get("finalizers") or namespace["metadata"].get("finalizers"))


NAMESPACES: Final = Kind(
    kubernetes.NAMESPACES,
    fields={"spec": {"finalizers": texts}, "status": {"phase": text, "conditions": CONDITIONS}},
    name_problem=dns_label_problem,
    completion=_complete,
    rules=_errors,
    has_status=True,
    initial_status={"phase": "Active"},
    other_subresources=("finalize",),
    deletable_as_collection=False,
)
