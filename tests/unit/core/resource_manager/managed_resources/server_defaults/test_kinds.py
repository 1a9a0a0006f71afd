"""How built-in kinds are stored, where a mistake would do harm: what servers keep of what says little."""

import json
from typing import Any

import pytest

from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.managed_resources.server_defaults.differences import Difference, as_readable, differences
from hedgerow.resource_manager.managed_resources.server_defaults.kinds import storage_rule

DEFINITION = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}


def definition(**version: Any) -> Manifest:
    return {**DEFINITION, "spec": {"versions": [{"name": "v1", **version}]}}


def schema(**members: Any) -> Manifest:
    return definition(schema={"openAPIV3Schema": {"properties": {"spec": members}}})


def drift(wanted: Manifest, live: Manifest) -> tuple[Difference, ...]:
    return differences(as_readable(wanted), live, storage_rule(wanted))


@pytest.mark.parametrize(
    ("with_it", "without"),
    [
        (definition(subresources={"status": {}}), definition()),
        (definition(subresources={"scale": {"x": 1}, "status": {}}), definition(subresources={"scale": {"x": 1}})),
        (schema(additionalProperties={}), schema()),
        (schema(items={}), schema()),
        (schema(default={}), schema()),
        (schema(properties={"free": {}, "a": {}}), schema(properties={"a": {}})),
    ],
)
def test_an_empty_member_of_a_definition_says_something(with_it: Manifest, without: Manifest) -> None:
    assert len(drift(with_it, without)) == len(drift(without, with_it)) == 1


@pytest.mark.parametrize("member", ["nullable", "uniqueItems", "exclusiveMinimum"])
def test_false_is_as_good_as_absent_in_schemas_at_any_depth(member: str) -> None:
    wanted = schema(items={"properties": {"nullable": {member: False, "type": "string"}}}, required=[], allOf=[])

    assert drift(wanted, schema(items={"properties": {"nullable": {"type": "string"}}})) == ()
    assert drift(schema(**{member: True}), schema()) != ()


def test_amounts_of_a_limit_range_are_completed_one_by_one() -> None:
    limit = {"type": "Container", "defaultRequest": {"memory": "1Mi"}, "max": {"cpu": 1, "memory": "1Gi"}}
    full = {**limit, "default": {"cpu": "1", "memory": "1Gi"}, "defaultRequest": {"cpu": "1", "memory": "1Mi"}}
    wanted = {"apiVersion": "v1", "kind": "LimitRange", "spec": {"limits": [limit]}}

    assert drift(wanted, {**wanted, "spec": {"limits": [full]}}) == ()
    assert drift(wanted, {**wanted, "spec": {"limits": [{**full, "default": {"cpu": "1"}}]}}) != ()


def test_amounts_are_completed_for_containers_alone() -> None:
    limit = {"type": "Pod", "max": {"cpu": "1"}}
    wanted = {"apiVersion": "v1", "kind": "LimitRange", "spec": {"limits": [limit]}}

    assert as_readable(wanted) == wanted
    assert drift(wanted, {**wanted, "spec": {"limits": [{**limit, "default": {"cpu": "1"}}]}}) != ()


def test_encoded_bytes_are_stored_in_one_line() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "data": {"a": "YWFh\nYWFh\n"}, "stringData": {"b": "b"}}

    assert as_readable(secret)["data"] == {"a": "YWFhYWFh", "b": "Yg=="}


def with_bundles(bundle: Any) -> list[Manifest]:
    """Objects of all kinds that have CA bundles, with one."""
    configuration = {"caBundle": bundle, "url": "x"}
    conversion = {"conversion": {"webhook": {"clientConfig": configuration}}}
    return [
        of_kind("apiregistration.k8s.io/v1", "APIService", spec=configuration),
        {**DEFINITION, "spec": conversion},
        *(
            of_kind("admissionregistration.k8s.io/v1", kind, webhooks=[{"clientConfig": configuration}])
            for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")
        ),
    ]


