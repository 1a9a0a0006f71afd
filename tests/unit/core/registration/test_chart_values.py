"""What charts are rendered from (C7, C8, C14 to C16)."""

from typing import Any

import pytest
from returns.result import Success

from hedgerow.registration.chart_values import chart_values, merged, read_chart
from tests.unit.core.registration.landscape import SEED, seed

SURROUNDINGS: dict[str, Any] = {
    "garden_uid": "uid",
    "garden_identity": "garden-id",
    "kubeconfig_secret": "generic-garden-kubeconfig-81fb3a88",
    "version": "v1.82.0",
    "feature_gates": {"HVPA": False},
}


def test_a_chart_sees_all_of_its_surroundings_under_every_name_that_they_ever_had() -> None:
    spec: dict[str, Any] = {
        "provider": {"type": "aws", "region": "eu-west-1", "zones": ["a", "b"]},
        "ingress": {"domain": "ingress.example.com"},
        "networks": {"pods": "100.96.0.0/11", "blockCIDRs": ["169.254.169.254/32"]},
        "settings": {"scheduling": {"visible": False}},
        "taints": [{"key": "other"}, {"key": "seed.gardener.cloud/protected"}],
        "volume": {"providers": [{"purpose": "etcd", "name": "flexvolume"}, {"purpose": "other", "name": "csi"}]},
    }
    metadata = {"name": SEED, "labels": {"a": "b"}, "annotations": {"c": "d"}}
    manifest = {"metadata": metadata, "spec": spec, "status": {"clusterIdentity": "seed-id"}}

    assert chart_values({}, manifest, **SURROUNDINGS) == {
        "gardener": {
            "version": "v1.82.0",
            "garden": {
                "identifier": "uid",
                "identity": "uid",
                "clusterIdentity": "garden-id",
                "genericKubeconfigSecretName": "generic-garden-kubeconfig-81fb3a88",
            },
            "gardenlet": {"featureGates": {"HVPA": False}},
            "seed": {
                "identifier": SEED,
                "identity": SEED,
                "name": SEED,
                "clusterIdentity": "seed-id",
                "annotations": {"c": "d"},
                "labels": {"a": "b"},
                "provider": "aws",
                "region": "eu-west-1",
                "volumeProvider": "flexvolume",
                "volumeProviders": spec["volume"]["providers"],
                "ingressDomain": "ingress.example.com",
                "protected": True,
                "visible": False,
                "taints": spec["taints"],
                "networks": spec["networks"],
                "blockCIDRs": ["169.254.169.254/32"],
                "spec": spec,
            },
        }
    }


def test_what_a_seed_does_not_say_is_null_or_what_goes_without_saying() -> None:
    values = chart_values({}, seed(), **SURROUNDINGS)["gardener"]["seed"]

    absent = ("annotations", "labels", "volumeProviders", "ingressDomain", "taints", "blockCIDRs")
    assert {name: values[name] for name in absent} == dict.fromkeys(absent)
    assert (values["volumeProvider"], values["protected"], values["visible"]) == ("", False, True)


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        pytest.param(
            {"gardener": {"seed": {"region": "x"}, "mine": 1}, "a": {"b": 1}},
            {"region": "eu-west-1", "mine": 1, "a": {"b": 1}},
            id="C14",
        ),
        pytest.param({"gardener": "str"}, {"region": "eu-west-1", "mine": None, "a": None}, id="C15"),
    ],
)
def test_values_of_the_deployment_stay_beside_ours(own: Any, expected: Any) -> None:
    values = chart_values(own, seed(), **SURROUNDINGS)

    gardener = values["gardener"]
    assert {"region": gardener["seed"]["region"], "mine": gardener.get("mine"), "a": values.get("a")} == expected


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": {"b": 1, "c": 1}}, {"a": {"b": 2}}, {"a": {"b": 2, "c": 1}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": {"b": 1}}, {"a": None}, {"a": None}),
        ({"a": 1}, {"a": {"b": 1}}, {"a": {"b": 1}}),
    ],
)
def test_objects_are_merged_and_all_else_is_replaced(one: Any, other: Any, both: Any) -> None:
    assert merged(one, other) == both


@pytest.mark.parametrize(
    ("config", "archive", "values"),
    [
        ({"chart": "YSBj\r\naGFy\ndA==\n", "values": {"a": 1}}, b"a chart", {"a": 1}),
        ({"chart": None, "values": None}, b"", {}),
        ({"unknown": 1}, b"", {}),
    ],
)
def test_a_chart_is_read(config: Any, archive: bytes, values: Any) -> None:
    chart = read_chart(config).unwrap()

    assert (chart.archive, chart.values) == (archive, values)


@pytest.mark.parametrize("text", ["YSBjaGFydA", "YSBj aGFydA==", "%%%"])
def test_base64_is_read_as_go_reads_it(text: str) -> None:
    assert read_chart({"chart": text}).failure() == "chart: must be encoded in base64"


def test_values_that_are_nested_too_deeply_are_refused() -> None:
    values: Any = {}
    for _ in range(101):
        values = {"a": values}

    assert isinstance(read_chart({"values": values["a"]["a"]}), Success)
    problem = "values: lists and mappings are nested more than 100 levels deep"
    assert read_chart({"values": values}).failure() == problem
