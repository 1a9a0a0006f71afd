"""How objects are handed over: which requests are sent, in which order, and what is stored in the end."""

from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from returns.result import Result, Success

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow_adapters.builder import (
    NotDone,
    create,
    create_for_seed,
    create_for_shoot,
    create_from_unstructured,
)
from hedgerow_adapters.protocol.transport import Transport
from tests.unit.adapters.builder.garden import APP, NAMESPACE, Garden, Wire, problem
from tests.virtual_clock import virtual_time

DATA = {"foo": b"bar"}
UNIQUE = "managedresource-app-bd142ccf"
Creation = Callable[[Transport], Coroutine[Any, Any, Result[Manifest, NotDone]]]
CREATIONS: dict[str, tuple[Creation, dict[str, str], dict[str, Any]]] = {
    "create": (
        lambda wire: create(wire, APP, DATA, labels={"a": "b"}, spec={"class": "mine", "keepObjects": True}),
        {"a": "b"},
        {"class": "mine", "keepObjects": True},
    ),
    "for a seed": (
        lambda wire: create_for_seed(wire, APP, DATA, keep_objects=True),
        {"gardener.cloud/role": "seed-system-component"},
        {"class": "seed", "keepObjects": True},
    ),
    "for a shoot": (
        lambda wire: create_for_shoot(wire, APP, DATA, origin="gardener", keep_objects=True),
        {"origin": "gardener"},
        {"injectLabels": {"shoot.gardener.cloud/no-cleanup": "true"}, "keepObjects": True},
    ),
}


@pytest.mark.parametrize("how", CREATIONS)
@virtual_time
async def test_the_secret_is_written_before_its_managed_resource(how: str) -> None:
    creation, labels, spec = CREATIONS[how]
    garden = Garden()
    wire = Wire(garden)

    stored = (await creation(wire)).unwrap()

    assert wire.sent == [
        f"GET secrets/{UNIQUE}",
        "POST secrets",
        "GET managedresources/app",
        f"GET secrets/{UNIQUE}",
        "POST managedresources",
    ]
    assert garden.get(MANAGED_RESOURCES, APP) == stored
    assert stored["spec"] == {"secretRefs": [{"name": UNIQUE}], **spec}
    assert stored["metadata"]["labels"] == labels
    assert list(stored["metadata"]["annotations"].values()) == [UNIQUE]


@pytest.mark.parametrize("how", CREATIONS)
@virtual_time
async def test_what_was_handed_over_is_not_written_again(how: str) -> None:
    creation, _, _ = CREATIONS[how]
    garden = Garden()
    first = await creation(Wire(garden))
    wire = Wire(garden)

    assert await creation(wire) == first
    assert wire.writes == []


@virtual_time
async def test_other_objects_go_into_another_secret() -> None:
    garden = Garden()
    await create(Wire(garden), APP, DATA)
    wire = Wire(garden)

    stored = (await create(wire, APP, {"foo": b"baz"})).unwrap()

    assert wire.writes == ["POST secrets", "PUT managedresources/app"]
    (other,) = set(garden.names(SECRETS)) - {UNIQUE}
    assert stored["spec"] == {"secretRefs": [{"name": other}]}
    assert list(stored["metadata"]["annotations"].values()) == [other]


@virtual_time
async def test_objects_of_any_kind_go_into_one_value_without_a_prefix_if_so_wanted() -> None:
    garden = Garden()
    objects: list[Manifest] = [{"kind": "A"}, {"kind": "B"}]

    made = await create_from_unstructured(Wire(garden), APP, objects, with_prefix=False, spec={"class": "mine"})

    (secret,) = garden.objects(SECRETS)
    assert list(secret["data"]) == ["app"]
    assert secret["metadata"]["name"].startswith("app-")
    assert made.unwrap()["spec"] == {
        "secretRefs": [{"name": secret["metadata"]["name"]}],
        "class": "mine",
        "keepObjects": False,
        "forceOverwriteAnnotations": False,
    }


@virtual_time
async def test_nothing_to_hand_over_is_an_empty_secret() -> None:
    garden = Garden()

    await create_from_unstructured(Wire(garden), APP, [])

    (secret,) = garden.objects(SECRETS)
    assert "data" not in secret


@pytest.mark.parametrize(
    ("method", "path", "text"),
    [
        ("GET", "secrets/", "could not create or update secret of managed resources: no"),
        ("POST", "secrets", "could not create or update secret of managed resources: no"),
        ("GET", "managedresources", "could not create or update managed resource: no"),
        ("POST", "managedresources", "could not create or update managed resource: no"),
    ],
)
@virtual_time
async def test_a_refusal_is_told_with_what_was_being_done(method: str, path: str, text: str) -> None:
    garden = Garden()
    garden.refuse(method, path, "no")

    failure = (await create_for_seed(Wire(garden), APP, DATA, keep_objects=False)).failure()

    assert (failure.message, failure.retryable) == (text, False)
    assert failure.error is not None
    assert failure.error.is_forbidden


@pytest.mark.parametrize(("status", "retryable"), [(403, False), (409, True), (422, False), (429, True), (503, True)])
@virtual_time
async def test_whether_a_refused_call_may_succeed_later_is_told(status: int, *, retryable: bool) -> None:
    garden = Garden()
    garden.refuse("POST", "secrets", "no", status=status, times=None)

    assert (await create(Wire(garden), APP, DATA)).failure().retryable is retryable


@pytest.mark.parametrize("after_commit", [False, True])
@pytest.mark.parametrize("path", ["secrets", "managedresources"])
@virtual_time
async def test_what_got_no_answer_can_be_handed_over_again(path: str, *, after_commit: bool) -> None:
    garden = Garden()
    garden.lose("POST", path, after_commit=after_commit)

    failure = (await create(Wire(garden), APP, DATA)).failure()

    assert failure.message.endswith(": connection lost")
    assert (failure.error, failure.retryable) == (None, True)
    assert isinstance(await create(Wire(garden), APP, DATA), Success)
    assert (garden.names(SECRETS), garden.names(MANAGED_RESOURCES)) == ([UNIQUE], ["app"])


@virtual_time
async def test_a_name_that_no_object_can_have_is_a_failure() -> None:
    made = await create(Wire(Garden()), ObjectKey(NAMESPACE, "a/b"), DATA)

    assert problem(made).startswith("could not create or update secret of managed resources: 'managedresource-a/b-")
