"""The rules for the metadata of any object, as the API server checks them before it calls a webhook.

Callers of the validation as a function rely on them here.

Source: webhooks-and-tokens §9.2, M and MU.
"""

from collections.abc import Iterator
from typing import Final

from hedgerow.admission.extension_validation.checks import ChangeCheck, Check, immutable, not_negative_if_present
from hedgerow.admission.extension_validation.shape import BOOLEAN, INTEGER, TEXT
from hedgerow.machinery.failures import Problem, forbidden, invalid, required, shortened, too_long
from hedgerow.machinery.names import (
    annotation_key_problem,
    dns_label_problem,
    dns_subdomain_problem,
    label_key_problem,
    label_value_problem,
)
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import list_at, object_at, objects_at, text_at

MOST_ANNOTATION_BYTES: Final = 256 * 1024

TYPES: Final = {
    "metadata.name": TEXT,
    "metadata.generateName": TEXT,
    "metadata.namespace": TEXT,
    "metadata.uid": TEXT,
    "metadata.resourceVersion": TEXT,
    "metadata.generation": INTEGER,
    "metadata.creationTimestamp": TEXT,
    "metadata.deletionTimestamp": TEXT,
    "metadata.deletionGracePeriodSeconds": INTEGER,
    "metadata.labels{}": TEXT,
    "metadata.annotations{}": TEXT,
    "metadata.finalizers[]": TEXT,
    **{f"metadata.ownerReferences[].{name}": TEXT for name in ("apiVersion", "kind", "name", "uid")},
    "metadata.ownerReferences[].controller": BOOLEAN,
}


def name(manifest: Manifest, _where: str) -> Iterator[Problem]:
    """There is a name, which is a DNS subdomain; `generateName` does not replace it."""
    text = text_at(manifest, "metadata", "name")
    if not text:
        yield required("metadata.name", "name or generateName is required")
    elif problem := dns_subdomain_problem(text):
        yield invalid("metadata.name", text, problem)


def generate_name(manifest: Manifest, _where: str) -> Iterator[Problem]:
    """A prefix for names is a DNS subdomain once something follows a dash at its end."""
    text = text_at(manifest, "metadata", "generateName")
    if not text:
        return
    completed = f"{text[:-1]}0" if len(text) > 1 and text.endswith("-") else text
    if problem := dns_subdomain_problem(completed):
        yield invalid("metadata.generateName", text, problem)


def namespace_given(manifest: Manifest, _where: str) -> Iterator[Problem]:
    """A namespaced object names its namespace, by a DNS label."""
    text = text_at(manifest, "metadata", "namespace")
    if not text:
        yield required("metadata.namespace")
    elif problem := dns_label_problem(text):
        yield invalid("metadata.namespace", text, problem)


def namespace_absent(manifest: Manifest, _where: str) -> Iterator[Problem]:
    """A cluster-scoped object has no namespace."""
    if text_at(manifest, "metadata", "namespace"):
        yield forbidden("metadata.namespace", "not allowed on this type")


def labels(manifest: Manifest, _where: str) -> Iterator[Problem]:
    """Keys and values have the syntax of labels."""
    for key, value in _texts(manifest, "labels").items():
        if problem := label_key_problem(key):
            yield invalid("metadata.labels", key, problem)
        if problem := label_value_problem(value):
            yield invalid("metadata.labels", value, problem)


def annotations(manifest: Manifest, _where: str) -> Iterator[Problem]:
    """Keys have the syntax of labels in any case, and all annotations together are not too long."""
    texts = _texts(manifest, "annotations")
    for key in texts:
        if problem := annotation_key_problem(key):
            yield invalid("metadata.annotations", key, problem)
    if sum(_size(key) + _size(value) for key, value in texts.items()) > MOST_ANNOTATION_BYTES:
        yield too_long("metadata.annotations", MOST_ANNOTATION_BYTES)


