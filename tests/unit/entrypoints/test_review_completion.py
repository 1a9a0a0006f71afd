"""What an API server fills in before it asks webhooks."""

from dataclasses import replace
from typing import Any

import pytest

from hedgerow.admission.request import AdmissionRequest, creation, deletion, update
from hedgerow.machinery.objects import Resource
from hedgerow_entrypoints.cli.review.requests import as_defaulted, as_to_be_stored

INFRASTRUCTURES = Resource("extensions.gardener.cloud", "v1alpha1", "infrastructures", "Infrastructure")


def infrastructure(**metadata: Any) -> dict[str, Any]:
    return {"apiVersion": INFRASTRUCTURES.api_version, "kind": INFRASTRUCTURES.kind, "metadata": metadata}


def test_what_only_a_server_decides_stays_whatever_an_update_says() -> None:
    old = infrastructure(uid="a", resourceVersion="7", generation=3, creationTimestamp="yesterday")
    new = infrastructure(uid="b", resourceVersion="", generation=1, creationTimestamp=None)

    completed = as_to_be_stored(update(INFRASTRUCTURES, new, old))

    assert completed.object["metadata"] == {**old["metadata"], "uid": "b"}
    assert completed.old_object == old


def test_a_long_prefix_makes_room_for_what_follows_it() -> None:
    completed = as_to_be_stored(creation(INFRASTRUCTURES, infrastructure(generateName=60 * "a")))

    assert completed.name == completed.object["metadata"]["name"] == 58 * "a" + "xxxxx"


@pytest.mark.parametrize(
    "asked",
    [
        creation(INFRASTRUCTURES, infrastructure(name="a", generateName="b-")),
        creation(INFRASTRUCTURES, infrastructure(generateName=5)),
        creation(INFRASTRUCTURES, [5]),
        update(INFRASTRUCTURES, infrastructure(name="a"), {"metadata": 5}),
        replace(update(INFRASTRUCTURES, infrastructure(name="a"), infrastructure(uid="b")), subresource="status"),
        deletion(INFRASTRUCTURES, infrastructure(generateName="a-")),
    ],
    ids=["named", "unreadable-prefix", "no-object", "unreadable-old-object", "subresource", "deletion"],
)
def test_where_there_is_nothing_to_fill_in_a_request_stays_as_it_is(asked: AdmissionRequest) -> None:
    assert as_to_be_stored(asked) is asked


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ({"data": {"a": "QQ==", "b": "QQ=="}, "stringData": {"b": "B"}}, {"data": {"a": "QQ==", "b": "Qg=="}}),
        ({"data": None, "stringData": {"a": None}}, {"data": {"a": ""}}),
        ({"stringData": {}}, {}),
        ({"stringData": {"a": 5}}, {"stringData": {"a": 5}}),
        ({"data": 5, "stringData": {"a": "A"}}, {"data": 5, "stringData": {"a": "A"}}),
        ({"stringData": {"a": "\ud800"}}, {"data": {"a": "Pw=="}}),
    ],
    ids=["over-others", "empty", "none", "no-texts", "unreadable-data", "no-unicode"],
)
def test_plain_values_of_a_secret_join_the_others(sent: dict[str, Any], read: dict[str, Any]) -> None:
    assert as_defaulted({"kind": "Secret", **sent}) == {"kind": "Secret", **read}
