"""Whether everything still is as the last turn left it, so that nothing has to be read.

Decides from what is watched anyway. Where anything is not at hand, or not as it was, the whole is looked at.
"""

from collections.abc import Mapping
from datetime import timedelta
from hashlib import blake2b
from typing import Any, Final

from returns.result import Success

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import ObjectKey, uid_of
from hedgerow.machinery.plan import Plan
from hedgerow.resource_manager.managed_resources.following import fingerprint, rests_on_generation
from hedgerow.resource_manager.managed_resources.names import RESOURCES_APPLIED, SECRETS
from hedgerow.resource_manager.managed_resources.reconciliation.instructing import own_equivalences, scaled
from hedgerow.resource_manager.managed_resources.reconciliation.memory import Memory, Remembered, digest, version_of
from hedgerow.resource_manager.managed_resources.reconciliation.stage import Stage
from hedgerow.resource_manager.managed_resources.secret_refs import referenced_names

_SHORTEST_TRUST: Final = timedelta(hours=1)
"""How long a generation is trusted: nothing forces whoever serves a kind to count every change."""
_TRUST_DIFFERS: Final = timedelta(hours=2)
"""By how much more for some ManagedResources than for others."""
_BYTES_OF_CHANCE: Final = 4


def rest_if_settled(stage: Stage) -> Stage | Plan:
    """Nothing is done until the next period where nothing has changed."""
    memory = stage.memory
    if memory is None or not memory.finished or stage.config.always_update or _has_begun(stage):
        return stage
    is_settled = (
        memory.finished == (*_asked(stage), _cached_secrets(stage), _told(stage))
        and all(is_as_it_was(stage, each) for each in memory.objects.values())
        and _is_scaled_as_it_was(stage, memory)
    )
    return Plan(requeue_after=stage.config.sync_period, memory=memory) if is_settled else stage


def finished(stage: Stage, status: Mapping[str, Any], reason: str) -> tuple[Any, ...]:
    """What has to be the case for nothing to be done the next time.

    Args:
        stage: what all objects were applied for.
        status: what is told of it in the status from now on.
        reason: what the condition gives as reason.
    """
    secrets = tuple((name, version_of(secret)) for name, secret in sorted(stage.secrets.items()))
    return (*_asked(stage), secrets, _digest_of_status(status, reason))


def _has_begun(stage: Stage) -> bool:
    return bool(stage.context.outcomes or stage.context.answers)


def _asked(stage: Stage) -> tuple[Any, ...]:
    metadata = stage.managed_resource.get("metadata") or {}
    return uid_of(stage.managed_resource), metadata.get("generation")


def _cached_secrets(stage: Stage) -> tuple[Any, ...]:
    names = sorted(frozenset(referenced_names(stage.managed_resource)))
    keys = {name: ObjectKey(stage.key.namespace, name) for name in names}
    return tuple((name, version_of(stage.snapshot.get(SECRETS, keys[name], Cluster.SOURCE) or {})) for name in names)


def _told(stage: Stage) -> bytes:
    said = stage.said(RESOURCES_APPLIED)
    return _digest_of_status(stage.status, said.reason if said is not None else "")


def _digest_of_status(status: Mapping[str, Any], reason: str) -> bytes:
    members = (status.get(name) or None for name in ("observedGeneration", "resources", "secretsDataChecksum"))
    return digest([*members, reason])


def is_as_it_was(stage: Stage, remembered: Remembered) -> bool:
    """Whether an object is as it was when the whole of it was last looked at, as far as may be trusted by now."""
    if not stage.snapshot.holds(remembered.resource) or _is_due(stage, remembered):
        return False
    kept = stage.snapshot.get(remembered.resource, remembered.key)
    return kept is not None and fingerprint(kept) == remembered.fingerprint


def _is_due(stage: Stage, remembered: Remembered) -> bool:
    """Whether the whole has to be looked at whatever its generation says; the turns of many do not fall together."""
    age = stage.context.now - remembered.seen
    if age < _SHORTEST_TRUST or not rests_on_generation(remembered.fingerprint):
        return False
    chance = int.from_bytes(blake2b(str(stage.key).encode(), digest_size=_BYTES_OF_CHANCE).digest())
    return age >= _SHORTEST_TRUST + _TRUST_DIFFERS * (chance / 256**_BYTES_OF_CHANCE)


def _is_scaled_as_it_was(stage: Stage, memory: Memory) -> bool:
    autoscaled = scaled(stage)
    if not isinstance(autoscaled, Success):
        return False
    by_kind = own_equivalences(stage)
    objects = autoscaled.unwrap()
    return all(objects.scaling_of(each.identity, by_kind) == each.scaling for each in memory.objects.values())
