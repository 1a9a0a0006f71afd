"""Lines of a watch, however the network cuts them."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hedgerow_adapters.kubernetes.answers import LineSplitter

LINES = st.lists(st.binary(min_size=1).filter(lambda line: b"\n" not in line and not line.isspace()))


@given(lines=LINES, data=st.data())
def test_lines_come_out_whole_and_in_order_wherever_chunks_end(lines: list[bytes], data: st.DataObject) -> None:
    text = b"".join(line + b"\n" for line in lines)
    ends = data.draw(st.lists(st.integers(0, len(text))).map(sorted))
    splitter = LineSplitter()

    seen = [line for start, end in pairwise([0, *ends, len(text)]) for line in splitter.feed(text[start:end])]

    assert seen == lines
    assert not splitter.is_inside_a_line


def test_blank_lines_are_no_lines() -> None:
    splitter = LineSplitter()

    assert splitter.feed(b"\n \r\n{}\r\n\n") == [b"{}\r"]
    assert not splitter.is_inside_a_line


def test_what_has_no_end_yet_is_no_line() -> None:
    splitter = LineSplitter()

    assert splitter.feed(b'{"a":1}\n{"b"') == [b'{"a":1}']
    assert splitter.is_inside_a_line
    assert splitter.feed(b":2}\n") == [b'{"b":2}']
    assert not splitter.is_inside_a_line
