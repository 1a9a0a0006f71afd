"""Which kinds a server says that it serves."""

from collections.abc import Mapping
from typing import Any

import pytest

from hedgerow.machinery.objects import Resource
from hedgerow_adapters.memory import DEFAULT_RESOURCES
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request
from tests.contract.targets import Send
from tests.contract.test_custom_resources import define
from tests.contract.webhook_bench import until
from tests.contract.workloads import CRDS

_VERBS = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
_CHANGING = {"get", "patch", "update"}


def get(path: str) -> Request:
    return Request("GET", path)


def entries(send: Send, api_version: str) -> dict[str, Mapping[str, Any]]:
    """The entries of a group and version by their names."""
    answer = send(requests.resources_of(api_version))
    assert answer.status == 200, answer.body
    assert (answer.body["kind"], answer.body["groupVersion"]) == ("APIResourceList", api_version)
    return {entry["name"]: entry for entry in answer.body["resources"]}


@pytest.mark.parametrize("kind", DEFAULT_RESOURCES, ids=lambda kind: f"{kind.resource}/{kind.resource.version}")
def test_each_kind_is_listed_with_its_scope_its_verbs_and_its_subresources(send: Send, kind: Any) -> None:
    resource = kind.resource

    listed = entries(send, resource.api_version)

    entry = listed[resource.plural]
    expected = _VERBS if kind.deletable_as_collection else _VERBS - {"deletecollection"}
    assert (entry["kind"], entry["namespaced"], set(entry["verbs"])) == (resource.kind, resource.namespaced, expected)
    assert entry["singularName"] == resource.kind.lower()
    for subresource, has in (("status", kind.has_status), ("scale", kind.has_scale)):
        beneath = listed.get(f"{resource.plural}/{subresource}")
        assert (set(beneath["verbs"]) if beneath else None) == (_CHANGING if has else None)


def test_the_subresources_of_a_namespace_and_of_a_deployment_are_kinds_of_their_own(send: Send) -> None:
    finalize = entries(send, "v1")["namespaces/finalize"]
    scale = entries(send, "apps/v1")["deployments/scale"]

    assert (finalize["kind"], finalize["verbs"]) == ("Namespace", ["update"])
    assert (scale["group"], scale["version"], scale["kind"]) == ("autoscaling", "v1", "Scale")


def test_groups_and_their_versions_are_told(send: Send) -> None:
    core = send(get("/api")).body
    groups = send(get("/apis")).body
    apps = send(get("/apis/apps")).body

    version = {"groupVersion": "apps/v1", "version": "v1"}
    described = {"name": "apps", "versions": [version], "preferredVersion": version}
    assert (core["kind"], core["versions"]) == ("APIVersions", ["v1"])
    assert (groups["kind"], [group for group in groups["groups"] if group["name"] == "apps"]) == (
        "APIGroupList",
        [described],
    )
    assert apps == {"kind": "APIGroup", "apiVersion": "v1", **described}


def test_a_version_is_not_found_in_a_group_that_is_known_and_the_group_is_unheard_of_otherwise(send: Send) -> None:
    answers = [send(get(path)) for path in ("/apis/apps/v9", "/api/v2", "/apis/nobody.example.com", "/apis/x.dev/v1")]

    assert [answer.status for answer in answers] == [404] * 4
    bodies = [answer.body["message"] if isinstance(answer.body, dict) else answer.body for answer in answers]
    assert bodies == ["the server could not find the requested resource"] * 2 + ["404 page not found\n"] * 2


def test_what_a_server_serves_is_only_read(send: Send) -> None:
    assert [send(Request("POST", path, body={})).status for path in ("/api/v1", "/apis/apps/v1")] == [405, 405]


@pytest.mark.parametrize("scope", ["Namespaced", "Cluster"])
def test_what_is_defined_is_listed_until_the_definition_is_deleted(send: Send, scope: str) -> None:
    is_namespaced = scope == "Namespaced"
    gadgets = Resource(f"{scope.lower()}.discovery.dev", "v1", "gadgets", "Gadget", namespaced=is_namespaced)
    discovery = requests.resources_of(gadgets.api_version)
    before = send(discovery)
    where = define(send, gadgets, versions=("v1beta1",))

    until(lambda: send(discovery), lambda answer: answer.is_success)
    for api_version in (gadgets.api_version, f"{gadgets.group}/v1beta1"):
        listed = entries(send, api_version)
        assert (listed["gadgets"]["kind"], listed["gadgets"]["namespaced"]) == ("Gadget", is_namespaced)
        assert set(listed["gadgets"]["verbs"]) == _VERBS
        assert set(listed) == {"gadgets", "gadgets/status"}
    send(requests.delete(CRDS, where))

    until(lambda: send(discovery), lambda answer: answer.status == 404)
    assert before.status == 404
