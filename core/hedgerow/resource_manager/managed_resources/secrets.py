"""Reads the Secrets of a ManagedResource, and what they ask for. Without all of them nothing is decided.

Source: managed-resources §7.3, §7.4, §7.6.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.references import referenced_names
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.questions import Answer, KindQuestion, NotAnswered, ObjectQuestion
from hedgerow.machinery.steps import AtOnce
from hedgerow.resource_manager.managed_resources.decoding import (
    OVERTIME,
    Checksum,
    DecodedValue,
    decoded_secrets,
    in_slices,
)
from hedgerow.resource_manager.managed_resources.desired import (
    Desired,
    checked_values,
    desired_in_slices,
    unknown_kinds,
)
from hedgerow.resource_manager.managed_resources.reconciliation import Reconciliation, spec_version

_NAMELESS: Final = NotAnswered(400, "BadRequest", "resource name may not be empty")
"""The answer for a Secret without name, which must not look like one that asks for nothing."""


@dataclass(frozen=True, slots=True)
class Content:
    """What the Secrets of a ManagedResource hold."""

    secrets: Mapping[str, Manifest]
    values: tuple[DecodedValue, ...]
    """In the order of the references."""
    version: tuple[Any, Any]
    """The `spec_version` that refers to the Secrets: UID and generation."""
    checksum: str
    ran_out_of_time: bool
    """True if decoding took too long, so that another attempt may get further."""


async def read_secrets(mr: Reconciliation) -> Mapping[str, Manifest] | Plan:
    """Each Secret by its name; the first that cannot be read ends the reconciliation."""
    names = referenced_names(mr.manifest)
    keys = {name: ObjectKey(mr.key.namespace, name) for name in names if name}
    questions = tuple(ObjectQuestion(SECRETS, key, Cluster.SOURCE) for key in keys.values())
    answers: dict[str, Answer] = dict(zip(keys, await AtOnce(questions), strict=True)) if questions else {}
    secrets: dict[str, Manifest] = {}
    for index, name in enumerate(names):
        answer = answers.get(name, _NAMELESS)
        if isinstance(answer, NotAnswered):
            return await mr.failed(
                "CannotReadSecret",
                answer.message,
                mr.state,
                logged=f"spec.secretRefs[{index}].name: could not read secret '{name}': {answer.message}",
                is_unreachable=answer.is_unreachable,
            )
        secrets[name] = answer.objects[0]
    return secrets


async def decode(mr: Reconciliation, secrets: Mapping[str, Manifest]) -> Content:
    """What the Secrets hold, up to the value that exceeds a limit; the checksum is computed if a value changed."""
    budget = mr.budget = mr.config.budget()
    decoded = await in_slices(decoded_secrets(secrets, mr.config.decompress, budget), budget)
    values = tuple(value for name in referenced_names(mr.manifest) for value in decoded[name])
    checksum = Checksum(checked_values(values))
    if checksum.key != mr.state.checked:
        text = await in_slices(checksum.computed(), budget)
        mr.state = replace(mr.state, checked=checksum.key, checksum=text)
    version = spec_version(mr.manifest)
    return Content(secrets, values, version, mr.state.checksum, ran_out_of_time=budget.exceeded == OVERTIME)


async def desired_state(mr: Reconciliation, content: Content) -> Desired:
    """What the ManagedResource asks for, with the kinds of its objects as they are served now."""
    kinds = unknown_kinds(content.values, {})
    questions = tuple(map(KindQuestion, kinds))
    served = dict(zip(kinds, await AtOnce(questions), strict=True)) if questions else {}
    work = desired_in_slices(mr.manifest, content.values, served, mr.config.managed_by, content.checksum)
    return await in_slices(work, mr.budget)
