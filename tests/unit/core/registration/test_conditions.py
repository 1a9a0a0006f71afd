"""Conditions are written although others write theirs beside them (§2)."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from hedgerow.api.registrations import CONTROLLER_INSTALLATIONS
from hedgerow.machinery.conditions import Condition, get_or_init, updated
from hedgerow.machinery.objects import Manifest, is_terminating
from hedgerow.machinery.plan import ApiError, MergePatch, WriteResult
from hedgerow.machinery.questions import NOT_FOUND, Answer, Found, NotAnswered, ObjectQuestion
from hedgerow.machinery.steps import Execution
from hedgerow.registration.conditions import MOST_ATTEMPTS, write_conditions
from tests.unit.core.registration.objects import condition, installation

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CONFLICT = ApiError(409, "Conflict", "changed meanwhile")
GONE = NotAnswered(404, NOT_FOUND, "gone")
STORED = None


def checked(existing: Sequence[Condition]) -> list[Condition]:
    return [updated(get_or_init(existing, "Valid", NOW), "True", "Mine", "m", now=NOW)]


def of_version(version: str, *conditions: Manifest, **metadata: Any) -> dict[str, Any]:
    return installation(conditions=conditions, uid="u", resourceVersion=version, **metadata)


def written(*replies: ApiError | Answer | None, **options: Any) -> tuple[str | None, list[MergePatch]]:
    """What becomes of the conditions if the API server replies so, and the patches that it got."""
    patches, remaining = [], list(replies)
    with Execution(write_conditions(CONTROLLER_INSTALLATIONS, of_version("1"), checked, "r", **options)) as execution:
        state: Any = execution.begin()
        while isinstance(state, MergePatch | ObjectQuestion):
            reply: Any = remaining.pop(0)
            if isinstance(state, MergePatch):
                patches.append(state)
                reply = WriteResult(state, error=reply)
            state = execution.go_on(reply)
    assert remaining == []
    return state, patches


def test_a_conflict_is_solved_beside_what_others_have_written() -> None:
    problem, patches = written(CONFLICT, Found((of_version("2", condition("Installed", "True")),)), STORED)

    assert problem is None
    assert [each.resource_version for each in patches] == ["1", "2"]
    types = [[each["type"] for each in patch.patch["status"]["conditions"]] for patch in patches]
    assert types == [["Valid"], ["Installed", "Valid"]]


def test_what_another_has_written_meanwhile_is_not_written_again() -> None:
    ours = {**condition("Valid", "True", "m"), "reason": "Mine"}

    assert len(written(CONFLICT, Found((of_version("2", ours),)))[1]) == 1


def test_an_object_that_is_gone_needs_no_conditions() -> None:
    assert written(ApiError(404, NOT_FOUND, "gone"))[0] is None
    assert written(CONFLICT, GONE)[0] is None


def test_nor_does_another_one_of_its_name_or_one_that_no_longer_gets_any() -> None:
    other = {**of_version("2"), "metadata": {"name": "i", "uid": "v", "resourceVersion": "2"}}
    going = of_version("2", deletionTimestamp="2026-01-01T00:00:00Z")

    assert len(written(CONFLICT, Found((other,)))[1]) == 1
    assert len(written(CONFLICT, Found((going,)), applies=lambda latest: not is_terminating(latest))[1]) == 1


def test_any_other_refusal_ends_it() -> None:
    assert written(ApiError(403, "Forbidden", "no"))[0] == "no"
    assert written(CONFLICT, NotAnswered(500, "", "lost"))[0] == "lost"


def test_it_ends_after_some_conflicts() -> None:
    again = [each for version in "2345" for each in (CONFLICT, Found((of_version(version),)))]
    problem, patches = written(*again, CONFLICT)

    assert (problem, len(patches)) == ("changed meanwhile", MOST_ATTEMPTS)
