"""What the Secrets of ManagedResources hold, and what is said of that which cannot be read."""

from base64 import b64encode

import pytest
from returns.result import Failure, Result, Success

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import UnreadableError
from hedgerow.resource_manager.managed_resources.decoding import (
    MOST_DECOMPRESSED,
    MOST_ERRORS,
    DecodedValue,
    decoded_secret,
)


def reversed_bytes(compressed: bytes, most: int) -> Result[bytes, str]:
    assert most == MOST_DECOMPRESSED
    return Failure("is endless") if compressed == b"bomb" else Success(compressed[::-1])


def secret(**data: bytes) -> Manifest:
    encoded = {key.replace("__", "."): b64encode(value).decode() for key, value in data.items()}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": "default", "name": "s"}, "data": encoded}


def decoded(manifest: Manifest) -> tuple[DecodedValue, ...]:
    return decoded_secret(manifest, reversed_bytes)


def errors(**data: bytes) -> list[str]:
    return [error for value in decoded(secret(**data)) for error in value.errors]


def test_keys_are_read_in_the_order_of_their_bytes_whatever_their_endings() -> None:
    values = decoded(secret(b__json=b"b: 1", a=b'{"a": 1}', B=b"B: 1\n---\nB: 2"))

    assert [value.documents for value in values] == [({"B": 1}, {"B": 2}), ({"a": 1},), ({"b": 1},)]
    assert values[1] == DecodedValue(b'{"a": 1}', ({"a": 1},), ())


def test_an_error_names_document_key_and_secret_and_costs_nothing_else() -> None:
    first, second = decoded(secret(a=b"---\n\n---\nfoo: [\n---\na: 1", b=b"b: 1"))

    assert first.documents == ({"a": 1},)
    assert second == DecodedValue(b"b: 1", ({"b": 1},), ())
    (error,) = first.errors
    assert error.startswith(
        "Could not decode resource at index 1 in 'a' in secret 'default/s': error converting YAML to JSON: line 5: "
    )
    assert error.endswith(".")


@pytest.mark.parametrize(
    ("value", "cause"),
    [
        pytest.param(b'{"apiVersion":"v1",', "unexpected EOF", id="JSON that is cut off"),
        pytest.param(b"--- oops\n", "invalid Yaml document separator: oops", id="no separator"),
        pytest.param(b"a: \xff", "the value is not UTF-8 text: it holds the byte 0xff", id="no text"),
    ],
)
def test_broken_values_are_one_error(value: bytes, cause: str) -> None:
    assert errors(k=value) == [f"Could not decode resource at index 0 in 'k' in secret 'default/s': {cause}."]


@pytest.mark.parametrize(
    ("value", "cause"),
    [
        pytest.param("?", "the value is not encoded in base64", id="no base64"),
        pytest.param("ä", "the value is not encoded in base64", id="beyond ASCII"),
        pytest.param(["YTogMQ=="], "the value must be a string, got a list", id="a list"),
    ],
)
def test_what_is_no_data_of_a_secret_is_an_error_too(value: object, cause: str) -> None:
    broken, kept = decoded({**secret(), "data": {"a": value, "b": "YjogMQ=="}})

    assert broken == DecodedValue(
        b"", (), (f"Could not decode resource at index 0 in 'a' in secret 'default/s': {cause}.",)
    )
    assert kept.documents == ({"b": 1},)


def test_compressed_values_are_decompressed_and_keep_their_bytes() -> None:
    value, plain = decoded(secret(data__yaml__br=b"1 :a", data__yaml__brx=b"a: 2"))

    assert value == DecodedValue(b"1 :a", ({"a": 1},), ())
    assert plain == DecodedValue(b"a: 2", ({"a": 2},), ())


def test_what_cannot_be_decompressed_is_one_error() -> None:
    assert errors(k__br=b"bomb") == [
        "Could not decode resource at index 0 in 'k.br' in secret 'default/s': the value is endless."
    ]


def test_a_byte_order_mark_says_nothing() -> None:
    (value,) = decoded(secret(k=b'\xef\xbb\xbf{"a": 1}'))

    assert value.documents == ({"a": 1},)


def test_base64_may_stand_in_lines() -> None:
    (value,) = decoded({**secret(), "data": {"k": "YTog\r\nMQ==\n"}})

    assert value.documents == ({"a": 1},)


def test_a_secret_without_data_holds_nothing() -> None:
    assert decoded({"metadata": {"namespace": "default", "name": "s"}}) == ()
    assert decoded({**secret(), "data": {"k": None}}) == (DecodedValue(b"", (), ()),)


def test_errors_without_number_are_counted() -> None:
    told = errors(k=b"[]\n---\n" * 1000)

    assert len(told) == MOST_ERRORS + 1
    assert told[-1] == "Could not decode 980 more resources in 'k' in secret 'default/s'."


def test_data_of_another_shape_are_no_ones_to_guess() -> None:
    with pytest.raises(UnreadableError, match="data: expected an object, got a list"):
        decoded({**secret(), "data": []})
