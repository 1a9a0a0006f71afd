"""What of a Service stays as it is in the cluster."""

from typing import Any

import pytest

from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.managed_resources.merge.merging import Instructions, merge

ADDRESS = "1.2.3.4"
PORT = {"name": "foo", "protocol": "TCP", "port": 123, "targetPort": 919}
ALLOCATED = {**PORT, "nodePort": 3333}


def service(**spec: Any) -> Manifest:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x"}, "spec": spec}


def merged(desired: Manifest, live: Manifest, **instructions: Any) -> Any:
    return merge(desired, live, Instructions("default/mr", **instructions)).unwrap()


def spec_of(desired: Manifest, live: Manifest) -> Any:
    return merged(desired, live)["spec"]


def test_ports_change_and_the_address_stays() -> None:  # MG-23 MG-24
    live = service(type="ClusterIP", clusterIP=ADDRESS, ports=[PORT])
    changed = {**PORT, "port": 998}

    for address in ({}, {"clusterIP": ""}, {"clusterIP": "5.6.7.8"}):
        assert spec_of(service(type="ClusterIP", ports=[changed], **address), live) == {
            "type": "ClusterIP",
            "clusterIP": ADDRESS,
            "ports": [changed],
        }


def test_no_type_is_written_as_the_default_one() -> None:  # MG-26
    assert spec_of(service(clusterIP="5.6.7.8"), service(clusterIP=ADDRESS)) == {
        "type": "ClusterIP",
        "clusterIP": ADDRESS,
    }


@pytest.mark.parametrize("live_type", ["ClusterIP", "NodePort", "LoadBalancer"])
def test_a_manifest_may_give_up_the_address(live_type: str) -> None:  # MG-25
    headless = service(type="ClusterIP", clusterIP="None")

    assert spec_of(headless, service(type=live_type, clusterIP=ADDRESS))["clusterIP"] == "None"


@pytest.mark.parametrize(
    ("live_type", "port"),
    [
        pytest.param("ClusterIP", PORT, id="MG-27"),
        pytest.param("NodePort", PORT, id="none was allocated"),
        pytest.param("NodePort", ALLOCATED, id="MG-29"),
    ],
)
def test_a_node_port_of_the_manifest_is_taken(live_type: str, port: Manifest) -> None:
    live = service(type=live_type, clusterIP=ADDRESS, ports=[port])

    found = spec_of(service(type="NodePort", ports=[{**PORT, "nodePort": 444}]), live)

    assert (found["clusterIP"], found["ports"][0]["nodePort"]) == (ADDRESS, 444)


@pytest.mark.parametrize("kind", ["NodePort", "LoadBalancer"])
@pytest.mark.parametrize(
    "port",
    [
        pytest.param({**PORT, "port": 999}, id="MG-28 same name"),
        pytest.param({**PORT, "name": "other"}, id="same number"),
        pytest.param({**PORT, "nodePort": 0}, id="not wanted to be any"),
    ],
)
def test_a_node_port_is_kept_for_a_port_of_the_same_number_or_name(kind: str, port: Manifest) -> None:
    found = spec_of(service(type=kind, ports=[port]), service(type="NodePort", ports=[ALLOCATED]))

    assert found["ports"] == [{**port, "nodePort": 3333}]


def test_ports_without_names_have_the_same_and_the_last_match_wins() -> None:
    live = service(type="NodePort", ports=[{"port": 1, "nodePort": 3001}, {"port": 2, "nodePort": 3002}])

    found = spec_of(service(type="NodePort", ports=[{"port": 1}, {"name": "new", "port": 9}]), live)

    assert found["ports"] == [{"port": 1, "nodePort": 3002}, {"name": "new", "port": 9}]


@pytest.mark.parametrize("live_type", ["NodePort", "LoadBalancer"])
def test_node_ports_go_with_the_type(live_type: str) -> None:  # MG-30
    live = service(type=live_type, clusterIP=ADDRESS, ports=[ALLOCATED])

    assert spec_of(service(type="ClusterIP", ports=[PORT]), live) == {
        "type": "ClusterIP",
        "clusterIP": ADDRESS,
        "ports": [PORT],
    }


@pytest.mark.parametrize("live_type", ["ClusterIP", "NodePort", "LoadBalancer"])
def test_an_external_name_has_no_address(live_type: str) -> None:  # MG-31
    desired = service(type="ExternalName", externalName="foo.com", ports=[PORT])

    assert spec_of(desired, service(type=live_type, clusterIP=ADDRESS, ports=[ALLOCATED])) == desired["spec"]


@pytest.mark.parametrize("desired_type", ["ClusterIP", "NodePort", "LoadBalancer"])
def test_what_was_an_external_name_gets_the_address_of_the_manifest(desired_type: str) -> None:  # MG-32
    desired = service(type=desired_type, clusterIP="3.4.5.6", healthCheckNodePort=123)

    assert spec_of(desired, service(type="ExternalName", externalName="foo.com")) == desired["spec"]


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        pytest.param({}, 3333, id="not asked for"),
        pytest.param({"healthCheckNodePort": 0}, 3333, id="MG-33"),
        pytest.param({"healthCheckNodePort": 123}, 123, id="MG-34"),
    ],
)
def test_the_port_of_health_checks_is_kept_unless_the_manifest_has_one(asked: Manifest, kept: int) -> None:
    local = {"type": "LoadBalancer", "externalTrafficPolicy": "Local"}

    assert spec_of(service(**local, **asked), service(**local, healthCheckNodePort=3333))["healthCheckNodePort"] == kept


def test_the_port_of_health_checks_goes_where_nothing_is_checked() -> None:
    live = service(type="LoadBalancer", externalTrafficPolicy="Local", healthCheckNodePort=3333)

    assert "healthCheckNodePort" not in spec_of(service(type="LoadBalancer"), live)
    was_none = {**live["spec"], "type": "NodePort"}
    assert "healthCheckNodePort" not in spec_of(
        service(type="LoadBalancer", externalTrafficPolicy="Local"), service(**was_none)
    )


def test_the_address_of_a_load_balancer_is_kept() -> None:  # MG-35
    live = service(type="LoadBalancer", loadBalancerIP=ADDRESS)

    assert spec_of(service(type="LoadBalancer"), live)["loadBalancerIP"] == ADDRESS
    assert spec_of(service(type="LoadBalancer", loadBalancerIP="9"), live)["loadBalancerIP"] == "9"
    assert "loadBalancerIP" not in spec_of(service(type="ClusterIP"), live)


def test_what_a_cloud_controller_remembers_survives_annotations_that_overwrite() -> None:  # MG-36
    key = "loadbalancer.openstack.org/load-balancer-id"
    live = {**service(), "metadata": {"name": "x", "annotations": {key: "x", "foo": "bar"}}}

    annotations = merged(service(), live, overwrite_annotations=True)["metadata"]["annotations"]

    assert annotations[key] == "x"
    assert "foo" not in annotations
