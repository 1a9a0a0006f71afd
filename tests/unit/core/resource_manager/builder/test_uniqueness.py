"""Names that change with the content."""

from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure

from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.builder.secret import make_unique

LABEL = "resources.gardener.cloud/garbage-collectable-reference"


def secret(data: dict[str, bytes], name: str = "one", **more: Any) -> Manifest:
    encoded = {key: b64encode(value).decode() for key, value in data.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": encoded, **more}


def config_map(data: dict[str, str], **more: Any) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": data, **more}


def name_of(manifest: Manifest) -> Any:
    return make_unique(manifest).unwrap()["metadata"]["name"]


@pytest.mark.parametrize(
    ("manifest", "name"),
    [
        (secret({"a": b"1", "b": b"2"}), "one-33b67563"),
        (secret({"b": b"2", "a": b"1"}), "one-33b67563"),
        (secret({"foo": b"bar"}, name="one-"), "one-bd142ccf"),
        (secret({}, stringData={"foo": "bar"}), "one-bd142ccf"),
        (secret({"foo": b"old"}, stringData={"foo": "bar"}), "one-bd142ccf"),
        (config_map({"a": "1", "b": "2"}), "one-33b67563"),
        (config_map({"a": "1"}, binaryData={"b": b64encode(b"2").decode()}), "one-33b67563"),
    ],
)
def test_a_name_ends_with_the_beginning_of_a_hash_of_the_content(manifest: Manifest, name: str) -> None:
    assert name_of(manifest) == name


def test_what_has_a_unique_name_is_immutable_and_garbage_collectable_and_otherwise_as_it_was() -> None:
    plain = secret({"foo": b"bar"}, type="Opaque")
    labelled = {**plain, "metadata": {"name": "one", "labels": {"app": "web"}}}

    assert make_unique(labelled).unwrap() == {
        **plain,
        "metadata": {"name": "one-bd142ccf", "labels": {"app": "web", LABEL: "true"}},
        "immutable": True,
    }
    assert plain["metadata"] == {"name": "one"}


def test_other_objects_are_refused() -> None:
    assert make_unique({"apiVersion": "v1", "kind": "Service"}) == Failure("unhandled object type: v1/Service")


@pytest.mark.parametrize("text", ["confidential!", "a", "ä"])
def test_what_is_no_base64_is_told_by_its_key_and_not_shown(text: str) -> None:
    assert make_unique({**secret({}), "data": {"key": text}}) == Failure("data[key]: must be encoded in base64")


@pytest.mark.parametrize("broken", [{"data": []}, {"data": {"a": 1}}, {"metadata": {"name": "one", "labels": []}}])
def test_an_object_of_another_shape_is_refused(broken: dict[str, Any]) -> None:
    assert isinstance(make_unique({**config_map({}), **broken}), Failure)


@given(
    st.dictionaries(st.sampled_from("abc"), st.binary(max_size=2)),
    st.dictionaries(st.sampled_from("abc"), st.binary(max_size=2)),
)
def test_values_that_differ_in_the_order_of_their_keys_make_names_that_differ(
    one: dict[str, bytes], other: dict[str, bytes]
) -> None:
    in_order = [[each[key] for key in sorted(each)] for each in (one, other)]

    assert (name_of(secret(one)) == name_of(secret(other))) is (in_order[0] == in_order[1])
