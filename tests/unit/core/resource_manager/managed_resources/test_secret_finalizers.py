"""When a Secret is held back, row by row of the specification."""

from collections.abc import Iterable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_resources import ClassFilter
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.patches import apply_merge_patch
from hedgerow.resource_manager.managed_resources.secret_finalizers import (
    finalizer_patch,
    is_held,
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
        "spec": {"class": of, "secretRefs": [{"name": secret} for secret in secrets]},
    }


def change(secret: Manifest, managed_resources: Iterable[Manifest]) -> str | None:
    """What becomes of the Secret."""
    patch = finalizer_patch(secret, managed_resources, OURS)
    return None if patch is None else patch.reason


def patched(secret: Manifest, *managed_resources: Manifest) -> Any:
    patch = finalizer_patch(secret, managed_resources, OURS)
    return apply_merge_patch(secret, patch.patch) if patch else secret


def test_a_secret_that_nobody_names_is_left_alone() -> None:
    assert change(secret(), []) is None
    assert change(secret(), [managed_resource("other")]) is None
    assert change(secret(), [managed_resource("one", of="theirs")]) is None
    assert change(secret(), [managed_resource("one", namespace="back")]) is None


def test_a_secret_that_is_needed_is_held_once() -> None:
    assert change(secret(), [managed_resource("zero", "one")]) == "referenced"
    assert change(secret(FINALIZER), [managed_resource("one")]) is None


def test_a_secret_is_released_when_its_last_reference_is_gone() -> None:
    assert change(secret(FINALIZER), [managed_resource()]) == "unreferenced"
    assert change(secret(FINALIZER), []) == "unreferenced"


def test_a_secret_is_released_when_its_managed_resource_moves_to_another_class() -> None:
    assert change(secret(FINALIZER), [managed_resource("one", of="theirs")]) == "unreferenced"


def test_a_secret_is_held_as_long_as_one_of_several_needs_it() -> None:
    assert change(secret(FINALIZER), [managed_resource("other"), managed_resource("one")]) is None


def test_a_managed_resource_that_terminates_still_needs_its_secrets() -> None:
    terminating = managed_resource("one", deletionTimestamp="2024-05-01T12:00:00Z")

    assert change(secret(FINALIZER), [terminating]) is None


def test_the_finalizer_of_another_class_neither_holds_nor_is_released() -> None:
    theirs = secret(THEIRS)

    assert change(theirs, []) is None
    assert change(theirs, [managed_resource("one")]) == "referenced"


def test_references_without_a_name_are_none() -> None:
    assert referenced_secrets(managed_resource("a", "")) == {ObjectKey("shop", "a")}


def test_a_patch_holds_for_one_version_and_leaves_the_finalizers_of_others() -> None:
    added = finalizer_patch(secret("foregroundDeletion"), [managed_resource("one")], OURS)
    removed = finalizer_patch(secret("a", FINALIZER, "b"), [], OURS)

    assert added is not None
    assert removed is not None
    assert (added.resource, added.key, added.cluster) == (SECRETS, ObjectKey("shop", "one"), Cluster.SOURCE)
    assert added.resource_version == removed.resource_version == "7"
    assert added.patch == {"metadata": {"finalizers": ["foregroundDeletion", FINALIZER]}}
    assert removed.patch == {"metadata": {"finalizers": ["a", "b"]}}


def test_a_secret_that_loses_its_last_finalizer_has_no_list_of_them() -> None:
    assert "finalizers" not in patched(secret(FINALIZER))["metadata"]


@given(
    st.lists(st.sampled_from((FINALIZER, THEIRS, "other")), unique=True),
    st.lists(st.builds(managed_resource, st.sampled_from(("one", "other")), of=st.sampled_from(("ours", "theirs")))),
)
def test_a_change_that_is_made_leaves_nothing_to_change(finalizers: list[str], managed_resources: list[Any]) -> None:
    after = patched(secret(*finalizers), *managed_resources)

    assert change(after, managed_resources) is None
    needed = any("one" in str(each["spec"]["secretRefs"]) and OURS.is_responsible(each) for each in managed_resources)
    assert is_held(after, OURS) is needed
