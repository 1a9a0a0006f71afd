"""By what a server says that an object, or a resource, does not exist."""

import asyncio

import pytest

from hedgerow.machinery.clusters import KUBE_SYSTEM
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow_adapters.kubernetes.live_reads import is_unserved
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.documents import lacks_version
from hedgerow_adapters.protocol.responses import status_error
from hedgerow_adapters.protocol.transport import Request, Response
from hedgerow_adapters.runtime.clusters import uid_in
from tests.contract.targets import MemoryTarget, Send, Target
from tests.contract.test_custom_resources import define
from tests.contract.webhook_bench import until
from tests.in_memory import lost_group

CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
UNSERVED = Resource("gone.example.com", "v1", "gadgets", "Gadget")
UNKNOWN = Resource("apps", "v1", "gadgets", "Gadget")
AWAY = Resource("away.example.com", "v1", "gadgets", "Gadget")
API_SERVICES = Resource("apiregistration.k8s.io", "v1", "apiservices", "APIService", namespaced=False)
KEY = ObjectKey("default", "nobody")


class Way:
    """A transport to a server of the contract."""

    def __init__(self, send: Send) -> None:
        self._send = send

    async def send(self, request: Request, **_limits: object) -> Response:
        return self._send(request)


@pytest.mark.parametrize(
    "request_of",
    [
        requests.get(CONFIG_MAPS, KEY),
        requests.get(CONFIG_MAPS, ObjectKey("no-such-namespace", "nobody")),
        requests.delete(CONFIG_MAPS, KEY),
        requests.merge_patch(CONFIG_MAPS, KEY, {"data": {"a": "b"}}),
        requests.get(NAMESPACES, ObjectKey("", "nobody")),
    ],
    ids=["get", "get in no namespace", "delete", "patch", "get a namespace"],
)
def test_a_server_names_the_object_that_does_not_exist(send: Send, request_of: Request) -> None:
    error = status_error(send(request_of))

    assert error.is_absence_of("nobody")
    assert not error.is_unproven_absence


def test_a_creation_in_no_namespace_names_the_namespace(send: Send) -> None:
    manifest = {"metadata": {"name": "nobody", "namespace": "no-such-namespace"}}

    error = status_error(send(requests.create(CONFIG_MAPS, manifest, "no-such-namespace")))

    assert error.is_absence_of("no-such-namespace")
    assert not error.is_absence_of("nobody")


@pytest.mark.parametrize("resource", [UNSERVED, UNKNOWN], ids=["no group", "no resource"])
def test_what_is_not_served_is_named_by_no_answer_and_lacking_in_discovery(send: Send, resource: Resource) -> None:
    for request in (requests.list_page(resource), requests.get(resource, KEY)):
        assert status_error(send(request)).is_unproven_absence

    assert asyncio.run(is_unserved(Way(send), resource))  # type: ignore[arg-type]  # it need not stream
    assert not asyncio.run(is_unserved(Way(send), CONFIG_MAPS))  # type: ignore[arg-type]  # as above


def test_a_cluster_is_known_by_its_namespace_kube_system(send: Send) -> None:
    uid = uid_in(send(requests.get(NAMESPACES, KUBE_SYSTEM)))

    assert uid
    assert uid == uid_in(send(requests.get(NAMESPACES, KUBE_SYSTEM)))


def lose(target: Target, resource: Resource) -> None:
    """The server serves a group by another server, which is away."""
    if isinstance(target, MemoryTarget):
        define(target.send, resource)
        target.cluster.faults.append(lost_group(resource.group))
        return
    spec = {
        "group": resource.group,
        "version": resource.version,
        "groupPriorityMinimum": 1000,
        "versionPriority": 10,
        "insecureSkipTLSVerify": True,
        "service": {"namespace": "default", "name": "away"},
    }
    service = {"metadata": {"name": f"{resource.version}.{resource.group}"}, "spec": spec}
    assert target.send(requests.create(API_SERVICES, service)).is_success


def test_the_group_of_a_server_that_is_away_stays_listed_and_lacks_nothing(target: Target) -> None:
    lose(target, AWAY)
    try:
        until(lambda: target.send(requests.resources_of(AWAY.api_version)), lambda answer: answer.status == 503)
        groups = target.send(requests.groups())

        assert not lacks_version(groups.body, AWAY.api_version)
        assert lacks_version(groups.body, UNSERVED.api_version)
        assert not asyncio.run(is_unserved(Way(target.send), AWAY))  # type: ignore[arg-type]  # it need not stream
    finally:
        target.send(requests.delete(API_SERVICES, ObjectKey("", f"{AWAY.version}.{AWAY.group}")))