def test_ca_bundles_are_stored_in_one_line() -> None:
    assert [*map(as_readable, with_bundles("YWFh\r\nYWFh\n"))] == with_bundles("YWFhYWFh")
    assert [*map(as_readable, with_bundles(5))] == with_bundles(5)


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("shop/cart", "Always"),
        ("shop/cart:latest", "Always"),
        ("shop:5000/cart", "Always"),
        ("shop/cart:1", "IfNotPresent"),
        ("shop/cart@sha256:0123", "IfNotPresent"),
        ("shop/cart:latest@sha256:0123", "Always"),
        ("shop/cart:1@sha256:0123", "IfNotPresent"),
    ],
)
def test_an_image_that_may_be_another_one_the_next_time_is_pulled_always(image: str, policy: str) -> None:
    wanted, stored = (
        of_kind("v1", "Pod", spec={"containers": [{"name": "c", "image": image, **members}]})
        for members in ({}, {"imagePullPolicy": policy})
    )
    other = {"Always": "IfNotPresent", "IfNotPresent": "Always"}[policy]
    (container,) = stored["spec"]["containers"]

    assert drift(wanted, stored) == ()
    assert drift(wanted, {**stored, "spec": {"containers": [{**container, "imagePullPolicy": other}]}}) != ()


def test_the_default_limit_of_containers_goes_before_the_maximum() -> None:
    limit = {"type": "Container", "default": {"cpu": "1"}, "max": {"cpu": "2"}, "min": {"memory": "1Mi"}}
    wanted = of_kind("v1", "LimitRange", spec={"limits": [limit]})

    assert as_readable(wanted)["spec"]["limits"] == [{**limit, "defaultRequest": {"cpu": "1", "memory": "1Mi"}}]


def of_kind(api_version: str, kind: str, **members: Any) -> Manifest:
    return {"apiVersion": api_version, "kind": kind, **members}


@pytest.mark.parametrize(("egress", "policy_types"), [([], ["Ingress"]), ([{}], ["Ingress", "Egress"])])
def test_a_network_policy_isolates_egress_only_if_it_has_egress_rules(egress: Any, policy_types: list[str]) -> None:
    wanted = of_kind("networking.k8s.io/v1", "NetworkPolicy", spec={"egress": egress})

    assert drift(wanted, {**wanted, "spec": {"egress": egress, "podSelector": {}, "policyTypes": policy_types}}) == ()
    assert drift(wanted, {**wanted, "spec": {"egress": egress, "podSelector": {}, "policyTypes": ["Egress"]}}) != ()


@pytest.mark.parametrize(
    ("kind", "group"), [("User", "rbac.authorization.k8s.io"), ("Group", "rbac.authorization.k8s.io"), ("Robot", None)]
)
def test_users_and_groups_of_a_role_binding_are_of_the_rbac_group(kind: str, group: str | None) -> None:
    wanted = of_kind("rbac.authorization.k8s.io/v1", "RoleBinding", subjects=[{"kind": kind, "name": "a"}])
    live = {**wanted, "subjects": [{"kind": kind, "name": "a", "apiGroup": "rbac.authorization.k8s.io"}]}

    assert (drift(wanted, live) == ()) is (group is not None)


def test_rules_of_an_aggregated_cluster_role_belong_to_the_controller_that_gathers_them() -> None:
    gathered = {"rules": [{"verbs": ["get"]}]}
    wanted = of_kind("rbac.authorization.k8s.io/v1", "ClusterRole", aggregationRule={"clusterRoleSelectors": [{}]})
    plain = of_kind("rbac.authorization.k8s.io/v1", "ClusterRole", rules=[])

    assert drift(wanted, {**wanted, **gathered}) == ()
    assert drift(plain, {**plain, **gathered}) != ()


@pytest.mark.parametrize(
    ("selector", "is_drift"), [({"app": "cart"}, False), ({"app": "other"}, True)], ids=["own pods", "other pods"]
)
def test_a_replication_controller_without_selector_selects_the_pods_of_its_template(
    selector: Manifest, *, is_drift: bool
) -> None:
    spec = {"template": {"metadata": {"labels": {"app": "cart"}}}}
    wanted = of_kind("v1", "ReplicationController", spec=spec)
    live = {**wanted, "spec": {**spec, "replicas": 1, "selector": selector}}

    assert any(each.path.startswith("spec.selector") for each in drift(wanted, live)) is is_drift


