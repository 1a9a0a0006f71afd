"""Cleans the nodes of a Shoot: deploys a DaemonSet, waits until every node is clean, and removes it again.

The DaemonSet undoes what the extension has configured. Its pods become ready once their script has succeeded, so that a
healthy DaemonSet means that every node is clean.

No worker waits: the turn ends with a `Waiting`, and a change of the cleaner's ManagedResource, or the end of the wait,
brings the next one.

Source: rsyslog-relp §4.4, §6.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, auto
from functools import cache
from typing import Final

from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.machinery.objects import Manifest, ObjectKey, is_terminating
from hedgerow.machinery.questions import NotAnswered
from hedgerow.machinery.steps import Now
from hedgerow.resource_manager.builder import deploying, health_problem, new_for_shoot, new_secret
from hedgerow.resource_manager.builder.managed_resource import deletion_problem, still_exists
from hedgerow.rsyslog_relp.naming import CLEANER, CLEANER_MANAGED_RESOURCE, TYPE
from hedgerow.rsyslog_relp.rendering import HOST, cleaner_script, rendered

LONGEST_WAIT: Final = timedelta(minutes=2)
"""How long the cleaner may take to become healthy, and again to go."""
_TIMEOUT: Final = "retry failed with context deadline exceeded, last error: "
_DEPLOY: Final = "failed to deploy the rsyslog relp configuration cleaner component: "
_DESTROY: Final = "failed to destroy the rsyslog relp configuration cleaner component: "


@dataclass(frozen=True, slots=True)
class CleanerImages:
    """The images of the DaemonSet."""

    alpine: str = "europe-docker.pkg.dev/gardener-project/releases/3rd/alpine:3.18.4"
    pause: str = "registry.k8s.io/pause:3.9"

    @property
    def problem(self) -> str | None:
        """What is missing, if anything."""
        missing = next((name for name in ("alpine", "pause") if not getattr(self, name)), None)
        return missing and f"failed to find the {missing} image: no image is configured"


def cleaner_objects(namespace: str, images: CleanerImages) -> tuple[Manifest, Manifest]:
    """The Secret with the DaemonSet, and the ManagedResource that names it, in the namespace of a Shoot."""
    content = {f"daemonset__kube-system__{CLEANER}.yaml": _daemon_set(images)}
    secret = new_secret(namespace, CLEANER_MANAGED_RESOURCE, content, with_prefix=True)
    name = secret["metadata"]["name"]
    return secret, new_for_shoot(
        namespace, CLEANER_MANAGED_RESOURCE, secret_names=(name,), origin=TYPE, keep_objects=False
    )


@cache
def _daemon_set(images: CleanerImages) -> bytes:
    text = rendered("daemon-set.yaml", name=CLEANER, images=images, script=cleaner_script(), host=HOST)
    return text.encode()


class Phase(Enum):
    """What is waited for."""

    HEALTHY = auto()
    """The cleaner: every node is clean then."""
    GONE = auto()
    """That the cleaner goes: the nodes are clean."""
    EARLIER_GONE = auto()
    """That a cleaner goes of which is not known what it has cleaned; then another one is deployed."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A wait for the cleaner; the `state` of a key."""

    phase: Phase
    until: datetime


async def clean_nodes(namespace: str, images: CleanerImages | None, waiting: Waiting | None) -> Waiting | str | None:
    """Go on with the cleaning: what to wait for, or why it failed; none: every node is clean, and the cleaner gone.

    Args:
        namespace: of the Shoot.
        images: of the cleaner; none: there are no nodes any more, and only an earlier cleaner is removed.
        waiting: what the last turn ended with, if it waits.
    """
    key = ObjectKey(namespace, CLEANER_MANAGED_RESOURCE)
    if waiting is None or waiting.phase is not Phase.GONE:
        if images is not None and (unfinished := await _deployed(key, images, waiting)):
            return unfinished
        if error := await deploying.remove(key, "cleaned", with_prefix=False):
            return f"{_DESTROY}{error}"
        waiting = None
    return await _gone(key, Phase.GONE, waiting)


async def _gone(key: ObjectKey, phase: Phase, waiting: Waiting | None) -> Waiting | str | None:
    """Wait for the end of a cleaner that is being deleted; none: it is gone."""
    match await deploying.look(MANAGED_RESOURCES, key):
        case None:
            return None
        case NotAnswered(message=message):
            return f"{_DESTROY}{message}"
        case managed_resource:
            late = deletion_problem(managed_resource, f"{_TIMEOUT}{still_exists(key)}")
    return await _wait(waiting, phase, f"{_DESTROY}{late}")


async def _deployed(key: ObjectKey, images: CleanerImages, waiting: Waiting | None) -> Waiting | str | None:
    """Deploy the cleaner, unless it is waited for already; none: it is healthy."""
    if waiting is None or waiting.phase is Phase.EARLIER_GONE:
        earlier = await deploying.look(MANAGED_RESOURCES, key)
        if isinstance(earlier, Mapping) and is_terminating(earlier):
            return await _gone(key, Phase.EARLIER_GONE, waiting)
        waiting = None
        if problem := images.problem:
            return problem
        if error := await deploying.deploy(*cleaner_objects(key.namespace, images), "extension-deleted"):
            return f"{_DEPLOY}{error}"
    match await deploying.look(MANAGED_RESOURCES, key):
        case None:
            return f'{_DEPLOY}{MANAGED_RESOURCES} "{key.name}" not found'
        case NotAnswered(message=message):
            return f"{_DEPLOY}{message}"
        case managed_resource:
            problem = health_problem(managed_resource)
    return problem and await _wait(waiting, Phase.HEALTHY, f"{_DEPLOY}{_TIMEOUT}{problem}")


async def _wait(waiting: Waiting | None, phase: Phase, late: str) -> Waiting | str:
    """Wait on, or from now on if the wait has not begun; after its end, the error."""
    now = await Now()
    waiting = waiting or Waiting(phase, now + LONGEST_WAIT)
    return waiting if now < waiting.until else late
