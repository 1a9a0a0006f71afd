"""Which field managers own a field, by what API servers record."""

import pytest

from hedgerow.machinery.objects import Manifest, field, item, managers_of

PATH = (field("spec"), field("containers"), item(name="web"), field("image"))
FIELDS: Manifest = {"f:spec": {"f:containers": {'k:{"name":"web"}': {".": {}, "f:image": {}}}}}


def live(*entries: Manifest) -> Manifest:
    return {"metadata": {"managedFields": list(entries)}}


def test_every_manager_that_has_written_the_field_owns_it() -> None:
    found = live(
        {"manager": "kubectl", "fieldsV1": FIELDS},
        {"manager": "hedgerow", "fieldsV1": {"f:spec": {"f:containers": {}}}},
        {"manager": "scaler", "fieldsV1": FIELDS},
    )

    assert managers_of(found, PATH) == {"kubectl", "scaler"}


@pytest.mark.parametrize("manifest", [{}, {"metadata": None}, {"metadata": {}}, live(), live({"fieldsV1": None})])
def test_nobody_owns_a_field_that_no_record_mentions(manifest: Manifest) -> None:
    assert managers_of(manifest, PATH) == frozenset()


def test_items_of_lists_are_told_apart_by_all_their_keys() -> None:
    assert item(protocol="TCP", containerPort="80") == 'k:{"containerPort":"80","protocol":"TCP"}'
