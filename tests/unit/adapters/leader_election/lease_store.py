"""An API server that stores Leases and nothing else, and connections to it that fail as they are told to."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from enum import Enum, auto
from itertools import chain, repeat
from typing import Any

from hedgerow_adapters.protocol.transport import Request, Response, Stream, TransportError

LATENCY = 0.05


class LeaseStore:
    """Optimistic locking over one namespace of Leases."""

    def __init__(self, lease: dict[str, Any] | None = None, version: int = 0) -> None:
        """A store that holds one Lease or none, and has seen so many writes."""
        self.leases: dict[str, dict[str, Any]] = {lease["metadata"]["name"]: lease} if lease else {}
        self.version = version

    def handle(self, request: Request) -> Response:
        name = request.body["metadata"]["name"] if request.body else request.path.rsplit("/", 1)[-1]
        stored = self.leases.get(name)
        if request.method == "GET":
            return Response(200, stored) if stored else _not_found(name)
        if request.method == "PUT" and stored is None:
            return _not_found(name)
        if request.method == "POST" and stored is not None:
            return Response(409, {})
        if stored and stored["metadata"]["resourceVersion"] != request.body["metadata"].get("resourceVersion"):
            return Response(409, {})
        self.version += 1
        metadata = {**request.body["metadata"], "resourceVersion": str(self.version)}
        self.leases[name] = {**request.body, "metadata": metadata}
        return Response(201 if stored is None else 200, self.leases[name])


def _not_found(name: str) -> Response:
    message = f'leases "{name}" not found'
    return Response(404, {"kind": "Status", "reason": "NotFound", "message": message, "details": {"name": name}})


class Fate(Enum):
    """What becomes of a request."""

    ANSWERED = auto()
    REQUEST_LOST = auto()
    ANSWER_LOST = auto()
    STORED_LATE = auto()
    """Stored only after its sender gave up."""
    CONFLICT = auto()
    UNAVAILABLE = auto()
    FORBIDDEN = auto()


class Connection:
    """A transport of one client whose clock may run at a rate of its own."""

    def __init__(self, store: LeaseStore, fates: Iterable[Fate] = (), *, rate: float = 1.0) -> None:
        self.sent: list[Request] = []
        self.cut = False
        """Whether requests get lost from now on."""
        self._store = store
        self._fates: Iterator[Fate] = chain(fates, repeat(Fate.ANSWERED))
        self._rate = rate
        self._late: set[asyncio.Task[None]] = set()

    async def send(
        self,
        request: Request,
        *,
        timeout: float = 30.0,
        may_send: Callable[[], bool] = lambda: True,  # noqa: ARG002 -- the port's signature
    ) -> Response:
        self.sent.append(request)
        patience = timeout / self._rate
        fate = Fate.REQUEST_LOST if self.cut else next(self._fates)
        if fate is Fate.STORED_LATE:
            self._late.add(asyncio.create_task(self._store_late(request, patience + 1)))
        if fate in {Fate.REQUEST_LOST, Fate.STORED_LATE}:
            raise await self._silence(patience)
        await asyncio.sleep(min(LATENCY, patience))
        match fate:
            case Fate.CONFLICT:
                return Response(409, {})
            case Fate.UNAVAILABLE:
                return Response(503, {"message": "etcd has no leader"})
            case Fate.FORBIDDEN:
                return Response(403, {"message": 'leases "hedgerow" is forbidden'})
        response = self._store.handle(request)
        if fate is Fate.ANSWER_LOST:
            raise await self._silence(patience - LATENCY)
        await asyncio.sleep(LATENCY)
        return response

    def stream(self, request: Request, *, timeout: float) -> AbstractAsyncContextManager[Stream]:
        raise NotImplementedError

    async def _store_late(self, request: Request, delay: float) -> None:
        await asyncio.sleep(delay)
        self._store.handle(request)

    @staticmethod
    async def _silence(seconds: float) -> TransportError:
        await asyncio.sleep(max(0, seconds))
        return TransportError("no answer")
