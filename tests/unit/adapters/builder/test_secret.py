"""How the Secrets of ManagedResources are written."""

from functools import partial
from typing import Any

import pytest
from returns.result import Failure

from hedgerow.api.kubernetes import SECRETS
from hedgerow.machinery.objects import ObjectKey
from hedgerow_adapters.builder import reconcile_secret
from hedgerow_adapters.protocol import requests
from tests.unit.adapters.builder.garden import NAMESPACE, Garden, Wire, problem
from tests.virtual_clock import virtual_time

KEY = ObjectKey(NAMESPACE, "s1")
OTHER_LABELS = pytest.param({"labels": {"old": "label"}}, {"new": "label"}, id="LIB-4 other labels")


def wanted(labels: dict[str, str] | None = None) -> dict[str, Any]:
    metadata = {"namespace": NAMESPACE, "name": "s1"} | ({"labels": labels} if labels else {})
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque", "data": {"a": "YQ=="}}


@pytest.mark.parametrize(
    ("existing", "labels"),
    [
        OTHER_LABELS,
        pytest.param({"labels": {"old": "label"}}, None, id="no labels any more"),
        pytest.param({"annotations": {"old": "one"}}, {"new": "label"}, id="annotations"),
    ],
)
@virtual_time
async def test_what_a_secret_has_is_replaced(existing: dict[str, Any], labels: dict[str, str] | None) -> None:
    garden = Garden()
    garden.secrets("s1", **existing)
    wire = Wire(garden)

    stored = (await reconcile_secret(wire, wanted(labels))).unwrap()

    assert wire.sent == ["GET secrets/s1", "PUT secrets/s1"]
    assert garden.get(SECRETS, KEY) == stored
    assert stored["metadata"].get("labels") == labels
    assert "annotations" not in stored["metadata"]


@virtual_time
async def test_an_identical_secret_is_not_written() -> None:
    garden = Garden()
    garden.secrets("s1")
    wire = Wire(garden)

    await reconcile_secret(wire, wanted())

    assert wire.sent == ["GET secrets/s1"]


@virtual_time
async def test_who_is_overtaken_looks_again() -> None:
    garden = Garden()
    annotated = requests.merge_patch(SECRETS, KEY, {"metadata": {"annotations": {"by": "another"}}})
    wire = Wire(
        garden, {"POST secrets": partial(garden.secrets, "s1"), "PUT secrets/s1": partial(garden.insist, annotated)}
    )

    stored = (await reconcile_secret(wire, wanted({"new": "label"}))).unwrap()

    assert wire.sent == ["GET secrets/s1", "POST secrets", *["GET secrets/s1", "PUT secrets/s1"] * 2]
    assert stored["metadata"]["labels"] == {"new": "label"}


@virtual_time
async def test_who_is_overtaken_again_and_again_gives_up() -> None:
    garden = Garden()
    garden.secrets("s1")
    garden.refuse("PUT", "secrets", "the object has been modified", status=409, times=None)
    wire = Wire(garden)

    written = await reconcile_secret(wire, wanted({"new": "label"}))

    assert problem(written) == "the object has been modified"
    assert wire.writes == ["PUT secrets/s1"] * 5


@virtual_time
async def test_a_secret_of_another_type_is_refused_by_the_server_once() -> None:
    garden = Garden()
    secret = {"metadata": {"name": "s1"}, "type": "other"}
    garden.insist(requests.create(SECRETS, secret, NAMESPACE))
    wire = Wire(garden)

    assert isinstance(await reconcile_secret(wire, wanted()), Failure)
    assert wire.writes == ["PUT secrets/s1"]
