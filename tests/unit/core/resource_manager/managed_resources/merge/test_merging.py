"""What is written in place of a live object of any kind."""

from typing import Any

import pytest
from returns.result import Failure

from hedgerow.api.managed_resources import DESCRIPTION, DESCRIPTION_TEXT, ORIGIN, REFERENCE_PREFIX
from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.managed_resources.merge.merging import Instructions, merge

OURS = {ORIGIN: "default/mr", DESCRIPTION: DESCRIPTION_TEXT}


def merged(desired: Manifest, live: Manifest | None, **instructions: Any) -> Manifest:
    return merge(desired, live, Instructions("default/mr", **instructions)).unwrap()


def with_labels(**labels: str) -> Manifest:
    return {"kind": "Thing", "metadata": {"labels": labels}}


def with_annotations(**annotations: str) -> Manifest:
    return {"kind": "Thing", "metadata": {"annotations": annotations}}


def test_metadata_is_that_of_the_live_object_with_our_annotations() -> None:  # MG-1 MG-37
    live: Manifest = {"metadata": {"name": "x", "uid": "1", "ownerReferences": ["x"], "finalizers": ["f"]}}
    desired = {"metadata": {"name": "x", "ownerReferences": ["y"], "finalizers": ["g"]}}

    for manifest in (desired, {}):
        assert merged(manifest, live)["metadata"] == {**live["metadata"], "annotations": OURS}


def test_what_the_manifest_does_not_say_vanishes() -> None:
    assert "data" not in merged({"kind": "ConfigMap"}, {"kind": "ConfigMap", "data": {"k": "drift"}})


def test_status_is_that_of_the_live_object_alone() -> None:  # MG-2 MG-3
    desired = {"kind": "Pod", "status": {"podIP": "2.2.2.2"}}

    assert merged(desired, {"status": {"podIP": "1.1.1.1"}})["status"] == {"podIP": "1.1.1.1"}
    without: tuple[Manifest, ...] = ({}, {"status": {}}, {"status": None})
    for live in without:
        assert "status" not in merged(desired, live)


def test_annotations_are_merged() -> None:  # MG-4
    found = merged(with_annotations(goo="boo"), with_annotations(foo="bar"))

    assert found["metadata"]["annotations"] == {"goo": "boo", "foo": "bar", **OURS}


def test_annotations_that_overwrite_leave_none_but_ours() -> None:  # MG-5
    found = merged(with_annotations(goo="boo"), with_annotations(foo="bar"), overwrite_annotations=True)

    assert found["metadata"]["annotations"] == {"goo": "boo", **OURS}


def test_references_are_those_of_the_manifest_alone() -> None:  # M3-7
    desired = with_annotations(**{"other": "baz", f"{REFERENCE_PREFIX}secret-bar": "foo"})
    live = with_annotations(**{"foo": "bar", f"{REFERENCE_PREFIX}secret-foo": "bar"})

    found = merged(desired, live, previous_annotations={"existing": "ignored"})

    assert found["metadata"]["annotations"] == {
        "foo": "bar",
        "other": "baz",
        f"{REFERENCE_PREFIX}secret-bar": "foo",
        **OURS,
    }


def test_labels_are_merged_with_injected_ones() -> None:
    instructions = {"labels": {"inject": "me"}, "previous_labels": {"old": "one"}}

    found = merged(with_labels(a="1"), with_labels(b="2", old="one"), **instructions)

    assert found["metadata"]["labels"] == {"a": "1", "b": "2", "inject": "me"}


def test_labels_that_overwrite_are_the_only_ones() -> None:  # M3-6
    found = merged(with_labels(other="baz"), with_labels(foo="bar"), overwrite_labels=True)

    assert found["metadata"]["labels"] == {"other": "baz"}


def test_no_labels_are_left_out() -> None:
    found = merged({"kind": "Thing"}, with_labels(foo="bar"), previous_labels={"foo": "bar"})

    assert "labels" not in found["metadata"]


def test_what_is_created_is_the_manifest_with_what_is_ours() -> None:
    desired = {"kind": "Thing", "metadata": {"name": "x", "finalizers": ["f"]}, "spec": {"a": 1}}

    assert merged(desired, None, labels={"inject": "me"}) == {
        **desired,
        "metadata": {"name": "x", "finalizers": ["f"], "labels": {"inject": "me"}, "annotations": OURS},
    }


@pytest.mark.parametrize(
    ("manifest", "problem"),
    [
        ({"metadata": {"labels": {"a/b": True}}}, 'metadata.labels["a/b"] must be a string'),
        ({"metadata": {"annotations": {"a": None}}}, 'metadata.annotations["a"] must be a string'),
        ({"metadata": {"labels": []}}, "metadata.labels: expected an object, got a list"),
        ({"metadata": "x"}, "metadata: expected an object, got a string"),
        ({"spec": {"template": 1}}, "spec.template: expected an object, got an integer"),
    ],
)
def test_what_cannot_be_read_is_a_failure_that_names_the_field(manifest: Manifest, problem: str) -> None:
    instructions = Instructions("default/mr", labels={"inject": "me"})

    assert merge(manifest, {"metadata": {"name": "x"}}, instructions).alt(str) == Failure(problem)
