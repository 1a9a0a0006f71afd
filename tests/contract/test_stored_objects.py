"""What an API server makes of manifests is known, so that applying them again writes nothing.

What the in-memory cluster serves is no other; it fills in little.
"""

import base64
import http
import http.client
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from returns.result import Success

from hedgerow.api.managed_resources import MANAGED_BY
from hedgerow.machinery.objects import FIELD_MANAGER, Manifest
from hedgerow.resource_manager.managed_resources.merge.additions import with_additions
from hedgerow.resource_manager.managed_resources.merge.merging import (
    Instructions,
    LeaveObject,
    UpdateObject,
    application,
    merge,
)
from hedgerow.resource_manager.managed_resources.server_defaults.differences import left_by_the_server
from hedgerow.resource_manager.managed_resources.server_defaults.rules import custom_resource_rule
from hedgerow_adapters.protocol.transport import Request
from tests.contract.targets import MemoryTarget, ServerTarget, Target
from tests.control_plane import PATIENCE, ControlPlane, wait_until

MANIFESTS = list(yaml.safe_load_all(Path(__file__).with_name("stored_manifests.yaml").read_text()))
INSTRUCTIONS = Instructions(origin="default/example", labels={MANAGED_BY: "gardener"})
OVERWRITING = replace(INSTRUCTIONS, overwrite_labels=True, overwrite_annotations=True)
CLAIM = {"namespace": "x", "name": "y", "kind": "PersistentVolumeClaim", "apiVersion": "v1", "uid": "u"}
CLEANED_UP_BY_THE_SERVER = "customresourcecleanup.apiextensions.k8s.io"
THING = {"apiVersion": "filled.example.com/v1", "kind": "Thing"}


class Storing:
    """Creates objects in a namespace of its own and forgets them at the end."""

    def __init__(self, target: Target, namespace: str) -> None:
        self._target = target
        self._namespace = namespace
        self._stored: list[str] = []

    def request(self, method: str, path: str, body: Any = None) -> tuple[int, dict[str, Any]]:
        """The status and body of the answer; a change is a merge patch, and of another field manager than ours."""
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        manager = {"POST": FIELD_MANAGER, "PUT": FIELD_MANAGER, "PATCH": "injector"}.get(method)
        query = {"fieldManager": manager} if manager else {}
        answer = self._target.send(Request(method, path, query, body=body, content_type=kind))
        return answer.status, answer.body

    @cache  # noqa: B019 -- one instance for the session
    def _resources(self, api_version: str) -> Mapping[str, Mapping[str, Any]]:
        path = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        status, found = self.request("GET", path)
        assert status == http.client.OK, found
        return {each["kind"]: each for each in found["resources"] if "/" not in each["name"]}

    def serves(self, manifest: Manifest) -> bool:
        """Whether there are such objects."""
        api_version = manifest["apiVersion"]
        path = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        status, found = self.request("GET", path)
        return status == http.client.OK and manifest["kind"] in {each["kind"] for each in found["resources"]}

    def collection(self, manifest: Manifest) -> str:
        """The path of the objects of its kind."""
        api_version = manifest["apiVersion"]
        resource = self._resources(api_version)[manifest["kind"]]
        root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        scope = f"/namespaces/{self._namespace}" if resource["namespaced"] else ""
        return f"{root}{scope}/{resource['name']}"

    def path(self, manifest: Manifest) -> str:
        """The path of the object."""
        return f"{self.collection(manifest)}/{manifest['metadata']['name']}"

    def changed(self, manifest: Manifest, patch: Manifest) -> Manifest:
        """The object once somebody else has changed it."""
        status, answer = self.request("PATCH", self.path(manifest), patch)
        assert status == http.client.OK, answer
        return answer

    def stored(self, manifest: Manifest) -> Manifest:
        """What the server stores when it is sent an object."""
        status, answer = self.request("POST", self.collection(manifest), manifest)
        assert status == http.client.CREATED, answer
        path = self.path(manifest)
        self._stored.append(path)
        return self.request("GET", path)[1]

    def stored_again(self, manifest: Manifest) -> Manifest:
        """What the server stores when a manifest is applied again although nothing has changed."""
        path = self.path(manifest)
        answers: list[tuple[int, Manifest]] = []

        def attempt() -> bool:
            """Whether nobody else, such as a controller of the server itself, wrote in between."""
            live = self.request("GET", path)[1]
            again = application(manifest, live, INSTRUCTIONS, always_update=True).unwrap()
            assert isinstance(again, UpdateObject)
            answers.append(self.request("PUT", path, again.manifest))
            return answers[-1][0] != http.client.CONFLICT

        wait_until(attempt, timeout=PATIENCE, otherwise=lambda: AssertionError(answers[-1]))
        status, answer = answers[-1]
        assert status == http.client.OK, answer
        return answer

    def wait_for(self, path: str, status: http.HTTPStatus = http.HTTPStatus.OK) -> None:
        """Until a read of a path has a certain status."""
        wait_until(
            lambda: self.request("GET", path)[0] == status,
            timeout=PATIENCE,
            otherwise=lambda: AssertionError(f"a read of {path} does not become {status}"),
        )

    def forget(self) -> None:
        """Delete all that was stored, without the kubelets and controllers that would have to agree.

        A server takes its own finalizer from a custom resource definition some time later, and only then can there be
        another of that name.
        """
        while self._stored:
            path = self._stored.pop()
            _, left = self.request("DELETE", path, {"gracePeriodSeconds": 0})
            finalizers = left["metadata"].get("finalizers", ())
            if any(each.startswith("kubernetes.io/") for each in finalizers):
                self.request("PATCH", path, {"metadata": {"finalizers": None}})
            if CLEANED_UP_BY_THE_SERVER in finalizers:
                self.wait_for(path, http.HTTPStatus.NOT_FOUND)


