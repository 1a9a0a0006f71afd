"""What a real API server makes of manifests is known, so that applying them again writes nothing.

Only against the real server: the in-memory cluster fills in little.
"""

import http.client
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from returns.result import Success

from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.managed_resources.merge.application import (
    LeaveObject,
    UpdateObject,
    application,
    left_by_the_server,
)
from hedgerow.resource_manager.managed_resources.merge.merging import Instructions, merge
from hedgerow.resource_manager.managed_resources.names import MANAGED_BY
from hedgerow.resource_manager.managed_resources.stored.schemas import stored_custom_resource
from tests.contract.targets import PATIENCE
from tests.control_plane import ControlPlane, wait_until

MANIFESTS = list(yaml.safe_load_all(Path(__file__).with_name("stored_manifests.yaml").read_text()))
INSTRUCTIONS = Instructions(origin="default/example", labels={MANAGED_BY: "gardener"})
OVERWRITING = replace(INSTRUCTIONS, overwrite_labels=True, overwrite_annotations=True)
THING = {"apiVersion": "filled.example.com/v1", "kind": "Thing"}


class Storing:
    """Creates objects in a namespace of its own and forgets them at the end."""

    def __init__(self, server: ControlPlane, namespace: str) -> None:
        self._server = server
        self._namespace = namespace
        self._stored: list[str] = []

    @cache  # noqa: B019 -- one instance for the session
    def _resources(self, api_version: str) -> Mapping[str, Mapping[str, Any]]:
        path = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        status, found = self._server.request("GET", path)
        assert status == http.client.OK, found
        return {each["kind"]: each for each in found["resources"] if "/" not in each["name"]}

    def collection(self, manifest: Manifest) -> str:
        """The path of the objects of its kind."""
        api_version = manifest["apiVersion"]
        resource = self._resources(api_version)[manifest["kind"]]
        root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        scope = f"/namespaces/{self._namespace}" if resource["namespaced"] else ""
        return f"{root}{scope}/{resource['name']}"

    def stored(self, manifest: Manifest) -> Manifest:
        """What the server stores when it is sent an object."""
        status, answer = self._server.request("POST", self.collection(manifest), manifest)
        assert status == http.client.CREATED, answer
        path = f"{self.collection(manifest)}/{manifest['metadata']['name']}"
        self._stored.append(path)
        return self._server.request("GET", path)[1]

    def stored_again(self, manifest: Manifest) -> Manifest:
        """What the server stores when a manifest is applied again although nothing has changed."""
        path = f"{self.collection(manifest)}/{manifest['metadata']['name']}"
        answers: list[tuple[int, Manifest]] = []

        def attempt() -> bool:
            """Whether nobody else, such as a controller of the server itself, wrote in between."""
            live = self._server.request("GET", path)[1]
            again = application(manifest, live, INSTRUCTIONS, always_update=True).unwrap()
            assert isinstance(again, UpdateObject)
            answers.append(self._server.request("PUT", path, again.manifest))
            return answers[-1][0] != http.client.CONFLICT

        wait_until(attempt, timeout=PATIENCE, otherwise=lambda: AssertionError(answers[-1]))
        status, answer = answers[-1]
        assert status == http.client.OK, answer
        return answer

    def wait_for(self, path: str) -> None:
        """Until the server serves a path."""
        wait_until(
            lambda: self._server.request("GET", path)[0] == http.client.OK,
            timeout=PATIENCE,
            otherwise=lambda: AssertionError(f"{path} is not served"),
        )

    def forget(self) -> None:
        """Delete all that was stored."""
        while self._stored:
            self._server.request("DELETE", self._stored.pop())


@pytest.fixture(scope="module")
def namespaced(contract_server: ControlPlane) -> Storing:
    name = "stored-objects"
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    assert contract_server.request("POST", "/api/v1/namespaces", namespace)[0] == http.client.CREATED
    return Storing(contract_server, name)


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

    assert left_by_the_server(merge(manifest, live, INSTRUCTIONS).unwrap(), live) == ()
    assert application(manifest, live, INSTRUCTIONS) == Success(LeaveObject())
    assert application(manifest, live, OVERWRITING) == Success(LeaveObject())
    assert content(storing.stored_again(manifest)) == content(live)


def test_what_the_schema_of_custom_resources_fills_in_is_no_drift(storing: Storing) -> None:
    definition = definition_in("filled.example.com")
    storing.stored(definition)
    storing.wait_for("/apis/filled.example.com/v1/things")
    rule = stored_custom_resource(definition, "v1")
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
