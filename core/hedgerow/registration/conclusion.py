"""How a turn of an installation ends: what its conditions say, and whether it failed.

Source: controller-registration §3.5, §8.4, §8.10.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from hedgerow.api.registrations import CONTROLLER_INSTALLATIONS, INSTALLED, VALID
from hedgerow.machinery.conditions import Condition, ConditionStatus, get_or_init, updated
from hedgerow.machinery.failures import Failure, retryable_failure
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.steps import Now
from hedgerow.registration.conditions import write_conditions


class Claim(NamedTuple):
    """What a condition is to say."""

    status: ConditionStatus
    reason: str
    message: str
    only_if_unknown: bool = False
    """True: a status that is known stays."""

    def of(self, condition: Condition, now: datetime) -> Condition:
        """The condition that says so."""
        if self.only_if_unknown and condition.status != ConditionStatus.UNKNOWN:
            return condition
        return updated(condition, self.status, self.reason, self.message, now=now)


class Conclusion(NamedTuple):
    """The end of one turn."""

    failure: Failure | None = None
    valid: Claim | None = None
    installed: Claim | None = None
    """What the conditions are to say; none: they stay as they are."""
    requeue_after: float | None = None

    @property
    def plan(self) -> Plan:
        """The plan of a turn without conditions."""
        return Plan(failures=(self.failure,) if self.failure else (), requeue_after=self.requeue_after)

    async def write(self, installation: Manifest) -> Plan:
        """Store the conditions of the installation; the plan then."""
        now = await Now()

        def checked(existing: Sequence[Condition]) -> Sequence[Condition]:
            claims = {VALID: self.valid, INSTALLED: self.installed}
            initial = {type_: get_or_init(existing, type_, now) for type_ in claims}
            return [claim.of(initial[type_], now) if claim else initial[type_] for type_, claim in claims.items()]

        error = await write_conditions(CONTROLLER_INSTALLATIONS, installation, checked, "conditions")
        if error is None or self.failure is not None:
            return self.plan
        return problem(key_of(installation), f"conditions cannot be stored: {error}").plan


def problem(key: ObjectKey, text: str, *, valid: Claim | None = None, installed: Claim | None = None) -> Conclusion:
    """The end of a turn that failed, and is tried again."""
    return Conclusion(retryable_failure(CONTROLLER_INSTALLATIONS, key, text), valid, installed)


def unread(key: ObjectKey, resource: Resource, text: str, *, is_missing: bool = False) -> Conclusion:
    """The end of a turn that needs an object, which does not exist or cannot be read; `text` says why."""
    name = resource.kind.removeprefix("Controller")
    if is_missing:
        message = f"Referenced {resource.kind} does not exist: {text}"
        claim = Claim(ConditionStatus.FALSE, f"{name}NotFound", message)
    else:
        message = f"Referenced {resource.kind} cannot be read: {text}"
        claim = Claim(ConditionStatus.UNKNOWN, f"{name}ReadError", message)
    return problem(key, message, valid=claim)
