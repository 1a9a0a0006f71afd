"""One JSON, whichever codec the process has."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow_adapters.protocol.json_codec import Codec, encode, encode_as_api_servers, fastest, standard

CODECS = pytest.mark.parametrize("codec", [standard(), fastest()], ids=["standard", "fastest"])

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
)


@given(value=JSON)
def test_what_one_codec_writes_both_read(value: Any) -> None:
    for writer in (standard(), fastest()):
        for reader in (standard(), fastest()):
            assert reader.decode(writer.encode(value)) == value


@CODECS
def test_json_is_written_compactly_in_utf_8(codec: Codec) -> None:
    assert (
        codec.encode({"name": "größe", "ports": (1, 2), 8080: None})
        == '{"name":"größe","ports":[1,2],"8080":null}'.encode()
    )


def test_what_an_api_server_escapes_can_be_escaped_as_it_does() -> None:
    value = {"a<b": ["x > y & z", "\u2028\u2029", "größe"]}

    assert encode_as_api_servers(value) == r'{"a\u003cb":["x \u003e y \u0026 z","\u2028\u2029","größe"]}'.encode()
    assert encode(value) == '{"a<b":["x > y & z","\u2028\u2029","größe"]}'.encode()


@CODECS
@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"{}x",
        b"NaN",
        b"-Infinity",
        b'"\xff"',
        b"\xef\xbb\xbf{}",
        b'"\\ud800"',
        b'{"\\uDfff":1}',
        b"[-1e999]",
    ],
)
def test_what_is_no_json_is_a_value_error(codec: Codec, text: bytes) -> None:
    with pytest.raises(ValueError, match=r".*"):
        codec.decode(text)


@CODECS
def test_what_is_nested_without_end_is_a_value_error(codec: Codec) -> None:
    with pytest.raises(ValueError, match=r".*"):
        codec.decode(b"[" * 100_000)


@CODECS
@pytest.mark.parametrize("value", [{1, 2}, datetime(2024, 1, 1, tzinfo=UTC), b"bytes", object()], ids=type)
def test_what_json_cannot_say_is_a_type_error(codec: Codec, value: Any) -> None:
    with pytest.raises(TypeError):
        codec.encode(value)
