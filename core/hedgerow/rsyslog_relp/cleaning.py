"""Cleans the nodes of a Shoot: deploys the cleaner, waits until every node is clean, and removes it again.

No worker waits: the turn ends with a `Waiting`, and a change of the cleaner's ManagedResource, or the end of the wait,
brings the next one.

Source: rsyslog-relp §4.4.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Final

from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.questions import NotAnswered
from hedgerow.machinery.steps import Now
from hedgerow.resource_manager.builder import deploying, health_problem
from hedgerow.resource_manager.builder.managed_resource import deletion_problem, still_exists
from hedgerow.rsyslog_relp.cleaner import CleanerImages, cleaner_objects
from hedgerow.rsyslog_relp.naming import CLEANER_MANAGED_RESOURCE

LONGEST_WAIT: Final = timedelta(minutes=2)
"""How long the cleaner may take to become healthy, and again to go."""
_TIMEOUT: Final = "retry failed with context deadline exceeded, last error: "
_DEPLOY: Final = "failed to deploy the rsyslog relp configuration cleaner component: "
_DESTROY: Final = "failed to destroy the rsyslog relp configuration cleaner component: "


class Phase(Enum):
    """What is waited for: that the cleaner is healthy, or that it is gone."""

    HEALTHY = auto()
    GONE = auto()


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
    if waiting is None or waiting.phase is Phase.HEALTHY:
        if images is not None and (unfinished := await _deployed(key, images, waiting)):
            return unfinished
        if error := await deploying.remove(key, "cleaned", with_prefix=False):
            return f"{_DESTROY}{error}"
        waiting = None
    match await deploying.look(MANAGED_RESOURCES, key):
        case None:
            return None
        case NotAnswered(message=message):
            return f"{_DESTROY}{message}"
        case managed_resource:
            late = deletion_problem(managed_resource, f"{_TIMEOUT}{still_exists(key)}")
    return await _wait(waiting, Phase.GONE, f"{_DESTROY}{late}")


async def _deployed(key: ObjectKey, images: CleanerImages, waiting: Waiting | None) -> Waiting | str | None:
    """Deploy the cleaner, unless it is waited for already; none: it is healthy."""
    if waiting is None:
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
