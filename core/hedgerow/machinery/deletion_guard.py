"""Deletion guard: whether a controller may delete as many objects as it plans to.

An empty list, a selector that matches nothing, or the wrong cluster would delete everything. The guard counts all
planned deletions of a controller before the first one. An annotation on the owner, or on its Namespace, allows
deletions that are held back. Its value is a fingerprint of the objects' UIDs, so it allows no later ones.
"""

import hashlib
from collections.abc import Iterable, Mapping
from enum import Enum, auto
from typing import Any, Final

from hedgerow.machinery.objects import Manifest, annotations_of
from hedgerow.machinery.plan import Delete, Plan

ALWAYS_ALLOWED: Final = 20
SHARE_ALLOWED: Final = 0.3
SHARE_NEVER_BELIEVED: Final = 0.9
"""The share of owned objects from which on the guard does not trust a fresh list either."""

ALLOW_DELETIONS: Final = "hedgerow.dev/allow-deletions"
"""Annotation of an owner or a Namespace: the fingerprint of deletions that are held back and now allowed."""
_FINGERPRINT_DIGITS: Final = 12
_VERSION_FIELDS: Final = frozenset({"resourceVersion", "generation", "managedFields"})


class Verdict(Enum):
    """The guard's answer."""

    PROCEED = auto()
    CONFIRM = auto()
    """They need a second, fresh list of everything that the decision read."""
    STOP = auto()


def judge_deletions(deletions: int, owned: int, *, confirmed: bool) -> Verdict:
    """Whether deletions may proceed, need a fresh list first, or stop.

    More than 20 and more than 30 % of the owned objects need confirmation: plans made from a list taken for this
    purpose. More than 20 and 90 % or more stop even then; not 100 %, because a mistake often spares an object or two.
    `deletions` counts those of all pending plans, but not of owners seen to be deleted. Source: decision A-5.
    """
    if deletions <= max(ALWAYS_ALLOWED, owned * SHARE_ALLOWED):
        return Verdict.PROCEED
    if not confirmed:
        return Verdict.CONFIRM
    return Verdict.STOP if deletions >= owned * SHARE_NEVER_BELIEVED else Verdict.PROCEED


def deleted_by(plan: Plan) -> frozenset[str]:
    """The objects that a plan deletes, each by resource, key and UID."""
    deletes = (action for action in plan.actions if isinstance(action, Delete))
    return frozenset(f"{each.resource.plural}.{each.resource.group} {each.key} {each.uid}" for each in deletes)


def fingerprint(deleted: Iterable[str]) -> str:
    """A short value that identifies the deletion of exactly these objects."""
    return hashlib.sha256("\n".join(sorted(deleted)).encode()).hexdigest()[:_FINGERPRINT_DIGITS]


def is_allowed_by(manifest: Manifest | None, allowed: str) -> bool:
    """True if the annotation of an owner or a Namespace names this fingerprint."""
    return manifest is not None and annotations_of(manifest).get(ALLOW_DELETIONS) == allowed


def transform_allowance(manifest: Manifest) -> dict[str, str]:
    """The annotation, if the object has it; transforms keep it for the guard."""
    annotations = annotations_of(manifest)
    return {ALLOW_DELETIONS: annotations[ALLOW_DELETIONS]} if ALLOW_DELETIONS in annotations else {}


def only_allowance_changed(old: Manifest, new: Manifest) -> bool:
    """True if nothing but the annotation differs: a changed owner justifies its deletions, the annotation does not."""
    return _without_allowance(old) == _without_allowance(new)


def _without_allowance(manifest: Manifest) -> Manifest:
    metadata: Mapping[str, Any] = manifest.get("metadata") or {}
    kept = {name: value for name, value in metadata.items() if name not in _VERSION_FIELDS}
    kept["annotations"] = {name: value for name, value in annotations_of(manifest).items() if name != ALLOW_DELETIONS}
    return {**manifest, "metadata": kept}
