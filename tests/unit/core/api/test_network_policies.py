"""Which annotations list ports for an alias."""

import pytest

from hedgerow.api.network_policies import allowed_ports_alias

N = "networking.resources.gardener.cloud"


@pytest.mark.parametrize(
    ("annotation", "alias"),
    [
        (f"{N}/from-all-scrape-targets-allowed-ports", "all-scrape-targets"),
        (f"{N}/from-x-allowed-ports", "x"),
        (f"{N}/from-world-allowed-ports", "world"),
        (f"{N}/from-policy-allowed-ports", "policy"),
        (f"{N}/from-x-allowed-ports-allowed-ports", "x-allowed-ports"),
        (f"{N}/from--x-allowed-ports", "-x"),
        (f"{N}/from-a.b-allowed-ports", "a.b"),
        (f"{N}/from-Upper_Case-allowed-ports", "Upper_Case"),
        (f"{N}/from--allowed-ports", None),
        (f"{N}/from-allowed-ports", None),
        (f"{N}/from-x-allowed-ports-and-more", None),
        (f"{N}/from-world-to-ports", None),
        (f"{N}/to-x-allowed-ports", None),
        (f"x{N}/from-x-allowed-ports", None),
        ("example.com/from-x-allowed-ports", None),
        ("from-x-allowed-ports", None),
    ],
)
def test_an_alias_stands_between_the_whole_prefix_and_the_whole_suffix(annotation: str, alias: str | None) -> None:
    assert allowed_ports_alias(annotation) == alias
