"""What the Secrets of a ManagedResource ask for; without all of them nothing is decided.

Source: managed-resources §7.3, §7.4.
"""

from dataclasses import replace
from functools import partial
from typing import Final

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.questions import Answer, Found, NotAnswered, ObjectQuestion
from hedgerow.resource_manager.managed_resources.checksums import Checksum
from hedgerow.resource_manager.managed_resources.decoding import DecodedValue, decoded_secret
from hedgerow.resource_manager.managed_resources.desired import (
    Desired,
    build_desired,
    checked_values,
    unknown_kinds,
)
from hedgerow.resource_manager.managed_resources.names import SECRETS
from hedgerow.resource_manager.managed_resources.reconciliation.stage import Stage, not_found_out, trouble
from hedgerow.resource_manager.managed_resources.secret_refs import referenced_names

_NAMELESS: Final = NotAnswered(400, "BadRequest", "resource name may not be empty")
"""A Secret whose name is left out must not look like one that asks for nothing."""

ENOUGH: Final = 256 * 1024
"""Bytes after which no other Secret is decoded at the same stage, as others wait for their turn: that takes some
hundredths of a second, or a few tenths where a single Secret is as large as one can be."""


def secret_questions(stage: Stage) -> tuple[ObjectQuestion, ...]:
    """What has to be asked about the Secrets."""
    names = dict.fromkeys(referenced_names(stage.managed_resource))
    return tuple(_question(stage, name) for name in names if name)


def read_secrets(stage: Stage) -> Stage | Plan:
    """Each Secret is read, and the first that cannot be ends the turn."""
    questions = secret_questions(stage)
    if any(question not in stage.context.answers for question in questions):
        return Plan(questions=questions)
    found = {name: _answer(stage, name) for name in referenced_names(stage.managed_resource)}
    for name, answer in found.items():
        if isinstance(answer, NotAnswered):
            problem = f"could not read secret '{name}': {answer.message}"
            if answer.is_silence:
                return not_found_out(stage, problem, stage.memory)
            return trouble(stage, "CannotReadSecret", answer.message, problem, stage.memory)
    return replace(
        stage, secrets={name: answer.objects[0] for name, answer in found.items() if isinstance(answer, Found)}
    )


def decode(stage: Stage) -> Stage | Plan:
    """Each Secret is decoded once in a turn, at another stage than the one before where that was large."""
    decoded: dict[str, tuple[DecodedValue, ...]] = {}
    bytes_read = 0

    def decode_one(secret: Manifest) -> tuple[DecodedValue, ...]:
        nonlocal bytes_read
        values = decoded_secret(secret, stage.config.decompress)
        bytes_read += sum(len(value.raw) for value in values)
        return values

    for name, secret in stage.secrets.items():
        if bytes_read >= ENOUGH:
            return Plan(goes_on=True)
        decoded[name] = stage.context.notes.once(("decoded", name), (secret,), partial(decode_one, secret))
    names = referenced_names(stage.managed_resource)
    return replace(stage, decoded=tuple(value for name in names for value in decoded[name]))


def look_up_kinds(stage: Stage) -> Stage | Plan:
    """What is not known of the kinds in the Secrets has to be known to tell the namespace of an object."""
    kinds = stage.context.notes.once("kinds", stage.decoded, lambda: unknown_kinds(stage.decoded, {}))
    unknown = tuple(kind for kind in kinds if kind not in stage.context.kinds)
    return Plan(kinds=unknown) if unknown else stage


def desire(stage: Stage) -> Stage | Plan:
    """What is asked for, from now on; it takes as many stages as the checksum of that has portions."""
    counted = stage.context.notes.once("checksum", stage.decoded, lambda: Checksum(checked_values(stage.decoded)))
    checksum = counted.after_a_portion()
    if checksum is None:
        return Plan(goes_on=True)
    known = stage.context.kinds
    kinds = stage.context.notes.once("kinds", stage.decoded, lambda: unknown_kinds(stage.decoded, {}))
    inputs = (
        stage.managed_resource.get("spec"),
        stage.status.get("resources"),
        stage.decoded,
        [known[kind] for kind in kinds],
    )

    def desired() -> Desired:
        return build_desired(stage.managed_resource, stage.decoded, known, stage.config.managed_by, checksum)

    return replace(stage, desired=stage.context.notes.once("desired", inputs, desired))


def _question(stage: Stage, name: str) -> ObjectQuestion:
    return ObjectQuestion(SECRETS, ObjectKey(stage.key.namespace, name), Cluster.SOURCE)


def _answer(stage: Stage, name: str) -> Answer:
    return stage.context.answers[_question(stage, name)] if name else _NAMELESS
