"""What `hedgerow crds` prints is what an API server takes, and a process waits for it without harm."""

import http.client
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.control_plane import ControlPlane
from tests.e2e.managed_definition import (
    API_VERSION,
    DEFINITION,
    GROUP,
    SETTLED,
    deliver_nothing,
    install,
    path_of,
    statuses,
    undefined,
)
from tests.e2e.managed_resources.manager import Manager
from tests.e2e.managed_resources.manifests import config_map
from tests.e2e.managed_resources.sandbox import ManagedResourceSandbox
from tests.e2e.resource_manager import UNDEFINED, ResourceManager, errors_of
from tests.e2e.sandbox import Manifest, Sandbox, pair, service

IDLE = ["health", "health-progressing", "managedresource"]
"""The controllers whose primary objects are ManagedResources."""
TIME = "2026-01-01T12:00:00Z"


def condition(name: str, status: str, **more: Any) -> Manifest:
    times = {"lastTransitionTime": TIME, "lastUpdateTime": TIME}
    return {"type": name, "status": status, "reason": "Some", "message": "some", **times, **more}


EVERY_FIELD: Manifest = {
    "apiVersion": API_VERSION,
    "kind": "ManagedResource",
    "metadata": {"name": "every-field"},
    "spec": {
        "class": "seed",
        "secretRefs": [{"name": "a"}, {"name": "b"}, {"name": "a"}],
        "injectLabels": {"a": "b"},
        "forceOverwriteLabels": True,
        "forceOverwriteAnnotations": True,
        "keepObjects": True,
        "equivalences": [[{"group": "apps", "kind": "Deployment"}, {"group": "", "kind": "Pod"}], []],
        "deletePersistentVolumeClaims": True,
    },
    "status": {
        "conditions": [
            condition("ResourcesApplied", "True"),
            condition("ResourcesHealthy", "Progressing", codes=["ERR"]),
            condition("ResourcesProgressing", "Unknown"),
        ],
        "observedGeneration": 7,
        "resources": [
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "name": "c",
                "namespace": "n",
                "uid": "u",
                "resourceVersion": "1",
                "fieldPath": "f",
                "labels": {"a": "b"},
                "annotations": {"c": "d"},
            },
            {"kind": "ConfigMap"},
            {"kind": "ConfigMap"},
        ],
        "secretsDataChecksum": "abc",
    },
}


@pytest.fixture
def no_definition(control_plane: ControlPlane) -> Iterator[None]:
    """The API server knows no ManagedResources before the test, nor after it."""
    with undefined(control_plane):
        yield


def said_of_it(control_plane: ControlPlane) -> dict[str, str]:
    """The conditions of the definition."""
    conditions = control_plane.request("GET", DEFINITION)[1].get("status", {}).get("conditions", ())
    return {each["type"]: each["status"] for each in conditions}


def created(control_plane: ControlPlane, namespace: str, manifest: Manifest) -> Manifest:
    status, answer = control_plane.request("POST", path_of(namespace), manifest)
    assert status == http.client.CREATED, answer
    return answer


def test_an_api_server_stores_and_serves_every_field(
    control_plane: ControlPlane, sandbox: Sandbox, no_definition: None
) -> None:
    install(control_plane)
    namespace = sandbox.namespace("shop")
    path = path_of(namespace, "every-field")

    first = created(control_plane, namespace, EVERY_FIELD)
    control_plane.request("PATCH", f"{path}/status", {"status": EVERY_FIELD["status"]})
    served = control_plane.request("GET", path)[1]

    assert said_of_it(control_plane) == {"NamesAccepted": "True", "Established": "True"}, "its schema is structural"
    assert "status" not in first, "it is a subresource"
    assert (served["spec"], served["status"]) == (EVERY_FIELD["spec"], EVERY_FIELD["status"])
    assert served["metadata"]["generation"] == 1


def test_nothing_is_defaulted_and_nothing_but_types_and_missing_fields_is_refused(
    control_plane: ControlPlane, sandbox: Sandbox, no_definition: None
) -> None:
    install(control_plane)
    namespace = sandbox.namespace("shop")
    head = {"apiVersion": API_VERSION, "kind": "ManagedResource"}

    least = created(control_plane, namespace, {**head, "metadata": {"name": "least"}, "spec": {"secretRefs": []}})
    bare = created(control_plane, namespace, {**head, "metadata": {"name": "bare"}})
    wrong = {"class": 1, "equivalences": [[{"group": "apps"}]]}
    status, refusal = control_plane.request(
        "POST", path_of(namespace), {**head, "metadata": {"name": "wrong"}, "spec": wrong}
    )

    assert (least["spec"], "spec" in bare) == ({"secretRefs": []}, False)
    assert status == http.client.UNPROCESSABLE_ENTITY
    assert sorted(cause["field"] for cause in refusal["details"]["causes"]) == [
        "spec.class",
        "spec.equivalences[0][0].kind",
        "spec.secretRefs",
    ]


