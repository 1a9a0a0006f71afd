"""What becomes of ManagedResources and Secrets that exist."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.patches import apply_merge_patch, merge_patch
from hedgerow.resource_manager.builder import (
    desired_managed_resource,
    desired_secret,
    new_managed_resource,
    secrets_to_delete,
)
from hedgerow.resource_manager.builder.managed_resource import (
    Marking,
    keep_objects_patch,
    marked_garbage_collectable,
    secrets_to_mark,
)

LABEL = "resources.gardener.cloud/garbage-collectable-reference"
REFERENCE = "reference.resources.gardener.cloud/secret-5b11618c"


def managed_resource(*secrets: str, **metadata: Any) -> Any:
    manifest = new_managed_resource("shop", "app", secret_names=secrets)
    return {**manifest, "metadata": {**manifest["metadata"], **metadata}}


def test_a_new_managed_resource_is_as_it_is_wanted_and_refers_to_its_secrets() -> None:
    wanted = managed_resource("secret1", labels={"origin": "gardener"})

    stored = desired_managed_resource(None, wanted).unwrap()

    assert stored == {**wanted, "metadata": {**wanted["metadata"], "annotations": {REFERENCE: "secret1"}}}


def test_labels_and_annotations_that_a_managed_resource_has_stay_and_wanted_ones_are_added() -> None:  # LIB-2
    existing = managed_resource(
        resourceVersion="7",
        labels={"existing": "label", "origin": "old"},
        annotations={"existing": "annotation", "reference.resources.gardener.cloud/secret-1": "gone"},
    )
    wanted = managed_resource("secret1", labels={"origin": "gardener"}, annotations={"new": "annotation"})

    stored = desired_managed_resource(existing, wanted).unwrap()

    assert stored["metadata"] == {
        "namespace": "shop",
        "name": "app",
        "resourceVersion": "7",
        "labels": {"existing": "label", "origin": "gardener"},
        "annotations": {"existing": "annotation", "new": "annotation", REFERENCE: "secret1"},
    }


def test_the_spec_of_a_managed_resource_is_replaced_and_its_status_stays() -> None:
    existing = managed_resource("old") | {"status": {"observedGeneration": 1}}
    existing["spec"]["class"] = "seed"

    stored = desired_managed_resource(existing, managed_resource("secret1")).unwrap()

    assert stored["spec"] == {"secretRefs": [{"name": "secret1"}]}
    assert stored["status"] == {"observedGeneration": 1}


def test_an_identical_managed_resource_is_not_written() -> None:  # LIB-3
    wanted = managed_resource("secret1", labels={"origin": "gardener"})
    stored = {**desired_managed_resource(None, wanted).unwrap(), "status": {"observedGeneration": 1}}

    assert merge_patch(stored, desired_managed_resource(stored, wanted).unwrap()) == {}


def test_references_that_cannot_be_told_are_a_failure() -> None:
    wanted = managed_resource() | {"spec": {"secretRefs": [{"name": 1}]}}

    assert isinstance(desired_managed_resource(None, wanted), Failure)


@pytest.mark.parametrize(
    ("existing", "wanted", "marking"),
    [
        pytest.param(("s1", "s2", "s3"), ("s1", "s2"), Marking(("s1", "s2", "s3"), ()), id="LIB-1 a reference less"),
        pytest.param(("s1",), ("s1", "s2", "s2"), Marking(("s1",), ("s2",)), id="a reference more"),
        pytest.param((), ("s1", ""), Marking((), ("s1",)), id="a name left out"),
        pytest.param(None, ("s1", "s2"), Marking((), ("s1", "s2")), id="a new one"),
    ],
)
def test_all_secrets_of_a_managed_resource_are_handed_to_garbage_collection_before_it_changes(
    existing: tuple[str, ...] | None, wanted: tuple[str, ...], marking: Marking
) -> None:
    stored = None if existing is None else managed_resource(*existing)

    assert secrets_to_mark(stored, managed_resource(*wanted)) == marking


def test_a_secret_is_marked_once() -> None:
    secret = {"metadata": {"name": "s1", "labels": {"app": "web", LABEL: "no"}}}

    marked = marked_garbage_collectable(secret)

    assert marked["metadata"] == {"name": "s1", "labels": {"app": "web", LABEL: "true"}}
    assert marked_garbage_collectable(marked) is marked


def test_a_secret_loses_what_is_not_wanted_of_its_labels_annotations_data_and_immutability() -> None:  # LIB-4
    existing = {
        "metadata": {"name": "s1", "resourceVersion": "7", "labels": {"old": "label"}, "annotations": {"old": "one"}},
        "type": "kubernetes.io/tls",
        "data": {"old": "YQ=="},
        "immutable": True,
    }
    wanted = {"metadata": {"name": "s1", "labels": {"new": "label"}}, "data": {"new": "YQ=="}}

    assert desired_secret(existing, wanted) == {
        "metadata": {"name": "s1", "resourceVersion": "7", "labels": {"new": "label"}},
        "type": "Opaque",
        "data": {"new": "YQ=="},
    }


def test_a_secret_that_does_not_exist_is_as_it_is_wanted() -> None:
    wanted = {"metadata": {"name": "s1", "labels": {"new": "label"}}, "data": {"a": "YQ=="}, "immutable": True}

    assert desired_secret(None, wanted) == {**wanted, "type": "Opaque"}


def test_of_a_managed_resource_that_is_gone_only_the_plain_secret_is_deleted() -> None:  # LIB-6
    assert secrets_to_delete(None, "app", with_prefix=True) == ("managedresource-app",)
    assert secrets_to_delete(None, "app", with_prefix=False) == ("app",)


def test_of_a_managed_resource_that_exists_every_referenced_secret_is_deleted_too() -> None:
    existing = managed_resource("managedresource-app-1234", "managedresource-app")

    assert secrets_to_delete(existing, "app", with_prefix=True) == ("managedresource-app", "managedresource-app-1234")


def test_whether_objects_outlive_a_managed_resource_is_all_that_a_patch_changes() -> None:
    kept = apply_merge_patch(managed_resource("a"), keep_objects_patch(keep=True))

    assert kept["spec"] == {"secretRefs": [{"name": "a"}], "keepObjects": True}


TEXTS = st.dictionaries(st.sampled_from(("a", "b", "reference.resources.gardener.cloud/secret-1")), st.text(max_size=2))
PARTS = st.fixed_dictionaries({}, optional={"labels": TEXTS, "annotations": TEXTS})
NAMES = st.lists(st.sampled_from(("s1", "s2", "s3")), max_size=3)
MANAGED_RESOURCES = st.builds(lambda names, parts: managed_resource(*names, **parts), NAMES, PARTS)
SECRETS = st.builds(
    lambda parts, more: {"metadata": {"name": "s1", **parts}, **more},
    PARTS,
    st.fixed_dictionaries({}, optional={"data": TEXTS, "immutable": st.booleans(), "type": st.just("Opaque")}),
)


@given(st.none() | MANAGED_RESOURCES, MANAGED_RESOURCES)
def test_a_managed_resource_that_was_written_is_not_written_again(existing: Any, wanted: Manifest) -> None:
    before = copy.deepcopy((existing, wanted))

    stored = desired_managed_resource(existing, wanted).unwrap()

    assert desired_managed_resource(stored, wanted).unwrap() == stored
    assert (existing, wanted) == before


@given(st.none() | SECRETS, SECRETS)
def test_a_secret_that_was_written_is_not_written_again(existing: Any, wanted: Manifest) -> None:
    before = copy.deepcopy((existing, wanted))

    stored = desired_secret(existing, wanted)

    assert desired_secret(stored, wanted) == stored
    assert (existing, wanted) == before


@given(MANAGED_RESOURCES, MANAGED_RESOURCES)
def test_no_secret_is_forgotten_by_garbage_collection(existing: Manifest, wanted: Manifest) -> None:
    marking = secrets_to_mark(existing, wanted)

    referenced = {ref["name"] for each in (existing, wanted) for ref in each["spec"]["secretRefs"]}
    assert sorted((*marking.former, *marking.new)) == sorted(referenced)
