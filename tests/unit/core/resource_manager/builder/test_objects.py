"""The Secrets and ManagedResources that producers make."""

import pytest

from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.builder import new_for_seed, new_for_shoot, new_secret
from hedgerow.resource_manager.builder.secret import unstructured_data, with_labels

LABEL = "resources.gardener.cloud/garbage-collectable-reference"
GROUP_AND_KIND = {"apiVersion": "resources.gardener.cloud/v1alpha1", "kind": "ManagedResource"}


def test_a_secret_is_opaque_immutable_and_named_after_what_it_holds() -> None:
    assert new_secret("shop", "app", {"foo": b"bar"}, with_prefix=True) == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"namespace": "shop", "name": "managedresource-app-bd142ccf", "labels": {LABEL: "true"}},
        "type": "Opaque",
        "data": {"foo": "YmFy"},
        "immutable": True,
    }


def test_the_prefix_of_a_secret_can_be_left_out() -> None:
    assert new_secret("shop", "app", {"foo": b"bar"}, with_prefix=False)["metadata"]["name"] == "app-bd142ccf"


def test_an_immutable_secret_stays_garbage_collectable_whatever_its_labels() -> None:
    immutable: Manifest = {"metadata": {"labels": {LABEL: "true", "old": "label"}}, "immutable": True}

    assert with_labels(immutable, {"app": "web"})["metadata"]["labels"] == {"app": "web", LABEL: "true"}
    assert with_labels({**immutable, "immutable": False}, {"app": "web"})["metadata"]["labels"] == {"app": "web"}
    assert with_labels({"immutable": True}, {"app": "web"})["metadata"]["labels"] == {"app": "web"}


@pytest.mark.parametrize("keep", [True, False])
def test_what_is_for_a_shoot_says_who_made_it_and_has_no_class(*, keep: bool) -> None:
    made = new_for_shoot("shoot--foo--bar", "app", secret_names=["a", "b"], origin="gardener", keep_objects=keep)

    assert made == GROUP_AND_KIND | {
        "metadata": {"namespace": "shoot--foo--bar", "name": "app", "labels": {"origin": "gardener"}},
        "spec": {
            "secretRefs": [{"name": "a"}, {"name": "b"}],
            "injectLabels": {"shoot.gardener.cloud/no-cleanup": "true"},
            "keepObjects": keep,
        },
    }


@pytest.mark.parametrize("keep", [True, False])
def test_what_is_for_a_seed_is_a_component_of_its_system(*, keep: bool) -> None:
    made = new_for_seed("garden", "app", secret_names=["a"], keep_objects=keep)

    assert made == GROUP_AND_KIND | {
        "metadata": {
            "namespace": "garden",
            "name": "app",
            "labels": {"gardener.cloud/role": "seed-system-component"},
        },
        "spec": {"secretRefs": [{"name": "a"}], "class": "seed", "keepObjects": keep},
    }


def test_what_is_for_a_seed_in_the_namespace_of_a_shoot_is_no_component_of_the_seeds_system() -> None:  # LIB-5
    made = new_for_seed("shoot--foo--bar", "app", secret_names=[], keep_objects=False)

    assert "labels" not in made["metadata"]
    assert made["spec"]["secretRefs"] == []


def test_objects_of_any_kind_become_one_value_of_compact_documents() -> None:
    objects: list[Manifest] = [{"kind": "B", "apiVersion": "v1"}, {"metadata": {"name": "ö"}, "kind": "A"}]

    assert unstructured_data("app", objects) == {
        "app": '\n---\n{"apiVersion":"v1","kind":"B"}\n---\n{"kind":"A","metadata":{"name":"ö"}}'.encode()
    }


def test_no_objects_make_no_value() -> None:
    assert unstructured_data("app", []) == {}
