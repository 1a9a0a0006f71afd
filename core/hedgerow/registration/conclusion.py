"""How a turn of an installation ends: what its conditions say, and whether it failed.

Source: controller-registration §3.5, §8.4, §8.10.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from hedgerow.api.registrations import CONTROLLER_INSTALLATIONS, INSTALLED, VALID
from hedgerow.machinery.conditions import Condition, ConditionStatus, get_or_init, updated
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.questions import NotAnswered
from hedgerow.machinery.reading import UnreadableError
from hedgerow.machinery.steps import Now
from hedgerow.registration.conditions import write_conditions

PENDING: Final = "InstallationPending"
"""The reason of a condition that says nothing where its status is known already."""

Content: TypeAlias = tuple[ConditionStatus, str, str]
"""Status, reason and message of a condition."""


class Conclusion(NamedTuple):
    """The end of one turn."""

    problem: str = ""
    """Why it failed; empty: it has not."""
    conditions: Mapping[str, Content] = {}
    """What they are to say, by type; the others stay as they are."""
    retryable: bool = True
    requeue_after: float | None = None

    def plan(self, key: ObjectKey) -> Plan:
        """The plan of a turn without conditions."""
        failure = Failure(CONTROLLER_INSTALLATIONS, key, Problem("", self.problem), retryable=self.retryable)
        return Plan(failures=(failure,) if self.problem else (), requeue_after=self.requeue_after)

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
        if error is None:
            return self.plan(key_of(installation))
        # What no condition says would never be told if it were not tried again.
        problem = self.problem or f"conditions cannot be stored: {error}"
        return Conclusion(problem).plan(key_of(installation))


def unread(resource: Resource, why: NotAnswered | UnreadableError) -> Conclusion:
    """The end of a turn that needs an object, which does not exist or cannot be read."""
    name = resource.kind.removeprefix("Controller")
    if isinstance(why, NotAnswered) and why.is_not_found:
        message = f"Referenced {resource.kind} does not exist: {why.message}"
        return Conclusion(message, {VALID: (ConditionStatus.FALSE, f"{name}NotFound", message)})
    text = why.message if isinstance(why, NotAnswered) else str(why)
    message = f"Referenced {resource.kind} cannot be read: {text}"
    return Conclusion(message, {VALID: (ConditionStatus.UNKNOWN, f"{name}ReadError", message)})
