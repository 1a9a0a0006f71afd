"""How ManagedResources are written and deleted, and what becomes of their Secrets."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from returns.result import Failure, Success

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.machinery.objects import ObjectKey
from hedgerow_adapters.builder import delete, exist, reconcile, set_keep_objects
from hedgerow_adapters.protocol import requests
from tests.unit.adapters.builder.garden import APP, MARKED, NAMESPACE, Garden, Wire, managed_resource, problem
from tests.virtual_clock import virtual_time

MARKING_NEW = "marking new secrets as garbage collectable"
MARKING_OLD = "marking old secrets as garbage collectable"
APP_GET, APP_PUT = "GET managedresources/app", "PUT managedresources/app"


def marking(*names: str) -> list[str]:
    """The requests that mark Secrets which are not marked yet."""
    return [request for name in names for request in (f"GET secrets/{name}", f"PATCH secrets/{name}")]


@pytest.mark.parametrize(
    ("former", "wanted", "sent"),
    [
        pytest.param(
            ["s1", "s2", "s3"],
            ["s1", "s2"],
            [APP_GET, *marking("s1", "s2", "s3"), APP_PUT],
            id="LIB-1 a reference less",
        ),
        pytest.param(["s1"], ["s2"], [APP_GET, *marking("s1", "s2"), APP_PUT], id="another reference"),
        pytest.param(None, ["s1", "s2"], [APP_GET, *marking("s1", "s2"), "POST managedresources"], id="a new one"),
    ],
)
@virtual_time
async def test_all_secrets_are_marked_before_their_managed_resource_is_written(
    former: Sequence[str] | None, wanted: Sequence[str], sent: Sequence[str]
) -> None:
    garden = Garden()
    garden.secrets("s1", "s2", "s3")
    if former is not None:
        garden.managed_resource(managed_resource(former))
    wire = Wire(garden)

    stored = (await reconcile(wire, managed_resource(wanted))).unwrap()

    assert wire.sent == sent
    assert stored["spec"]["secretRefs"] == [{"name": name} for name in wanted]
    assert all(garden.labels(name) == MARKED for name in {*wanted, *(former or ())})


@virtual_time
async def test_the_values_of_secrets_are_not_asked_for_to_mark_them_and_a_mark_is_meant_for_what_was_seen() -> None:
    garden = Garden()
    garden.secrets("s1")
    wire = Wire(garden)
    stored = garden.get(SECRETS, ObjectKey(NAMESPACE, "s1"))
    assert stored is not None

    await reconcile(wire, managed_resource(["s1"]))

    look, mark = (request for request in wire.requests if "secrets" in request.path)
    assert "as=PartialObjectMetadata;" in look.accept
    assert mark.body == {"metadata": {"labels": MARKED, "resourceVersion": stored["metadata"]["resourceVersion"]}}


@virtual_time
async def test_what_a_managed_resource_has_stays_and_new_labels_and_annotations_are_added() -> None:  # LIB-2
    garden = Garden()
    existing = managed_resource(labels={"existing": "label"})
    garden.managed_resource(
        {**existing, "metadata": {**existing["metadata"], "annotations": {"existing": "annotation"}}}
    )
    wanted = managed_resource(labels={"new": "label"})

    await reconcile(Wire(garden), {**wanted, "metadata": {**wanted["metadata"], "annotations": {"new": "annotation"}}})

    stored = garden.get(MANAGED_RESOURCES, APP)
    assert stored is not None
    assert stored["metadata"]["labels"] == {"existing": "label", "new": "label"}
    assert stored["metadata"]["annotations"] == {"existing": "annotation", "new": "annotation"}


@virtual_time
async def test_an_identical_managed_resource_is_not_written() -> None:  # LIB-3
    garden = Garden()
    garden.secrets("s1", labels=MARKED)
    wanted = managed_resource(["s1"], labels={"origin": "gardener"}, keepObjects=False)
    await reconcile(Wire(garden), wanted)
    garden.report(APP, {"Applied": ("True", "ApplySucceeded", "done")})
    wire = Wire(garden)

    assert await reconcile(wire, wanted) == Success(garden.get(MANAGED_RESOURCES, APP))
    assert wire.sent == [APP_GET, "GET secrets/s1"]


@virtual_time
async def test_a_secret_has_to_exist_unless_it_was_referred_to_before() -> None:
    garden = Garden()
    missing = 'secrets "s1" not found'

    refused = await reconcile(Wire(garden), managed_resource(["s1"]))
    assert problem(refused) == f"{MARKING_NEW}: {missing}"
    assert garden.names(MANAGED_RESOURCES) == []

    garden.managed_resource(managed_resource(["s1"]))
    assert isinstance(await reconcile(Wire(garden), managed_resource([])), Success)


@virtual_time
async def test_a_refused_mark_keeps_the_managed_resource_as_it_is() -> None:
    garden = Garden()
    garden.secrets("s1")
    before = garden.managed_resource(managed_resource(["s1"]))
    garden.refuse("PATCH", "secrets/s1", "no")

    refused = await reconcile(Wire(garden), managed_resource([]))

    assert problem(refused) == f"{MARKING_OLD}: no"
    assert garden.get(MANAGED_RESOURCES, APP) == before


@virtual_time
async def test_a_producer_who_is_overtaken_loses_nothing_of_what_the_other_wrote() -> None:
    garden = Garden()
    garden.managed_resource(managed_resource())
    labelled = requests.merge_patch(MANAGED_RESOURCES, APP, {"metadata": {"labels": {"by": "another"}}})
    wire = Wire(garden, {APP_PUT: partial(garden.insist, labelled)})

    stored = (await reconcile(wire, managed_resource(labels={"new": "label"}))).unwrap()

    assert wire.sent == [APP_GET, APP_PUT] * 2
    assert stored["metadata"]["labels"] == {"by": "another", "new": "label"}


@virtual_time
async def test_references_that_cannot_be_told_are_a_failure() -> None:
    wire = Wire(Garden())
    wanted = managed_resource() | {"spec": {"secretRefs": [{"name": 1}]}}

    assert problem(await reconcile(wire, wanted)) == "spec.secretRefs[0].name: expected a string, got an integer"
    assert wire.writes == []


@pytest.mark.parametrize(
    ("references", "sent"),
    [
        pytest.param(None, [APP_GET, "DELETE secrets/managedresource-app"], id="LIB-6 it is gone"),
        pytest.param(
            ["s1", "gone"],
            [
                APP_GET,
                "DELETE secrets/managedresource-app",
                "DELETE secrets/s1",
                "DELETE secrets/gone",
                "DELETE managedresources/app",
            ],
            id="it exists",
        ),
    ],
)
@virtual_time
async def test_secrets_are_deleted_before_their_managed_resource(
    references: Sequence[str] | None, sent: Sequence[str]
) -> None:
    garden = Garden()
    garden.secrets("managedresource-app", "s1", "foreign")
    if references is not None:
        garden.managed_resource(managed_resource(references))
    wire = Wire(garden)

    assert await delete(wire, APP, with_prefix=True) == Success(None)
    assert wire.sent == sent
    assert garden.names(SECRETS) == (["foreign", "s1"] if references is None else ["foreign"])
    assert garden.names(MANAGED_RESOURCES) == []


@pytest.mark.parametrize(
    ("method", "path", "text"),
    [
        ("GET", "managedresources/app", "could not get managed resource 'shop/app': no"),
        ("DELETE", "secrets/app", "could not delete secret 'shop/app' of managed resource: no"),
        ("DELETE", "managedresources/app", "could not delete managed resource 'shop/app': no"),
    ],
)
@virtual_time
async def test_a_refused_deletion_is_told_with_its_object(method: str, path: str, text: str) -> None:
    garden = Garden()
    garden.managed_resource(managed_resource())
    garden.refuse(method, path, "no")

    assert problem(await delete(Wire(garden), APP, with_prefix=False)) == text
    assert garden.names(MANAGED_RESOURCES) == ["app"]


@virtual_time
async def test_a_managed_resource_that_was_made_anew_meanwhile_is_deleted_with_its_own_secrets() -> None:
    garden = Garden()
    garden.secrets("s1", "s2")
    garden.managed_resource(managed_resource(["s1"]))

    def made_anew() -> None:
        garden.insist(requests.delete(MANAGED_RESOURCES, APP))
        garden.managed_resource(managed_resource(["s2"]))

    wire = Wire(garden, {"DELETE managedresources/app": made_anew})

    assert await delete(wire, APP, with_prefix=True) == Success(None)
    assert (garden.names(SECRETS), garden.names(MANAGED_RESOURCES)) == ([], [])


@pytest.mark.parametrize("keep", [True, False])
@virtual_time
async def test_whether_objects_are_kept_is_patched_and_nothing_else(*, keep: bool) -> None:
    garden = Garden()
    garden.managed_resource(managed_resource(keepObjects=not keep))
    wire = Wire(garden)

    assert await set_keep_objects(wire, APP, keep=keep) == Success(None)
    assert wire.sent == ["PATCH managedresources/app"]
    assert wire.requests[0].body == {"spec": {"keepObjects": keep}}


@virtual_time
async def test_objects_of_a_managed_resource_that_does_not_exist_need_not_be_kept() -> None:  # LIB-7
    garden = Garden()

    assert await set_keep_objects(Wire(garden), APP, keep=True) == Success(None)

    garden.refuse("PATCH", "managedresources", "no")
    assert problem(await set_keep_objects(Wire(garden), APP, keep=True)) == "no"


@pytest.mark.parametrize(
    ("classes", "asked_for", "exists"),
    [
        pytest.param(["seed"], None, False, id="LIB-8 of another class only"),
        pytest.param(["seed", None], None, True, id="one without a class"),
        pytest.param([None, "seed"], "seed", True, id="one of that class"),
        pytest.param([], None, False, id="none at all"),
    ],
)
@virtual_time
async def test_a_class_exists_where_one_in_any_namespace_names_it(
    classes: Sequence[str | None], asked_for: str | None, *, exists: bool
) -> None:
    garden = Garden()
    for number, each in enumerate(classes):
        spec: dict[str, Any] = {"class": each} if each else {}
        garden.managed_resource(managed_resource(name=f"app-{number}", **spec))
    wire = Wire(garden)

    assert await exist(wire, asked_for) == Success(exists)
    assert wire.sent == ["GET managedresources"]


@virtual_time
async def test_a_list_that_is_refused_or_lost_is_no_absence() -> None:
    garden = Garden()
    garden.refuse("GET", "managedresources", "no")
    garden.lose("GET", "managedresources")

    refused, lost = [await exist(Wire(garden), "seed") for _ in range(2)]

    assert [problem(each) for each in (refused, lost)] == ["no", "connection lost"]
    assert isinstance(refused, Failure)
    assert (refused.failure().retryable, lost.failure().retryable) == (False, True)