def test_kubectl_shows_the_columns_that_people_know(
    control_plane: ControlPlane, sandbox: Sandbox, no_definition: None
) -> None:
    install(control_plane)
    namespace = sandbox.namespace("shop")
    created(control_plane, namespace, EVERY_FIELD)
    path = path_of(namespace, "every-field")
    control_plane.request("PATCH", f"{path}/status", {"status": EVERY_FIELD["status"]})

    titles, row = control_plane.kubectl("get", "mr", "-n", namespace).splitlines()

    assert titles.split() == ["NAME", "CLASS", "APPLIED", "HEALTHY", "PROGRESSING", "AGE"]
    assert row.split()[:5] == ["every-field", "seed", "True", "Progressing", "Unknown"]


def test_kubectl_shows_reasons_and_messages_in_wide_tables(
    control_plane: ControlPlane, sandbox: Sandbox, no_definition: None
) -> None:
    install(control_plane)
    namespace = sandbox.namespace("shop")
    created(control_plane, namespace, EVERY_FIELD)
    failed = {"reason": "ApplyFailed", "message": "Could not apply ConfigMap n/c"}
    conditions = [
        condition("ResourcesApplied", "False", **failed),
        condition("ResourcesHealthy", "True"),
        condition("ResourcesProgressing", "True"),
    ]
    path = f"{path_of(namespace, 'every-field')}/status"
    control_plane.request("PATCH", path, {"status": {"conditions": conditions}})

    titles, row = control_plane.kubectl("get", "mr", "-n", namespace, "-o", "wide").splitlines()

    cells = zip(re.split(r"  +", titles.strip()), re.split(r"  +", row.strip()), strict=True)
    assert (
        dict(cells).items()
        >= {
            "APPLIED": "False",
            "APPLIED-REASON": "ApplyFailed",
            "APPLIED-MESSAGE": "Could not apply ConfigMap n/c",
            "HEALTHY-REASON": "Some",
            "PROGRESSING-MESSAGE": "some",
        }.items()
    )


def test_a_process_works_without_the_definition_and_takes_up_what_it_brings(
    control_plane: ControlPlane, sandbox: Sandbox, no_definition: None
) -> None:
    shop = sandbox.namespace("shop")
    sandbox.create(service(shop, "cart"))
    own_class = sandbox.prefix[:20].strip("-")
    config = sandbox.configuration()
    config["controllers"]["resourceClass"] = own_class

    with ResourceManager(sandbox.folder, config) as process:
        process.wait_ready()
        sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))
        waiting = process.log_lines(UNDEFINED, level="warning")
        process.wait_for(lambda: waits_for_definition(process) == {*IDLE}, "does not count what it waits for")
        install(control_plane)
        deliver_nothing(control_plane, shop, "late", **{"class": own_class})
        process.wait_for(lambda: statuses(control_plane, shop, "late") == SETTLED, "has not seen to it")
        process.wait_for(lambda: finalizers(control_plane, shop), "has not taken hold of the Secret")
        assert process.probe("/readyz")[0] == http.client.OK
        process.wait_for(lambda: not waits_for_definition(process), "still waits for what is there")
        assert errors_of(process.log_lines()) == []

    assert sorted(line["controller"] for line in waiting) == IDLE
    assert finalizers(control_plane, shop) == [f"resources.gardener.cloud/gardener-resource-manager-{own_class}"]


def test_what_was_delivered_outlives_the_definition(
    control_plane: ControlPlane, no_definition: None, namespace_prefix: str, tmp_path: Path
) -> None:
    install(control_plane)
    sandbox = ManagedResourceSandbox(control_plane, namespace_prefix, tmp_path)
    settings = config_map(sandbox.namespace, "settings")
    with Manager(sandbox.folder, sandbox.configuration()) as manager:
        manager.wait_ready()
        managed = sandbox.deliver("shop", settings)
        sandbox.wait_until_applied()
        uid = sandbox.uid(settings)

        control_plane.request("DELETE", DEFINITION)
        gone = http.client.NOT_FOUND
        sandbox.wait_for(lambda: control_plane.request("GET", DEFINITION)[0] == gone, "the definition is gone")
        sandbox.wait_for(lambda: "DefinitionTerminating" in reasons(sandbox), "an event says why")

    left = sandbox.get(settings)["metadata"]
    assert (left["uid"], "deletionTimestamp" in left) == (uid, False)
    assert control_plane.request("GET", path_of(sandbox.namespace, managed["metadata"]["name"]))[0] == gone


def waits_for_definition(process: ResourceManager) -> set[str]:
    """The controllers that have nothing to do before ManagedResources are defined."""
    waits = partial(process.metric, "hedgerow_waiting_for_definition", resource=f"managedresources.{GROUP}")
    return {controller for controller in IDLE if waits(controller=controller)}


def reasons(sandbox: ManagedResourceSandbox) -> set[str]:
    """The reasons of the events in the namespace."""
    return {event["reason"] for event in sandbox.all("events.k8s.io/v1", "Event").values()}


def finalizers(control_plane: ControlPlane, namespace: str) -> list[str]:
    """What holds the Secret back from being deleted."""
    secret = control_plane.request("GET", f"/api/v1/namespaces/{namespace}/secrets/late")[1]
    found: list[str] = secret.get("metadata", {}).get("finalizers", [])
    return found
