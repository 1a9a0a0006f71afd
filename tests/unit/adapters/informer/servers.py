"""API servers for informers: one that follows a script, and a wire that remembers what went over it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hedgerow.machinery.clusters import ReadScope
from hedgerow.machinery.controller import Watch
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow_adapters.informer.informer import Informer, Watched
from hedgerow_adapters.informer.machine import Delivery, Gather, Put, Remove, Replace
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Request, Response, Stream, Transport, TransportError
from tests.comparisons import is_comparison

T = TypeVar("T")

CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
FOREVER = float("inf")


def kept(config_map: Manifest) -> Manifest:
    """What the tests' watch keeps of a ConfigMap: identity and data, which has to be there."""
    metadata = {name: config_map["metadata"][name] for name in ("namespace", "name", "resourceVersion")}
    return {"metadata": metadata, "data": config_map["data"]}


WATCH = Watch(CONFIG_MAPS, transform=kept, enqueue=lambda manifest, _snapshot: (key_of(manifest),))


def config_map(name: str, version: int = 1, *, namespace: str = "default", **data: str) -> dict[str, Any]:
    """A ConfigMap as a server sends it."""
    return {"metadata": {"name": name, "namespace": namespace, "resourceVersion": str(version)}, "data": data}


def listed(*items: Manifest, version: int = 10, continuation: str = "") -> Response:
    """The answer to a list."""
    return Response(200, {"metadata": {"resourceVersion": str(version), "continue": continuation}, "items": items})


def refusal(code: int, reason: str = "", message: str = "no", **details: Any) -> Response:
    """A Status that refuses."""
    body = {"kind": "Status", "code": code, "reason": reason, "message": message, "details": details}
    return Response(code, body)


GONE = refusal(410, "Expired", "too old resource version: 10 (12)")


@dataclass
class Flow:
    """What comes over an open watch: events at once, then nothing for a while, then its end."""

    events: Sequence[Any] = ()
    lasts: float = FOREVER
    ends_with: Exception | None = None


class Script:
    """A server that answers lists and watches in turn with what it was given, the last again and again."""

    def __init__(
        self,
        lists: Sequence[Response | Exception],
        watches: Sequence[Flow | Response | Exception],
        *,
        opening: float = 0.0,
    ) -> None:
        """`opening` seconds go by before a watch is answered."""
        self.version = 10**9
        """What the server says its version is, beyond all that it was given."""
        self._opening = opening
        self._lists = _last_again_and_again(lists)
        self._watches = _last_again_and_again(watches)

    async def send(
        self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
    ) -> Response:
        del timeout, may_send  # a script does not look
        await asyncio.sleep(0)
        if is_comparison(request.query):
            return listed(version=self.version)
        answer = next(self._lists)
        if isinstance(answer, Exception):
            raise answer
        return answer

    @asynccontextmanager
    async def stream(self, request: Request, *, timeout: float) -> AsyncIterator[Stream]:
        del request
        await asyncio.sleep(self._opening)
        answer = next(self._watches)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Response):
            yield Stream(answer.status, answer.body, _events(Flow(lasts=0), timeout))
        else:
            yield Stream(200, None, _events(answer, timeout))


def _last_again_and_again(answers: Sequence[T]) -> Iterator[T]:
    yield from answers
    while True:
        yield answers[-1]


async def _events(flow: Flow, timeout: float) -> AsyncIterator[Mapping[str, Any]]:
    for event in flow.events:
        yield event
    await asyncio.sleep(min(flow.lasts, timeout))
    if flow.lasts > timeout:
        raise TransportError(f"silent for {timeout:g} s")
    if flow.ends_with is not None:
        raise flow.ends_with


@dataclass
class Asked:
    """A request, when it was sent, and for how long an answer is waited for."""

    at: float
    request: Request
    timeout: float

    @property
    def is_watch(self) -> bool:
        return "watch" in self.request.query

    @property
    def begins_a_list(self) -> bool:
        return not self.is_watch and "continue" not in self.request.query

    @property
    def version(self) -> str:
        return self.request.query.get("resourceVersion", "")