@pytest.fixture(scope="session")
def namespaced(contract_server: ControlPlane) -> Storing:
    return in_a_namespace(ServerTarget(contract_server))


def in_a_namespace(target: Target) -> Storing:
    storing = Storing(target, "stored-objects")
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "stored-objects"}}
    assert storing.request("POST", "/api/v1/namespaces", namespace)[0] == http.client.CREATED
    return storing


@pytest.fixture
def storing(namespaced: Storing) -> Iterator[Storing]:
    yield namespaced
    namespaced.forget()


@pytest.mark.parametrize(
    "manifest", [pytest.param(each, id=f"{each['kind']}-{each['metadata']['name']}") for each in MANIFESTS]
)
def test_what_the_server_fills_in_is_no_drift_and_stays_if_it_is_sent_again(
    storing: Storing, manifest: Manifest
) -> None:
    live = storing.stored(merge(manifest, None, INSTRUCTIONS).unwrap())

    assert left_by_the_server(with_additions(merge(manifest, live, INSTRUCTIONS).unwrap(), live), live) == ()
    assert application(manifest, live, INSTRUCTIONS) == Success(LeaveObject())
    assert application(manifest, live, OVERWRITING) == Success(LeaveObject())
    assert content(storing.stored_again(manifest)) == content(live)


def test_what_the_in_memory_cluster_stores_is_no_drift_either() -> None:
    in_memory = in_a_namespace(MemoryTarget())
    served = [manifest for manifest in MANIFESTS if in_memory.serves(manifest)]

    for manifest in served:
        live = in_memory.stored(merge(manifest, None, INSTRUCTIONS).unwrap())
        assert application(manifest, live, INSTRUCTIONS) == Success(LeaveObject())

    assert len(served) > 30