def test_an_object_that_the_server_refuses_is_read_as_it_is() -> None:
    broken = of_kind("apiextensions.k8s.io/v1", "CustomResourceDefinition", spec={"conversion": []})

    assert as_readable(broken) == broken


@pytest.mark.parametrize("texts", [{}, {"data": "x"}, {"data": []}, {"stringData": "x"}])
def test_texts_of_a_secret_of_another_shape_are_left_for_the_server_to_refuse(texts: Manifest) -> None:
    broken = of_kind("v1", "Secret", **texts)

    assert as_readable(broken) == broken


SELECTED = {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}}
FILLED_IN = [
    *(
        (
            of_kind(
                "admissionregistration.k8s.io/v1",
                kind,
                webhooks=[
                    {"clientConfig": {"service": {"name": "a"}, "caBundle": ""}, "rules": [{"operations": ["*"]}]}
                ],
            ),
            of_kind(
                "admissionregistration.k8s.io/v1",
                kind,
                webhooks=[
                    {
                        "clientConfig": {"service": {"name": "a", "port": 443}},
                        "rules": [{"operations": ["*"], "scope": "*"}],
                        "failurePolicy": "Fail",
                        "timeoutSeconds": 10,
                        **SELECTED,
                        **more,
                    }
                ],
            ),
        )
        for kind, more in (
            ("MutatingWebhookConfiguration", {"reinvocationPolicy": "Never"}),
            ("ValidatingWebhookConfiguration", {}),
        )
    ),
    (
        of_kind(
            "v1", "PersistentVolumeClaim", spec={"volumeName": "", "resources": {"requests": {"storage": "1024Mi"}}}
        ),
        of_kind(
            "v1",
            "PersistentVolumeClaim",
            spec={
                "volumeMode": "Filesystem",
                "volumeName": "chosen",
                "storageClassName": "chosen",
                "resources": {"requests": {"storage": "1Gi"}},
            },
        ),
    ),
    (
        of_kind(
            "v1", "PersistentVolume", spec={"csi": {"fsType": "", "readOnly": False}, "rbd": {"image": "a", "user": ""}}
        ),
        of_kind(
            "v1",
            "PersistentVolume",
            spec={
                "csi": {},
                "rbd": {"image": "a", "pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
                "persistentVolumeReclaimPolicy": "Retain",
                "volumeMode": "Filesystem",
            },
        ),
    ),
    (
        of_kind(
            "apps/v1",
            "Deployment",
            metadata={"annotations": {}},
            spec={"strategy": {"type": ""}, "minReadySeconds": 0, "paused": False},
        ),
        of_kind(
            "apps/v1",
            "Deployment",
            metadata={"annotations": {"deployment.kubernetes.io/revision": "3"}},
            spec={
                "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
                "progressDeadlineSeconds": 600,
                "replicas": 1,
                "revisionHistoryLimit": 10,
            },
        ),
    ),
]
"""Manifests, and what a server stores of them."""


@pytest.mark.parametrize(("wanted", "stored"), FILLED_IN, ids=lambda manifest: manifest["kind"])
def test_what_a_server_fills_in_is_no_drift(wanted: Manifest, stored: Manifest) -> None:
    assert drift(wanted, stored) == ()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("failurePolicy",), "Ignore"),
        (("timeoutSeconds",), 11),
        (("matchPolicy",), "Exact"),
        (("clientConfig", "service", "port"), 8443),
        (("rules", 0, "scope"), "Cluster"),
    ],
)
def test_what_somebody_else_has_set_in_a_webhook_is_drift(path: tuple[str | int, ...], value: Any) -> None:
    wanted, stored = FILLED_IN[0]
    changed = json.loads(json.dumps(stored))
    place = changed["webhooks"][0]
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value

    (found,) = drift(wanted, changed)

    assert found.found == value
