"""Hashes of specifications."""

from typing import Any

import pytest

from hedgerow.registration.content import deployment_hash, registration_hash, seed_spec_hash, spec_hash
from hedgerow.registration.garden import transform_deployment, transform_registration
from tests.unit.core.registration.objects import deployment, registration, seed

AWS: dict[str, Any] = {
    "dns": {},
    "networks": {"pods": "100.96.0.0/11", "services": "100.64.0.0/13", "ipFamilies": ["IPv4"]},
    "provider": {"type": "aws", "region": "eu-west-1", "zones": ["a"]},
}
EMPTY_AWS = {"networks": {"pods": "", "services": ""}, "provider": {"type": "type11", "region": ""}, "dns": {}}


def inline(foo: str) -> dict[str, Any]:
    config = {"chart": "H4sIAAAA", "values": {"foo": foo}}
    return {
        "resources": [{"kind": "x"}],
        "deployment": {"type": "helm", "policy": "OnDemand", "providerConfig": config},
    }


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({}, "e3b0c44298fc1c14"),
        ({"type": "helm", "providerConfig": None}, "d37bba62f222c81b"),
        (
            {"resources": [{"kind": "any"}], "deployment": {"policy": "OnDemand", "deploymentRefs": [{"name": "any"}]}},
            "61ca93a1782c5fa3",
        ),
        ({"backup": {"provider": "type8", "secretRef": {}}, **EMPTY_AWS}, "8e09957b7d0d3c19"),
        (AWS, "0ebdae364ad5d187"),
        (inline("bar"), "370b615aa4bf18c5"),
        (inline("baz"), "efd98d0da18a21ee"),
    ],
)
def test_the_hash_is_that_of_the_reference(value: dict[str, Any], expected: str) -> None:
    assert spec_hash(value) == expected


def test_booleans_matter_but_neither_numbers_nor_lists_nor_names() -> None:
    one = spec_hash({"a": True, "b": 1, "c": ["x"]})

    assert one == spec_hash({"z": True, "y": 2, "x": None})
    assert one != spec_hash({"a": False})


def test_what_every_seed_has_is_hashed_where_it_is_left_out() -> None:
    assert seed_spec_hash(seed(spec={"backup": {"provider": "type8"}, "provider": {"type": "type11"}})) == (
        "8e09957b7d0d3c19"
    )


def test_of_a_deployment_type_and_configuration_are_hashed() -> None:
    assert deployment_hash(deployment()) == "d37bba62f222c81b"
    assert deployment_hash({**deployment(), "providerConfig": {"chart": "x"}}) != "d37bba62f222c81b"


def test_caches_keep_the_hash_of_what_they_leave_out() -> None:
    deployed = registration(type="helm", providerConfig=inline("bar")["deployment"]["providerConfig"])
    kept = transform_registration(deployed)
    referred = transform_deployment({**deployment(), "providerConfig": {"chart": "x"}})

    assert "providerConfig" not in kept["spec"]["deployment"]
    assert kept["specHash"] == registration_hash(deployed) == "370b615aa4bf18c5"
    assert referred["specHash"] == deployment_hash({**deployment(), "providerConfig": {"chart": "x"}})
    assert "providerConfig" not in referred


def test_a_registration_that_cannot_be_read_has_no_hash() -> None:
    assert transform_registration({**registration(), "spec": {"resources": "none"}})["specHash"] == ""