@pytest.mark.parametrize(
    ("kind", "name", "added"),
    [
        ("PersistentVolume", "short", {"claimRef": CLAIM}),
        ("PersistentVolume", "stored-claimed", {"claimRef": CLAIM}),
        ("PersistentVolumeClaim", "short", {"storageClassName": "x", "volumeName": "y"}),
        ("Node", "stored-node", {"providerID": "x://y", "podCIDR": "10.0.0.0/24", "podCIDRs": ["10.0.0.0/24"]}),
        ("Node", "stored-node", {"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}]}),
    ],
)
def test_what_controllers_complete_is_no_drift_and_stays_when_a_label_is_repaired(
    storing: Storing, kind: str, name: str, added: Manifest
) -> None:
    manifest = manifest_named(kind, name)
    storing.stored(merge(manifest, None, INSTRUCTIONS).unwrap())

    assert_that_it_stays(storing, manifest, {"spec": added})


TRUSTING = (
    ("APIService", "v1.absent.example.com"),
    ("CustomResourceDefinition", "plains.stored.example.com"),
    ("MutatingWebhookConfiguration", "stored-webhooks"),
    ("ValidatingWebhookConfiguration", "stored-webhooks"),
)


@pytest.fixture
def attributed(namespaced: Storing, contract_server: ControlPlane) -> Iterator[Storing]:
    """The same where the server tells who wrote which field."""
    del namespaced  # which has created the namespace
    storing = Storing(ServerTarget(contract_server, shows_managed_fields=True), "stored-objects")
    yield storing
    storing.forget()


def trusting(manifest: Manifest, server: ControlPlane) -> dict[str, Any]:
    """The members of an object that hold a certificate authority, with one."""
    trust = {"caBundle": base64.b64encode(server.ca_pem.encode()).decode()}
    match manifest["kind"]:
        case "APIService":
            return {"spec": {**manifest["spec"], **trust}}
        case "CustomResourceDefinition":
            conversion = manifest["spec"]["conversion"]
            webhook = conversion["webhook"]
            client = {**webhook["clientConfig"], **trust}
            return {
                "spec": {
                    **manifest["spec"],
                    "conversion": {**conversion, "webhook": {**webhook, "clientConfig": client}},
                }
            }
        case _:
            return {
                "webhooks": [
                    {**each, "clientConfig": {**each["clientConfig"], **trust}} for each in manifest["webhooks"]
                ]
            }


@pytest.mark.parametrize(("kind", "name"), TRUSTING)
def test_a_certificate_authority_that_another_manager_set_is_no_drift_and_stays_when_a_label_is_repaired(
    attributed: Storing, contract_server: ControlPlane, kind: str, name: str
) -> None:
    manifest = manifest_named(kind, name)
    attributed.stored(merge(manifest, None, INSTRUCTIONS).unwrap())

    assert_that_it_stays(attributed, manifest, trusting(manifest, contract_server))


@pytest.mark.parametrize(("kind", "name"), TRUSTING)
def test_a_certificate_authority_that_the_last_manifest_set_goes_with_the_next_one(
    attributed: Storing, contract_server: ControlPlane, kind: str, name: str
) -> None:
    manifest = manifest_named(kind, name)
    live = attributed.stored(merge({**manifest, **trusting(manifest, contract_server)}, None, INSTRUCTIONS).unwrap())
    assert "caBundle" in str(content(live))

    assert isinstance(application(manifest, live, INSTRUCTIONS).unwrap(), UpdateObject)
    assert "caBundle" not in str(content(attributed.stored_again(manifest)))


@pytest.mark.parametrize("name", ["bare", "long"])
def test_a_pod_that_was_bound_and_completed_is_no_drift_and_can_still_be_updated(storing: Storing, name: str) -> None:
    manifest = manifest_named("Pod", name)
    live = storing.stored(merge(manifest, None, INSTRUCTIONS).unwrap())
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": name},
        "target": {"kind": "Node", "name": "n"},
    }
    status, answer = storing.request("POST", f"{storing.path(manifest)}/binding", binding)
    assert status == http.client.CREATED, answer
    assert live["spec"]["tolerations"] != manifest["spec"].get("tolerations")

    assert_that_it_stays(storing, manifest, {"spec": {"tolerations": [*live["spec"]["tolerations"], {"key": "later"}]}})

    newer = {
        **manifest,
        "spec": {**manifest["spec"], "containers": [{**manifest["spec"]["containers"][0], "image": "img:2"}]},
    }
    assert storing.stored_again(newer)["spec"]["containers"][0]["image"] == "img:2"


def assert_that_it_stays(storing: Storing, manifest: Manifest, added: Manifest) -> None:
    """What somebody adds to a live object is left alone, and is there even after the object had to be written."""
    completed = storing.changed(manifest, added)
    assert application(manifest, completed, INSTRUCTIONS) == Success(LeaveObject())

    relabelled = storing.changed(manifest, {"metadata": {"labels": {MANAGED_BY: "somebody"}}})

    assert isinstance(application(manifest, relabelled, INSTRUCTIONS).unwrap(), UpdateObject)
    assert content(storing.stored_again(manifest)) == content(completed)


def test_what_the_schema_of_custom_resources_fills_in_is_no_drift(storing: Storing) -> None:
    definition = definition_in("filled.example.com")
    storing.stored(definition)
    storing.wait_for("/apis/filled.example.com/v1/things")
    rule = custom_resource_rule(definition, "v1")
    bare = {**THING, "metadata": {"name": "bare"}}
    filled = {
        **THING,
        "metadata": {"name": "filled"},
        "spec": {"mode": "", "parts": [{}, {"kind": "flat"}], "named": {"a": {}, "b": {"on": False}}},
    }

    for manifest in (bare, filled):
        live = storing.stored(merge(manifest, None, INSTRUCTIONS).unwrap())
        drifted = {**live, "spec": {**live["spec"], "size": 4}}

        assert application(manifest, live, INSTRUCTIONS, rule=rule) == Success(LeaveObject())
        assert isinstance(application(manifest, live, INSTRUCTIONS).unwrap(), UpdateObject)
        assert isinstance(application(manifest, drifted, INSTRUCTIONS, rule=rule).unwrap(), UpdateObject)


def test_an_empty_member_of_a_custom_resource_is_applied_and_removed_and_then_settled(storing: Storing) -> None:
    definition = definition_in("marked.example.com")
    storing.stored(definition)
    storing.wait_for("/apis/marked.example.com/v1/things")
    rule = custom_resource_rule(definition, "v1")
    bare: Manifest = {"apiVersion": "marked.example.com/v1", "kind": "Thing", "metadata": {"name": "x"}, "spec": {}}
    marked = {**bare, "spec": {"named": {}, "parts": []}}
    live = storing.stored(merge(bare, None, INSTRUCTIONS).unwrap())

    for manifest in (marked, bare):
        assert isinstance(application(manifest, live, INSTRUCTIONS, rule=rule).unwrap(), UpdateObject)
        live = storing.stored_again(manifest)
        assert application(manifest, live, INSTRUCTIONS, rule=rule) == Success(LeaveObject())


def manifest_named(kind: str, name: str) -> Manifest:
    return next(each for each in MANIFESTS if each["kind"] == kind and each["metadata"]["name"] == name)


def definition_in(group: str) -> Manifest:
    """The CustomResourceDefinition among the manifests in another group: deleted ones stay for a while."""
    definition = next(each for each in MANIFESTS if each["kind"] == "CustomResourceDefinition")
    return {
        **definition,
        "metadata": {"name": f"things.{group}"},
        "spec": {**definition["spec"], "group": group},
    }


def content(manifest: Manifest) -> Manifest:
    """What people and controllers say in an object."""
    said = {name: value for name, value in manifest.items() if name not in {"metadata", "status"}}
    return {**said, "labels": manifest["metadata"].get("labels"), "annotations": manifest["metadata"]["annotations"]}