def finalizers(manifest: Manifest, _where: str) -> Iterator[Problem]:
    """Finalizers have the syntax of label keys; dependents are either orphaned or deleted first."""
    texts = _finalizers(manifest)
    for text in texts:
        if problem := label_key_problem(text):
            yield invalid("metadata.finalizers", text, problem)
    if {"orphan", "foregroundDeletion"} <= {*texts}:
        yield invalid("metadata.finalizers", texts, 'must not hold both "orphan" and "foregroundDeletion"')


def owner_references(manifest: Manifest, _where: str) -> Iterator[Problem]:
    """Owners are named completely and are no Events; at most one is the controller."""
    path = "metadata.ownerReferences"
    has_controller = False
    for reference in objects_at(manifest, "metadata", "ownerReferences"):
        # The API server names these fields without the index of the reference.
        api_version = reference.get("apiVersion") or ""
        if api_version.count("/") > 1 or not api_version.rpartition("/")[2]:
            yield invalid(f"{path}.apiVersion", api_version, "version must not be empty")
        for field in ("kind", "name", "uid"):
            if not reference.get(field):
                yield invalid(f"{path}.{field}", "", f"{field} must not be empty")
        if (reference.get("apiVersion"), reference.get("kind")) == ("v1", "Event"):
            yield invalid(path, reference, "an Event must not be an owner")
        if reference.get("controller") is True:
            if has_controller:
                yield invalid(path, reference, "only one reference can have controller set to true")
            has_controller = True


def resource_version(new: Manifest, _old: Manifest) -> Iterator[Problem]:
    """An update says which version of the object it changes."""
    if not text_at(new, "metadata", "resourceVersion"):
        yield invalid("metadata.resourceVersion", "", "must be specified for an update")


def generation_not_decremented(new: Manifest, old: Manifest) -> Iterator[Problem]:
    """Generations only grow."""
    generation = object_at(new, "metadata").get("generation") or 0
    if generation < (object_at(old, "metadata").get("generation") or 0):
        yield invalid("metadata.generation", generation, "must not be decremented")


def no_new_finalizers(new: Manifest, old: Manifest) -> Iterator[Problem]:
    """An object that is being deleted gets no further finalizers."""
    added = sorted({*_finalizers(new)} - {*_finalizers(old)})
    if added and text_at(old, "metadata", "deletionTimestamp"):
        listed = shortened(", ".join(added))
        yield forbidden("metadata.finalizers", f"no new finalizers can be added to an object in deletion: {listed}")


def _finalizers(manifest: Manifest) -> list[str]:
    return [text or "" for text in list_at(manifest, "metadata", "finalizers")]


def _texts(manifest: Manifest, field: str) -> dict[str, str]:
    texts = object_at(manifest, "metadata", field)
    return {key: texts[key] or "" for key in sorted(texts)}


def _size(text: str) -> int:
    return len(text.encode(errors="surrogatepass"))


def _of_new(check: Check) -> ChangeCheck:
    return lambda new, _old: check(new, "")


_OF_ANY_SCOPE: Final = (
    not_negative_if_present("metadata.generation"),
    labels,
    annotations,
    finalizers,
    owner_references,
)
NAMESPACED: Final[tuple[Check, ...]] = (name, generate_name, namespace_given, *_OF_ANY_SCOPE)
CLUSTER_SCOPED: Final[tuple[Check, ...]] = (name, generate_name, namespace_absent, *_OF_ANY_SCOPE)

UPDATE: Final[tuple[ChangeCheck, ...]] = (
    resource_version,
    generation_not_decremented,
    *(immutable(f"metadata.{field}") for field in ("name", "namespace", "uid", "creationTimestamp")),
    immutable("metadata.deletionTimestamp", empty_is_absent=False),
    immutable("metadata.deletionGracePeriodSeconds", empty_is_absent=False),
    no_new_finalizers,
    *map(_of_new, (labels, annotations, owner_references)),
)
