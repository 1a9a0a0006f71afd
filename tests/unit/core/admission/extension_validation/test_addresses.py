"""How addresses and networks are read."""

import pytest

from hedgerow.admission.extension_validation.rules import Family, family_of, parse_address, parse_network


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("1.2.3.4", "1.2.3.4"),
        ("1.2.3.04", "1.2.3.4"),
        ("000.010.00.255", "0.10.0.255"),
        ("2001:DB8::1", "2001:db8::1"),
        ("::ffff:1.2.3.04", "::ffff:102:304"),
        ("2001:00db8::00001", "2001:db8::1"),
    ],
)
def test_octets_and_groups_of_an_address_may_start_with_zeros(text: str, address: str) -> None:
    assert str(parse_address(text)) == address


@pytest.mark.parametrize(
    "text",
    ["", "1.2.3", "1.2.3.256", "1.2.3.4.5", "1.2.3.4/32", " 1.2.3.4", "1.2.3.a", "1.2.3.٤", "fe80::1%eth0", ":1"],
)
def test_anything_else_is_no_address(text: str) -> None:
    assert parse_address(text) is None


@pytest.mark.parametrize(
    ("text", "network"),
    [
        ("10.20.30.40/26", "10.20.30.0/26"),
        ("10.0.0.0/08", "10.0.0.0/8"),
        ("0.0.0.0/0", "0.0.0.0/0"),
        ("2001:db8::1/128", "2001:db8::1/128"),
        ("::ffff:10.20.30.40/104", "10.0.0.0/8"),
        ("::ffff:10.20.30.40/96", "0.0.0.0/0"),
        ("::ffff:10.20.30.40/95", "::fffe:0:0/95"),
    ],
)
def test_a_network_has_a_prefix_and_may_have_host_bits(text: str, network: str) -> None:
    assert str(parse_network(text)) == network


@pytest.mark.parametrize(
    "text",
    [
        "",
        "10.0.0.0",
        "10.0.0.0/",
        "10.0.0.0/33",
        "10.0.0.0/-1",
        "10.0.0.0/+8",
        "10.0.0.0/٨",
        "10.0.0.0/255.0.0.0",
        "10.0.0.0/8/8",
        "10.0.0.01/8",
        "10.0.0/8",
        "/8",
        "2001:db8::/129",
        "fe80::1%eth0/64",
    ],
)
def test_anything_else_is_no_network(text: str) -> None:
    assert parse_network(text) is None


@pytest.mark.parametrize(
    ("text", "family"),
    [("1.2.3.4", Family.IPV4), ("::ffff:1.2.3.4", Family.IPV4), ("::1", Family.IPV6), ("::1.2.3.4", Family.IPV6)],
)
def test_an_ipv4_address_stays_one_however_it_is_written(text: str, family: Family) -> None:
    address = parse_address(text)

    assert address is not None
    assert family_of(address) is family
