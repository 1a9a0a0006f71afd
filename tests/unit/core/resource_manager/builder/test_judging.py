"""What those who wait for ManagedResources conclude."""

from typing import Any

import pytest

from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.resource_manager.builder import health_problem, progress_problem
from hedgerow.resource_manager.builder.managed_resource import any_of_class, deletion_problem, error_codes, still_exists

PENDING = "deletion of old resource is still pending"


def managed_resource(
    *, applied: str = "True", healthy: str = "True", progressing: str = "False", **of: Any
) -> Manifest:
    statuses = {"ResourcesApplied": applied, "ResourcesHealthy": healthy, "ResourcesProgressing": progressing}
    return {
        "metadata": {"namespace": "shop", "name": "app", "generation": 1},
        "spec": {},
        "status": {
            "observedGeneration": 1,
            "conditions": [
                {"type": type_, "status": status, "reason": "Reason", "message": PENDING} | of
                for type_, status in statuses.items()
            ],
        },
    }


@pytest.mark.parametrize(
    ("state", "health", "progress"),
    [
        ({}, None, None),
        ({"progressing": "True"}, None, "managed resource shop/app is still progressing"),
        ({"healthy": "False"}, *["managed resource shop/app is not healthy"] * 2),
        ({"applied": "False"}, *["managed resource shop/app is not healthy"] * 2),
        ({"healthy": "False", "progressing": "True"}, *["managed resource shop/app is not healthy"] * 2),
    ],
)
def test_waiting_ends_when_everything_is_applied_healthy_and_rolled_out(
    state: dict[str, str], health: str | None, progress: str | None
) -> None:
    assert health_problem(managed_resource(**state)) == health
    assert progress_problem(managed_resource(**state)) == progress


def test_a_status_that_is_outdated_is_not_healthy() -> None:
    changed = {**managed_resource(), "metadata": {"namespace": "shop", "name": "app", "generation": 2}}

    assert health_problem(changed) == "managed resource shop/app is not healthy"


@pytest.mark.parametrize("reason", ["DeletionPending", "DeletionFailed"])
def test_a_deletion_that_takes_too_long_is_told_with_what_holds_it_up(reason: str) -> None:
    timeout = still_exists(ObjectKey("shop", "app"))

    assert deletion_problem(managed_resource(applied="Progressing", reason=reason), timeout) == (
        f"error while waiting for all resources to be deleted: resource shop/app still exists:\n{PENDING}"
    )


@pytest.mark.parametrize(
    "stuck",
    [
        managed_resource(applied="Progressing", reason="ApplyProgressing"),
        managed_resource(applied="True", reason="DeletionPending"),
        {"metadata": {"name": "app"}},
    ],
)
def test_a_deletion_that_nothing_is_known_of_is_told_as_the_timeout_alone(stuck: Manifest) -> None:
    assert deletion_problem(stuck, "too late") == "too late"


def test_a_class_exists_only_where_one_names_exactly_it() -> None:  # LIB-8
    seed: Manifest = {"spec": {"class": "seed"}}
    without: Manifest = {"spec": {}}

    assert not any_of_class([seed], None)
    assert any_of_class([seed, without], None)
    assert any_of_class([without, seed], "seed")
    assert not any_of_class([without, {"spec": {"class": ""}}], "resources")
    assert not any_of_class([{"spec": {"class": ""}}], None)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ('Error during apply of object "v1/Service/a/b" IS invalid: spec', ("ERR_CONFIGURATION_PROBLEM",)),
        ('task failed: error during apply of object "x": Service "b" is invalid: y', ("ERR_CONFIGURATION_PROBLEM",)),
        ('error during apply of object "x": forbidden', ()),
        ("is invalid: error during apply of object", ()),
    ],
)
def test_an_object_that_is_invalid_is_for_users_to_correct(text: str, codes: tuple[str, ...]) -> None:
    assert error_codes(text) == codes
