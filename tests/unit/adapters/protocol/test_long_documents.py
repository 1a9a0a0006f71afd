"""What is decoded in slices is what is decoded at once, whatever the text."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow_adapters.protocol import json_codec, long_documents
from hedgerow_adapters.protocol.long_documents import decoding

PLAIN = json_codec.standard()
scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    scalars | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)
separators = st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", "\t:\r ")])
ODD = [
    b"", b" ", b"{", b"}", b"[", b'{"a"', b'{"a":', b'{"a":1', b'{"a":1,', b'{"a":1,}', b'{"a":[', b'{"a":[1',
    b'{"a":[1,',
    b'{"a":[1,]}', b'{"a":[,1]}', b'{"a":[1 2]}', b'{"a" 1}', b"{1:2}", b'{"a":1}x', b'{"a":1}{}', b'{"a":NaN}',
    b'{"a":[1e999]}', b'{"a":["\\ud800"]}', b'{"\\ud800":1}', b'{"a":["\xff"]}', b"\xef\xbb\xbf{}", b'{"a":tru}',
    b'{"a":' + b"[" * 10**5, b"nothing",
]  # fmt: skip


def decoded(content: bytes) -> tuple[Any, int]:
    """The value, and how many pauses there were."""
    steps, pauses = decoding(content), 0
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value, pauses
        pauses += 1


@given(values, separators)
def test_a_text_in_slices_stands_for_the_same_value_as_the_text(value: Any, marks: tuple[str, str]) -> None:
    text = json.dumps(value, separators=marks, ensure_ascii=False).encode()
    assert decoded(b" " + text + b"\n")[0] == PLAIN.decode(text) == value


@pytest.mark.parametrize("text", ODD)
def test_what_is_no_json_is_none_in_slices_either(text: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 -- the codecs word it each in its own way
        PLAIN.decode(text)
    with pytest.raises(ValueError):  # noqa: PT011 -- the same
        decoded(text)


@given(values, st.integers(0, 40), st.binary(max_size=2))
def test_a_broken_text_is_read_as_the_codec_reads_it(value: Any, place: int, dirt: bytes) -> None:
    text = json.dumps({"items": [value, value]}).encode()
    broken = text[:place] + dirt + text[place + 1 :]
    try:
        expected = PLAIN.decode(broken)
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011 -- the codecs word it each in its own way
            decoded(broken)
    else:
        assert decoded(broken)[0] == expected


def test_the_objects_of_a_page_are_decoded_in_slices_with_a_pause_after_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_documents, "SLICE_LENGTH", 1000)
    item = {"metadata": {"name": "x" * 80}}
    page = {"kind": "List", "metadata": {"resourceVersion": "7"}, "items": [item] * 500}
    text = PLAIN.encode(page)

    value, pauses = decoded(text)

    assert value == page
    assert len(text) // (1000 + len(PLAIN.encode(item)) + 1) <= pauses <= len(text) // 1000
