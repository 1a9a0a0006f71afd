"""Objects that are handed over to the resource manager: the same requests do, whoever takes them."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from returns.result import Success

from hedgerow.api.definition import build_definition
from hedgerow.api.managed_resources import GARBAGE_COLLECTABLE, MANAGED_RESOURCES
from hedgerow.api.resources_v1alpha1 import MANAGED_RESOURCE
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.resource_manager.builder import new_managed_resource
from hedgerow_adapters.builder import (
    create,
    create_for_seed,
    delete,
    exist,
    reconcile,
    reconcile_secret,
    set_keep_objects,
    wait_until_deleted,
    wait_until_healthy,
)
from hedgerow_adapters.kubernetes.connection_files import load_connection
from hedgerow_adapters.kubernetes.http_transport import HttpTransport
from hedgerow_adapters.memory import MemoryTransport
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Response, Transport
from tests.contract.objects import SECRETS, key, names
from tests.contract.targets import MemoryTarget, Send, Target
from tests.contract.webhook_bench import until
from tests.contract.workloads import CRDS

_numbers = itertools.count(1)
BY_ANOTHER = {"metadata": {"labels": {"by": "another"}}}
LISTING = requests.list_page(MANAGED_RESOURCES)


@pytest.fixture(autouse=True)
def defined(send: Send) -> Iterator[None]:
    """ManagedResources are served during a test."""
    definition = build_definition(MANAGED_RESOURCE)
    assert send(requests.create(CRDS, definition)).status == 201
    until(lambda: send(LISTING), lambda answer: answer.is_success)
    yield
    send(requests.delete(CRDS, ObjectKey("", definition["metadata"]["name"])))
    until(lambda: send(LISTING), lambda answer: answer.status == 404)


@pytest.fixture
async def transport(target: Target, request: pytest.FixtureRequest) -> AsyncIterator[Transport]:
    """What producers reach the target by."""
    if isinstance(target, MemoryTarget):
        yield MemoryTransport(target.cluster)
        return
    kubeconfig = request.getfixturevalue("contract_server").kubeconfig()
    async with HttpTransport((await load_connection(kubeconfig)).unwrap()) as entered:
        yield entered


@pytest.fixture
def app(namespace: str) -> ObjectKey:
    """Of a ManagedResource that does not exist yet."""
    return key(namespace, f"app-{next(_numbers)}")


def secrets(send: Send, namespace: str) -> list[str]:
    """The Secrets of a namespace."""
    return names(send(requests.list_page(SECRETS, namespace=namespace)))


def version_of(manifest: Manifest) -> str:
    version: str = manifest["metadata"]["resourceVersion"]
    return version


def soon() -> float:
    """A deadline."""
    return asyncio.get_running_loop().time() + 10


async def test_what_is_handed_over_is_there_changes_and_goes(send: Send, transport: Transport, app: ObjectKey) -> None:
    made = (await create_for_seed(transport, app, {"a.yaml": b"one"}, keep_objects=False)).unwrap()
    again = (await create_for_seed(transport, app, {"a.yaml": b"one"}, keep_objects=False)).unwrap()
    changed = (await create_for_seed(transport, app, {"a.yaml": b"two"}, keep_objects=True)).unwrap()

    assert version_of(made) == version_of(again) != version_of(changed)
    assert send(requests.get(MANAGED_RESOURCES, app)).body["spec"] == changed["spec"]
    former, present = (each["spec"]["secretRefs"][0]["name"] for each in (made, changed))
    assert secrets(send, app.namespace) == sorted((former, present))

    assert await delete(transport, app, with_prefix=True) == Success(None)
    assert await wait_until_deleted(transport, app, deadline=soon()) == Success(None)
    assert secrets(send, app.namespace) == [former]


async def test_secrets_are_brought_to_what_is_wanted_and_marked(
    send: Send, transport: Transport, app: ObjectKey
) -> None:
    wanted = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"namespace": app.namespace, "name": "s1", "labels": {"new": "label"}},
        "data": {"a": "YQ=="},
    }
    existing = {"metadata": {"name": "s1", "labels": {"old": "label"}, "annotations": {"old": "one"}}, "data": {}}
    send(requests.create(SECRETS, existing, app.namespace))

    written = (await reconcile_secret(transport, wanted)).unwrap()
    again = (await reconcile_secret(transport, wanted)).unwrap()
    refers = new_managed_resource(*app, secret_names=["s1"], keepObjects=False)
    made, kept = [(await reconcile(transport, refers)).unwrap() for _ in range(2)]

    assert version_of(written) == version_of(again)
    assert version_of(made) == version_of(kept)
    secret = send(requests.get(SECRETS, key(app.namespace, "s1"))).body
    assert secret["metadata"]["labels"] == {"new": "label", GARBAGE_COLLECTABLE: "true"}
    assert ("annotations" in secret["metadata"], secret["data"]) == (False, {"a": "YQ=="})


async def test_who_is_overtaken_changes_what_the_other_one_wrote(
    send: Send, transport: Transport, app: ObjectKey
) -> None:
    before = new_managed_resource(*app, secret_names=[], labels={"a": "b"})
    overtaken = _Overtaken(transport, lambda: send(requests.merge_patch(MANAGED_RESOURCES, app, BY_ANOTHER)))
    await reconcile(transport, before)

    stored = (await reconcile(overtaken, new_managed_resource(*app, secret_names=[], labels={"c": "d"}))).unwrap()

    assert stored["metadata"]["labels"] == {"a": "b", "c": "d", "by": "another"}


async def test_what_does_not_exist_need_neither_be_kept_nor_deleted(transport: Transport, app: ObjectKey) -> None:
    assert await set_keep_objects(transport, app, keep=True) == Success(None)
    assert await delete(transport, app, with_prefix=True) == Success(None)
    assert (await exist(transport, "seed")).unwrap() is False

    await create(transport, app, {}, spec={"class": "seed"})

    assert await set_keep_objects(transport, app, keep=True) == Success(None)
    assert (await exist(transport, "seed")).unwrap() is True
    assert (await exist(transport, None)).unwrap() is False


async def test_a_report_of_success_ends_the_wait(send: Send, transport: Transport, app: ObjectKey) -> None:
    made = (await create(transport, app, {"a.yaml": b"one"})).unwrap()
    times = dict.fromkeys(("lastTransitionTime", "lastUpdateTime"), "2026-01-01T00:00:00Z")
    conditions = [
        {"type": type_, "status": "True", "reason": "Reason", "message": "", **times}
        for type_ in ("ResourcesApplied", "ResourcesHealthy")
    ]
    status = {"observedGeneration": made["metadata"]["generation"], "conditions": conditions}

    waiting = asyncio.create_task(wait_until_healthy(transport, app, deadline=soon()))
    reported = send(requests.merge_patch(MANAGED_RESOURCES, app, {"status": status}, subresource="status"))

    assert reported.is_success, reported.body
    assert await waiting == Success(None)


class _Overtaken:
    """A transport where somebody else writes just before the first replacement arrives."""

    def __init__(self, transport: Transport, first: Callable[[], object]) -> None:
        self._transport = transport
        self._first: Callable[[], object] | None = first

    async def send(self, request: Request, **options: Any) -> Response:
        if request.method == "PUT" and (first := self._first):
            self._first = None
            await asyncio.to_thread(first)
        return await self._transport.send(request, **options)

    def stream(self, request: Request, *, timeout: float) -> Any:
        return self._transport.stream(request, timeout=timeout)
