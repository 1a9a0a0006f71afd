"""The rules for the metadata of any object, as the API server checks them before it calls a webhook.

Callers of the validation as a function rely on them here.

Source: webhooks-and-tokens §9.2, M and MU.
"""

from collections.abc import Callable, Iterator
from typing import Final

from hedgerow.admission.extension_validation.checks import (
    ChangeCheck,
    Check,
    immutable,
    not_negative_if_present,
    value_at,
)
from hedgerow.admission.extension_validation.values import BOOLEAN, INTEGER, TEXT
from hedgerow.machinery import names
from hedgerow.machinery.failures import FieldErrorType, Problem, forbidden, invalid, required, shortened
from hedgerow.machinery.objects import Manifest, is_terminating

MOST_ANNOTATION_BYTES: Final = 256 * 1024

TYPES: Final = {
    **{f"metadata.{name}": TEXT for name in ("name", "generateName", "namespace", "uid", "resourceVersion")},
    **{f"metadata.{name}": TEXT for name in ("creationTimestamp", "deletionTimestamp", "labels{}", "annotations{}")},
    "metadata.finalizers[]": TEXT,
    "metadata.generation": INTEGER,
    "metadata.deletionGracePeriodSeconds": INTEGER,
    **{f"metadata.ownerReferences[].{name}": TEXT for name in ("apiVersion", "kind", "name", "uid")},
    "metadata.ownerReferences[].controller": BOOLEAN,
}


def _syntax(field: str, problem_of: Callable[[str], str | None], if_absent: Problem | None = None) -> Check:
    """A text has the syntax of a name; an absent one has the problem `if_absent`."""

    def check(manifest: Manifest, _where: str) -> Iterator[Problem]:
        text = value_at(manifest, f"metadata.{field}")
        if text and (problem := problem_of(text)):
            yield invalid(f"metadata.{field}", text, problem)
        elif not text and if_absent:
            yield if_absent

    return check


def _example(prefix: str) -> str:
    """A name that begins with a prefix: something follows a dash at its end."""
    return f"{prefix[:-1]}0" if len(prefix) > 1 and prefix.endswith("-") else prefix


def namespace_absent(manifest: Manifest, _where: str) -> Iterator[Problem]:
    """A cluster-scoped object has no namespace."""
    if value_at(manifest, "metadata.namespace"):
        yield forbidden("metadata.namespace", "not allowed on this type")


def labels(manifest: Manifest, _where: str) -> Iterator[Problem]:
    """Keys and values have the syntax of labels."""
    for key, value in _texts(manifest, "labels").items():
        if problem := names.label_key_problem(key):
            yield invalid("metadata.labels", key, problem)
        if problem := names.label_value_problem(value):
            yield invalid("metadata.labels", value, problem)


def annotations(manifest: Manifest, _where: str) -> Iterator[Problem]:
    """Keys have the syntax of labels in any case, and all annotations together are not too long."""
    texts = _texts(manifest, "annotations")
    for key in texts:
        if problem := names.annotation_key_problem(key):
            yield invalid("metadata.annotations", key, problem)
    if len("".join([*texts, *texts.values()]).encode(errors="surrogatepass")) > MOST_ANNOTATION_BYTES:
        text = f"must have at most {MOST_ANNOTATION_BYTES} bytes"
        yield Problem("metadata.annotations", text, FieldErrorType.TOO_LONG)


def finalizers(manifest: Manifest, _where: str) -> Iterator[Problem]:
    """Finalizers have the syntax of label keys; dependents are either orphaned or deleted first."""
    texts = _finalizers(manifest)
    for text in texts:
        if problem := names.label_key_problem(text):
            yield invalid("metadata.finalizers", text, problem)
    if {"orphan", "foregroundDeletion"} <= {*texts}:
        yield invalid("metadata.finalizers", texts, 'must not hold both "orphan" and "foregroundDeletion"')


def owner_references(manifest: Manifest, _where: str) -> Iterator[Problem]:
    """Owners are named completely and are no Events; at most one is the controller."""
    path = "metadata.ownerReferences"
    has_controller = False
    for item in value_at(manifest, path) or ():
        reference = item or {}
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
    if not value_at(new, "metadata.resourceVersion"):
        yield invalid("metadata.resourceVersion", "", "must be specified for an update")


def generation_not_decremented(new: Manifest, old: Manifest) -> Iterator[Problem]:
    """Generations only grow."""
    generation = value_at(new, "metadata.generation") or 0
    if generation < (value_at(old, "metadata.generation") or 0):
        yield invalid("metadata.generation", generation, "must not be decremented")


def no_new_finalizers(new: Manifest, old: Manifest) -> Iterator[Problem]:
    """An object that is being deleted gets no further finalizers."""
    added = sorted({*_finalizers(new)} - {*_finalizers(old)})
    if added and is_terminating(old):
        listed = shortened(", ".join(added))
        yield forbidden("metadata.finalizers", f"no new finalizers can be added to an object in deletion: {listed}")


def _finalizers(manifest: Manifest) -> list[str]:
    return [text or "" for text in value_at(manifest, "metadata.finalizers") or ()]


def _texts(manifest: Manifest, field: str) -> dict[str, str]:
    texts = value_at(manifest, f"metadata.{field}") or {}
    return {key: texts[key] or "" for key in sorted(texts)}


def _of_new(check: Check) -> ChangeCheck:
    return lambda new, _old: check(new, "")


_OTHERS: Final = (not_negative_if_present("metadata.generation"), labels, annotations, finalizers, owner_references)
_NAMESPACE: Final = _syntax("namespace", names.dns_label_problem, required("metadata.namespace"))


def checks(name_problem: Callable[[str], str | None], *, is_namespaced: bool) -> tuple[Check, ...]:
    """What must hold for the metadata of every object of a kind, whose names have one syntax."""
    return (
        _syntax("name", name_problem, required("metadata.name", "name or generateName is required")),
        _syntax("generateName", lambda text: name_problem(_example(text))),
        _NAMESPACE if is_namespaced else namespace_absent,
        *_OTHERS,
    )


UPDATE: Final[tuple[ChangeCheck, ...]] = (
    resource_version,
    generation_not_decremented,
    *(immutable(f"metadata.{field}") for field in ("name", "namespace", "uid", "creationTimestamp")),
    *(immutable(f"metadata.deletion{field}", empty_is_absent=False) for field in ("Timestamp", "GracePeriodSeconds")),
    no_new_finalizers,
    *map(_of_new, (labels, annotations, owner_references)),
)
