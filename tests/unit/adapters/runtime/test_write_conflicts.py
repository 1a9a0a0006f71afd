"""When a write conflict begins and ends, decided from corrections and their times."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.plan import Action, Create, Delete, JsonPatch, MergePatch, Update, WriteResult
from hedgerow_adapters.runtime.write_conflicts import (
    CORRECTIONS,
    FIRST_WAIT,
    REMEMBERED,
    WITHIN,
    WriteConflictDetector,
    changed_nothing,
)

POLICIES = Resource("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy")
OWNER = ObjectKey("shop", "cart")
KEY = ObjectKey("shop", "policy")
CREATION = Create(POLICIES, {"metadata": {"namespace": "shop", "name": "policy"}, "spec": {"a": 1}}, "desired")
PATCH = MergePatch(POLICIES, KEY, {"spec": {"a": 1}}, "desired", resource_version="7")
OPERATIONS = JsonPatch(POLICIES, KEY, ({"op": "remove", "path": "/spec"},), "desired")
DELETION = Delete(POLICIES, KEY, "superfluous", uid="1")


def updated(version: str, subresource: str = "", **fields: object) -> Update:
    metadata = {"namespace": "shop", "name": "policy", "resourceVersion": version, "generation": int(version)}
    return Update(POLICIES, {"metadata": metadata, "spec": {"a": 1}, **fields}, "desired", subresource)


def waits(detector: WriteConflictDetector, *corrections: tuple[float, Action]) -> list[float]:
    """How long a key waits after each correction."""
    slowdowns = [detector.carried_out(OWNER, [WriteResult(action)], time) for time, action in corrections]
    return [slowdown.seconds if slowdown else 0 for slowdown in slowdowns]


def every(seconds: float, *actions: Action, times: int = CORRECTIONS + 1) -> list[tuple[float, Action]]:
    return [(position * seconds, actions[position % len(actions)]) for position in range(times)]


@pytest.mark.parametrize(
    "again",
    [
        pytest.param((CREATION,), id="created, as somebody deletes it"),
        pytest.param((DELETION, replace(DELETION, uid="2")), id="deleted, as somebody creates it"),
        pytest.param((PATCH, replace(PATCH, resource_version="8")), id="patched, as somebody patches it back"),
        pytest.param((OPERATIONS,), id="patched otherwise"),
        pytest.param(
            (updated("7", status={"b": 1}), updated("8", status={"b": 2})), id="updated, whatever is observed"
        ),
    ],
)
def test_one_correction_too_many_of_equal_content_is_a_fight(again: tuple[Action, ...]) -> None:
    assert waits(WriteConflictDetector(), *every(1, *again)) == [0] * CORRECTIONS + [FIRST_WAIT]


@pytest.mark.parametrize(
    "different",
    [
        pytest.param((CREATION, DELETION), id="created and deleted, as somebody asks for it and no longer"),
        pytest.param((PATCH, replace(PATCH, patch={"spec": {"a": 2}})), id="other content"),
        pytest.param((PATCH, replace(PATCH, reason="moved")), id="another reason"),
        pytest.param((PATCH, replace(PATCH, subresource="status")), id="another subresource"),
        pytest.param((PATCH, replace(PATCH, key=ObjectKey("shop", "b"))), id="another object"),
        pytest.param((PATCH, replace(PATCH, cluster=Cluster.SOURCE)), id="the object of another cluster"),
        pytest.param((updated("7"), updated("7", spec={"a": 2})), id="updated to something else"),
        pytest.param((updated("7", "status", status=1), updated("7", "status", status=2)), id="another status"),
    ],
)
def test_corrections_that_differ_are_none(different: tuple[Action, Action]) -> None:
    assert set(waits(WriteConflictDetector(), *every(1, *different, times=2 * CORRECTIONS))) == {0}


def stored(number: int, **fields: object) -> Manifest:
    """The object as it is after one of several writes."""
    metadata = {"namespace": "shop", "name": "policy", "resourceVersion": str(number), "generation": number}
    metadata |= {"uid": str(number), "creationTimestamp": f"2026-01-01T00:00:{number:02}Z", "managedFields": [number]}
    return {"metadata": metadata, "spec": {"a": 1}, **fields}


REMOVAL = replace(PATCH, patch={"spec": {"b": None}})


@pytest.mark.parametrize(
    "turns",
    [
        pytest.param((PATCH, REMOVAL), id="changed here and there in turns"),
        pytest.param((CREATION, PATCH), id="deleted and changed in turns"),
        pytest.param(
            tuple(replace(PATCH, patch={"spec": {str(number): None}}) for number in range(CORRECTIONS + 1)),
            id="changed otherwise every time",
        ),
    ],
)
def test_who_undoes_an_object_in_a_different_way_each_time_fights_as_well(turns: tuple[Action, ...]) -> None:
    detector = WriteConflictDetector()
    outcomes = [
        WriteResult(action, stored(number, status={"observed": number}))
        for number, (_, action) in enumerate(every(1, *turns))
    ]

    slowdowns = [detector.carried_out(OWNER, [outcome], time) for time, outcome in enumerate(outcomes)]

    assert [slowdown and slowdown.seconds for slowdown in slowdowns] == [None] * CORRECTIONS + [FIRST_WAIT]


@pytest.mark.parametrize(
    "turns",
    [
        pytest.param(
            (WriteResult(PATCH, stored(1)), WriteResult(REMOVAL, stored(2, spec={"a": 2}))), id="another object"
        ),
        pytest.param(
            (WriteResult(CREATION, stored(1)), WriteResult(DELETION, stored(1))), id="asked for and no longer"
        ),
        pytest.param(
            tuple(
                WriteResult(
                    replace(PATCH, patch={"status": number}, subresource="status"), stored(number, status=number)
                )
                for number in range(2)
            ),
            id="another status",
        ),
    ],
)
def test_a_wish_that_changes_is_no_conflict(turns: tuple[WriteResult, ...]) -> None:
    detector = WriteConflictDetector()

    assert [detector.carried_out(OWNER, [turns[time % 2]], time) for time in range(4 * CORRECTIONS)] == [None] * 20


@pytest.mark.parametrize(
    ("longest", "expected"), [(60.0, [FIRST_WAIT, 60, 60, 60]), (10.0, [10] * 4), (1000.0, [30, 60, 120, 240])]
)
def test_a_key_waits_no_longer_than_its_controller_allows(longest: float, expected: list[float]) -> None:
    assert waits(WriteConflictDetector(longest), *every(1, PATCH, times=CORRECTIONS + 4))[CORRECTIONS:] == expected


def test_two_keys_of_one_controller_that_undo_each_other_fight_as_any_others_do() -> None:
    detector, mine, theirs = WriteConflictDetector(), PATCH, replace(PATCH, patch={"spec": {"a": 2}})
    begun: dict[str, list[str]] = {"mine": [], "theirs": []}
    for time in range(2 * (CORRECTIONS + 1)):
        name, action = ("theirs", theirs) if time % 2 else ("mine", mine)
        slowdown = detector.carried_out(ObjectKey("shop", name), [WriteResult(action)], time)
        begun[name] += [str(conflict) for conflict in slowdown.begun] if slowdown else []

    told = f"NetworkPolicy {KEY} was corrected 6 times within 1 minute (desired): somebody undoes it"
    assert begun == {"mine": [told], "theirs": [told]}


@pytest.mark.parametrize(
    ("write", "stored", "expected"),
    [
        pytest.param(updated("7"), "7", True, id="an update that leaves the version"),
        pytest.param(updated("7"), "8", False, id="an update that makes a version"),
        pytest.param(PATCH, "7", True, id="a patch that leaves the version"),
        pytest.param(PATCH, "8", False, id="a patch that makes a version"),
        pytest.param(replace(PATCH, resource_version=None), "7", False, id="a patch for whatever version"),
        pytest.param(CREATION, "7", False, id="a creation"),
        pytest.param(DELETION, None, False, id="a deletion"),
        pytest.param(updated("7"), None, False, id="an update of which nobody knows more"),
        pytest.param(replace(CREATION, subresource="token"), None, True, id="a token that is asked for"),
        pytest.param(CREATION, "7", False, id="an object that is created"),
    ],
)
def test_a_write_that_leaves_the_version_has_changed_nothing(
    write: Action, stored: str | None, *, expected: bool
) -> None:
    now = None if stored is None else {"metadata": {"resourceVersion": stored}}

    assert changed_nothing(write, now) is expected


def test_few_enough_corrections_for_the_time_are_none() -> None:
    assert set(waits(WriteConflictDetector(), *every(WITHIN / CORRECTIONS + 1, PATCH, times=100))) == {0}


def test_the_longer_a_fight_the_longer_the_wait() -> None:
    detector = WriteConflictDetector()
    assert waits(detector, *every(0, PATCH))[-1] == 30

    now = 0.0
    found: list[float] = []
    for _ in range(7):
        now += ([30, *found])[-1]
        found += waits(detector, (now, PATCH))

    assert found == [60, 120, 240, 480, 600, 600, 600]


def test_a_fight_is_told_once_with_how_often_and_how_long_it_went_on() -> None:
    detector = WriteConflictDetector()
    slowdowns = [detector.carried_out(OWNER, [WriteResult(PATCH)], time) for time in range(0, 100 * 9, 100)]

    begun = [str(conflict) for slowdown in slowdowns if slowdown for conflict in slowdown.begun]

    assert begun == ["NetworkPolicy shop/policy was corrected 6 times within 8 minutes (desired): somebody undoes it"]


def test_two_objects_of_a_key_make_it_wait_once() -> None:
    detector = WriteConflictDetector()
    other = replace(PATCH, key=ObjectKey("shop", "other"))
    slowdowns = [
        detector.carried_out(OWNER, [WriteResult(PATCH), WriteResult(other)], time) for time in range(CORRECTIONS + 2)
    ]

    assert [slowdown and (slowdown.seconds, len(slowdown.begun)) for slowdown in slowdowns[-3:]] == [
        None, (30, 2), (60, 0)
    ]  # fmt: skip


def test_a_fight_that_was_quiet_for_long_enough_begins_anew() -> None:
    detector = WriteConflictDetector()
    waits(detector, *every(1, PATCH))
    last = CORRECTIONS + FIRST_WAIT + WITHIN

    assert waits(detector, (last, PATCH)) == [2 * FIRST_WAIT]
    later = last + 2 * FIRST_WAIT + WITHIN + 1
    assert waits(detector, *[(later + time, action) for time, action in every(1, PATCH)]) == [
        *[0] * CORRECTIONS, FIRST_WAIT
    ]  # fmt: skip


def test_what_is_old_is_forgotten_and_so_is_what_is_too_much() -> None:
    detector = WriteConflictDetector()
    keys = [ObjectKey("shop", str(number)) for number in range(REMEMBERED + 100)]

    detector.carried_out(OWNER, [WriteResult(replace(PATCH, key=key)) for key in keys], 0)
    assert len(detector) == REMEMBERED
    detector.carried_out(OWNER, [WriteResult(PATCH)], WITHIN + 1)
    assert len(detector) == 1


@given(st.lists(st.floats(0, 5000), max_size=200), st.integers(0, 3))
def test_however_the_other_side_times_it_writes_are_bounded(pauses: list[float], seed: int) -> None:
    """The object is undone some time after each wait, and then corrected."""
    detector, now, times = WriteConflictDetector(), float(seed), []
    for pause in pauses:
        (wait,) = waits(detector, (now, PATCH))
        times.append(now)
        now += wait + pause

    for begin in times:
        assert len([time for time in times if begin <= time < begin + 3600]) < 50