@dataclass
class Wire:
    """Passes requests on and remembers them; `latency` seconds go by before each is answered."""

    server: Transport
    latency: float = 0.0
    asked: list[Asked] = field(default_factory=list)
    compared: list[Asked] = field(default_factory=list)
    """The requests for the server's version alone."""

    async def send(
        self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
    ) -> Response:
        self._note(request, timeout)
        await asyncio.sleep(self.latency)
        return await self.server.send(request, timeout=timeout, may_send=may_send)

    def stream(self, request: Request, *, timeout: float) -> AbstractAsyncContextManager[Stream]:
        self._note(request, timeout)
        return self.server.stream(request, timeout=timeout)

    def _note(self, request: Request, timeout: float) -> None:
        asked = Asked(asyncio.get_running_loop().time(), request, timeout)
        (self.compared if is_comparison(request.query) else self.asked).append(asked)

    @property
    def lists(self) -> list[Asked]:
        return [asked for asked in self.asked if asked.begins_a_list]

    @property
    def watches(self) -> list[Asked]:
        return [asked for asked in self.asked if asked.is_watch]


class Listener:
    """Holds what an informer delivers as a cache would, and everything that it reports."""

    def __init__(self) -> None:
        self.deliveries: list[Delivery] = []
        self.told: list[tuple[float, str, str]] = []
        self.resumed_at: list[float] = []
        self._objects: dict[ObjectKey, Manifest] = {}
        self._gathered: list[Manifest] = []

    async def deliver(self, delivery: Delivery) -> None:
        self.deliveries.append(delivery)
        match delivery:
            case Gather(objects, is_first):
                self._gathered = [*([] if is_first else self._gathered), *objects]
            case Replace(objects, is_first):
                found = [*([] if is_first else self._gathered), *objects]
                self._objects = {key_of(manifest): manifest for manifest in found}
            case Put(manifest):
                self._objects[key_of(manifest)] = manifest
            case Remove(manifest):
                del self._objects[key_of(manifest)]

    def interrupted(self, watched: Watched, cause: str, problem: Exception | None) -> None:
        assert watched.resource == CONFIG_MAPS
        self.told.append((asyncio.get_running_loop().time(), cause, str(problem or "")))

    def resumed(self, watched: Watched) -> None:
        assert watched.resource == CONFIG_MAPS
        self.resumed_at.append(asyncio.get_running_loop().time())

    @property
    def names(self) -> list[str]:
        return sorted(key.name for key in self._objects)

    @property
    def replacements(self) -> int:
        """How many lists have come to their end."""
        return sum(isinstance(delivery, Replace) for delivery in self.deliveries)

    @property
    def causes(self) -> list[str]:
        return [cause for _, cause, _ in self.told]


async def lacking() -> bool:
    """Discovery lacks what it is asked for."""
    return True


def informer_of(
    transport: Transport,
    listener: Listener,
    *,
    deliver: Callable[[Delivery], Awaitable[None]] | None = None,
    jitter: float = 0.0,
    namespace: str = "",
    watch: Watch = WATCH,
    is_absent: Callable[[], Awaitable[bool]] = lacking,
    is_lossless: bool = False,
) -> Informer:
    """An informer of ConfigMaps; `jitter` is what its random numbers are."""
    return Informer(
        transport,
        watch,
        deliver or listener.deliver,
        observer=listener,
        random=lambda: jitter,
        scope=ReadScope(namespace=namespace),
        is_absent=is_absent,
        is_lossless=is_lossless,
    )


def create_all(cluster: InMemoryCluster, names: Iterable[str], namespace: str = "default") -> None:
    """Create ConfigMaps."""
    for name in names:
        manifest = {"metadata": {"name": name}, "data": {"of": name}}
        assert cluster.handle(requests.create(CONFIG_MAPS, manifest, namespace)).status == 201


def delete(cluster: InMemoryCluster, name: str) -> None:
    """Delete a ConfigMap."""
    assert cluster.handle(requests.delete(CONFIG_MAPS, ObjectKey("default", name))).is_success


@asynccontextmanager
async def running(informer: Informer) -> AsyncIterator["asyncio.Task[None]"]:
    """The informer at work; afterwards nothing of it is left."""
    task = asyncio.create_task(informer.run())
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled(), task
        assert asyncio.all_tasks() == {asyncio.current_task()}
