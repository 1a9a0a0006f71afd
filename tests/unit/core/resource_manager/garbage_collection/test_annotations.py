"""How annotations refer to ConfigMaps and Secrets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.machinery.names import label_key_problem
from hedgerow.resource_manager.garbage_collection import annotation_key, kind_from_annotation_key

PREFIX = "reference.resources.gardener.cloud/"


@pytest.mark.parametrize(
    ("kind", "name", "key"),
    [
        ("kind", "name", "kind-82a3537f"),
        ("configmap", "test-5678", "configmap-4ed34879"),
        ("configmap", "cm1", "configmap-51cc57e4"),
        ("secret", "secret1", "secret-5b11618c"),
    ],
)
def test_a_key_holds_the_kind_and_the_beginning_of_a_hash_of_the_name(kind: str, name: str, key: str) -> None:
    assert annotation_key(kind, name) == PREFIX + key


@given(st.text(min_size=1))
def test_every_name_makes_a_key_that_api_servers_accept_and_whose_kind_is_found_again(name: str) -> None:
    key = annotation_key("secret", name)

    assert (label_key_problem(key), kind_from_annotation_key(key)) == (None, "secret")


def test_what_follows_on_the_kind_need_not_be_a_hash() -> None:
    assert kind_from_annotation_key(f"{PREFIX}secret-foo") == "secret"


@pytest.mark.parametrize(
    "key",
    [
        f"{PREFIX}secret/name/foo",
        f"{PREFIX}my-secret-1234",
        f"{PREFIX}secret",
        f"{PREFIX}-1234",
        "foobar/secret-x",
        "secret-x",
        f"x{PREFIX}secret-x",
    ],
)
def test_other_keys_refer_to_nothing(key: str) -> None:
    assert kind_from_annotation_key(key) is None
