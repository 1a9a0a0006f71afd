"""When a Secret is held back, row by row of the specification."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_resources import ClassFilter
from hedgerow.api.references import secret_refs
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.patches import apply_merge_patch
from hedgerow.resource_manager.managed_resources.secret_finalizers import (
    AddFinalizer,
    RemoveFinalizer,
    finalizers_patch,
    is_held,
    plan,
    referenced_secrets,
)

FINALIZER = "resources.gardener.cloud/gardener-resource-manager-ours"
THEIRS = "resources.gardener.cloud/gardener-resource-manager"


OURS = ClassFilter("ours")


def secret(*finalizers: str) -> Manifest:
    metadata = {"namespace": "shop", "name": "one", "resourceVersion": "7", "finalizers": list(finalizers)}
    return {"metadata": metadata}


def managed_resource(*secrets: str, of: str = "ours", namespace: str = "shop", **metadata: Any) -> Manifest:
    return {
        "metadata": {"namespace": namespace, "name": "app"} | metadata,
        "spec": {"class": of, "secretRefs": secret_refs(secrets)},
    }


def test_a_secret_that_is_gone_needs_nothing() -> None:
    assert plan(None, [managed_resource("one")], OURS) is None


def test_a_secret_that_nobody_names_is_left_alone() -> None:
    assert plan(secret(), [], OURS) is None
    assert plan(secret(), [managed_resource("other")], OURS) is None
    assert plan(secret(), [managed_resource("one", of="theirs")], OURS) is None
    assert plan(secret(), [managed_resource("one", namespace="back")], OURS) is None


def test_a_secret_that_is_needed_is_held_once() -> None:
    assert plan(secret(), [managed_resource("zero", "one")], OURS) == AddFinalizer(FINALIZER)
    assert plan(secret(FINALIZER), [managed_resource("one")], OURS) is None


def test_a_secret_is_released_when_its_last_reference_is_gone() -> None:
    assert plan(secret(FINALIZER), [managed_resource()], OURS) == RemoveFinalizer(FINALIZER)
    assert plan(secret(FINALIZER), [], OURS) == RemoveFinalizer(FINALIZER)


def test_a_secret_is_released_when_its_managed_resource_moves_to_another_class() -> None:
    assert plan(secret(FINALIZER), [managed_resource("one", of="theirs")], OURS) == RemoveFinalizer(FINALIZER)


def test_a_secret_is_held_as_long_as_one_of_several_needs_it() -> None:
    assert plan(secret(FINALIZER), [managed_resource("other"), managed_resource("one")], OURS) is None


def test_a_managed_resource_that_terminates_still_needs_its_secrets() -> None:
    terminating = managed_resource("one", deletionTimestamp="2024-05-01T12:00:00Z")

    assert plan(secret(FINALIZER), [terminating], OURS) is None


def test_the_finalizer_of_another_class_neither_holds_nor_is_released() -> None:
    theirs = secret(THEIRS)

    assert plan(theirs, [], OURS) is None
    assert plan(theirs, [managed_resource("one")], OURS) == AddFinalizer(FINALIZER)


def test_references_without_a_name_are_none() -> None:
    assert referenced_secrets(managed_resource("a", "")) == {ObjectKey("shop", "a")}


def test_a_patch_holds_for_one_version_and_leaves_the_finalizers_of_others() -> None:
    added = finalizers_patch(secret("foregroundDeletion"), AddFinalizer(FINALIZER))
    removed = finalizers_patch(secret("a", FINALIZER, "b"), RemoveFinalizer(FINALIZER))

    assert (added.resource, added.key, added.resource_version, added.cluster) == (
        SECRETS,
        ObjectKey("shop", "one"),
        "7",
        Cluster.SOURCE,
    )
    assert added.patch == {"metadata": {"finalizers": ["foregroundDeletion", FINALIZER]}}
    assert removed.patch == {"metadata": {"finalizers": ["a", "b"]}}


def test_a_secret_that_loses_its_last_finalizer_has_no_list_of_them() -> None:
    released = apply_merge_patch(
        secret(FINALIZER), finalizers_patch(secret(FINALIZER), RemoveFinalizer(FINALIZER)).patch
    )

    assert "finalizers" not in released["metadata"]


@given(
    st.lists(st.sampled_from((FINALIZER, THEIRS, "other")), unique=True),
    st.lists(st.builds(managed_resource, st.sampled_from(("one", "other")), of=st.sampled_from(("ours", "theirs")))),
)
def test_a_change_that_is_made_leaves_nothing_to_change(finalizers: list[str], managed_resources: list[Any]) -> None:
    before = secret(*finalizers)
    change = plan(before, managed_resources, OURS)

    after = apply_merge_patch(before, finalizers_patch(before, change).patch) if change else before

    assert plan(after, managed_resources, OURS) is None
    needed = any("one" in str(each["spec"]["secretRefs"]) and OURS.is_responsible(each) for each in managed_resources)
    assert is_held(after, OURS) is needed
