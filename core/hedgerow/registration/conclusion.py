"""How a turn of an installation ends: what its conditions say, and whether it failed.

Source: controller-registration §3.5, §8.4, §8.10.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from hedgerow.api.registrations import CONTROLLER_INSTALLATIONS, INSTALLED, VALID
from hedgerow.machinery.conditions import Condition, ConditionStatus, get_or_init, updated
from hedgerow.machinery.failures import Failure, retryable_failure
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.steps import Now
from hedgerow.registration.conditions import write_conditions

PENDING: Final = "InstallationPending"
"""The reason of a condition that says nothing where its status is known already."""

Content: TypeAlias = tuple[ConditionStatus, str, str]
"""Status, reason and message of a condition."""


class Conclusion(NamedTuple):
    """The end of one turn."""

    failure: Failure | None = None
    conditions: Mapping[str, Content] = {}
    """What they are to say, by type; the others stay as they are."""
    requeue_after: float | None = None

    @property
    def plan(self) -> Plan:
        """The plan of a turn without conditions."""
        return Plan(failures=(self.failure,) if self.failure else (), requeue_after=self.requeue_after)

    async def write(self, installation: Manifest) -> Plan:
        """Store the conditions of the installation; the plan then."""
        now = await Now()

        def checked(existing: Sequence[Condition]) -> Sequence[Condition]:
            conditions = {type_: get_or_init(existing, type_, now) for type_ in (VALID, INSTALLED)}
            for type_, content in self.conditions.items():
                if content[1] != PENDING or conditions[type_].status == ConditionStatus.UNKNOWN:
                    conditions[type_] = updated(conditions[type_], *content, now=now)
            return [*conditions.values()]

        error = await write_conditions(CONTROLLER_INSTALLATIONS, installation, checked, "conditions")
        if error is None or self.failure is not None:
            return self.plan
        return problem(key_of(installation), f"conditions cannot be stored: {error}").plan


def problem(key: ObjectKey, text: str, conditions: Mapping[str, Content] | None = None) -> Conclusion:
    """The end of a turn that failed, and is tried again."""
    return Conclusion(retryable_failure(CONTROLLER_INSTALLATIONS, key, text), conditions or {})


def unread(key: ObjectKey, resource: Resource, text: str, *, is_missing: bool = False) -> Conclusion:
    """The end of a turn that needs an object, which does not exist or cannot be read; `text` says why."""
    name = resource.kind.removeprefix("Controller")
    status, reason = (
        (ConditionStatus.FALSE, f"{name}NotFound") if is_missing else (ConditionStatus.UNKNOWN, f"{name}ReadError")
    )
    message = f"Referenced {resource.kind} {'does not exist' if is_missing else 'cannot be read'}: {text}"
    return problem(key, message, {VALID: (status, reason, message)})
