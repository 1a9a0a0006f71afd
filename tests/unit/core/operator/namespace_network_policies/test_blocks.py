"""How CIDRs are read, what lies inside another, and the addresses that are computed from them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure, Success

from hedgerow.operator.namespace_network_policies.blocks import (
    except_blocks,
    host_blocks,
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
    assert parse_block(text) == Failure(f'"{text}" is no CIDR')


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    assert isinstance(parse_block(text), Success | Failure)


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
    parent = parse_block("10.0.0.0/8").unwrap()

    assert except_blocks(parent, [parse_block(candidate).unwrap()] * 2) == ((candidate,) * 2 if is_kept else ())


@pytest.mark.parametrize(
    ("candidate", "covers"), [("10.0.0.0/8", True), ("8.0.0.0/5", True), ("10.0.0.0/9", False), ("::/0", False)]
)
def test_a_range_is_covered_by_one_that_is_as_wide(candidate: str, *, covers: bool) -> None:
    assert is_covered(parse_block("10.0.0.0/8").unwrap(), [parse_block(candidate).unwrap()]) is covers


def test_an_offset_counts_from_the_network_and_has_to_stay_within() -> None:
    assert offset_ip(parse_block("10.1.0.5/28").unwrap(), 10) == Success("10.1.0.10")
    assert offset_ip(parse_block("10.1.0.5/29").unwrap(), 10) == Failure(
        'cannot compute IP with offset 10 - subnet "10.1.0.0/29" too small'
    )


def test_each_address_is_one_range_in_the_order_of_its_first_mention() -> None:
    addresses = ["10.0.0.2", "2001:DB8::1", "10.0.0.2", "2001:db8:0::1"]

    assert host_blocks(addresses) == Success(("10.0.0.2/32", "2001:db8::1/128"))
