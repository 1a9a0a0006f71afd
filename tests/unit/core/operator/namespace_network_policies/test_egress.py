"""How CIDRs are read, what lies inside another, and the addresses that are computed from them."""

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.operator.namespace_network_policies.egress import (
    UnknownRangeError,
    except_blocks,
    is_covered,
    offset_ip,
    parse_block,
)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "10.0.0.0",
        "10.0.0.0/",
        "10.0.0.0/33",
        "10.0.0.0/255.0.0.0",
        "10.0.0/8",
        "010.0.0.0/8",
        "x/8",
        "::/129",
        "10.0.0.0/-1",
        "10.0.0.0/8 ",
        "10.0.0.0/08",
        "fe80::1%eth0/64",
        "\u0661.0.0.0/8",
    ],
)
def test_what_is_no_cidr_is_refused_with_its_text(text: str) -> None:
    with pytest.raises(UnknownRangeError, match=rf'^"{re.escape(text)}" is no CIDR$'):
        parse_block(text)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(UnknownRangeError):
        assert parse_block(text).text == text


@pytest.mark.parametrize(
    ("candidate", "is_kept"),
    [
        ("10.1.0.0/16", True),
        ("10.1.2.3/9", True),
        ("10.0.0.0/8", False),
        ("0.0.0.0/0", False),
        ("11.0.0.0/16", False),
        ("fd00::/64", False),
    ],
)
def test_left_out_is_what_lies_strictly_inside(candidate: str, *, is_kept: bool) -> None:
    parent = parse_block("10.0.0.0/8")

    assert except_blocks(parent, [parse_block(candidate)] * 2) == ((candidate,) * 2 if is_kept else ())


@pytest.mark.parametrize(
    ("candidate", "covers"), [("10.0.0.0/8", True), ("8.0.0.0/5", True), ("10.0.0.0/9", False), ("::/0", False)]
)
def test_a_range_is_covered_by_one_that_is_as_wide(candidate: str, *, covers: bool) -> None:
    assert is_covered(parse_block("10.0.0.0/8"), [parse_block(candidate)]) is covers


def test_an_offset_counts_from_the_network_and_has_to_stay_within() -> None:
    assert offset_ip(parse_block("10.1.0.5/28"), 10) == "10.1.0.10"
    with pytest.raises(
        UnknownRangeError, match=r'^cannot compute IP with offset 10 - subnet "10\.1\.0\.0/29" too small$'
    ):
        offset_ip(parse_block("10.1.0.5/29"), 10)
