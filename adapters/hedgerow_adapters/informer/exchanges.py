"""Sends the requests of one list-and-watch, reads the answers, and compares an open watch with its server.

Knows neither what was asked before nor what an answer leads to.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from http import HTTPStatus
from typing import Any, Final

from hedgerow.machinery.clusters import ReadScope
from hedgerow.machinery.controller import Read
from hedgerow.machinery.objects import Manifest, key_of, resource_version_of
from hedgerow_adapters.informer.machine import Page, ProtocolError, WatchEvent, is_before
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.documents import NO_LIST, ListPage, list_page
from hedgerow_adapters.protocol.responses import StatusError, missing_permission, status_error
from hedgerow_adapters.protocol.transport import Request, Response, Transport, TransportError
from hedgerow_adapters.slices import slices

PAGE_SIZE: Final = 500
LONGEST_SILENCE: Final = 30.0
"""Seconds without a byte after which a list is given up."""
FROM_THE_FUTURE: Final = "ResourceVersionTooLarge"
COMPARED_EVERY: Final = 60.0
"""Seconds after which an open watch is compared with the server, at least; a random share of a tenth is added."""


class Refused(Exception):  # noqa: N818 -- an answer of the server, not an error of ours
    """The server refused; says why, or which permission is missing."""

    def __init__(self, request: Request, error: StatusError) -> None:
        super().__init__(missing_permission(request, error) if error.is_forbidden else error.message)
        self.error = error

    @property
    def is_final(self) -> bool:
        """True if the server will refuse the same question again, however often it is asked.

        The version or token is too old, or was never valid, or is one of a past that was restored from a backup.
        """
        error = self.error
        return error.is_expired or error.status == HTTPStatus.BAD_REQUEST or FROM_THE_FUTURE in error.causes

    @property
    def cause(self) -> str:
        """The cause that observers are told."""
        if self.error.is_expired:
            return "expired"
        return "forbidden" if self.error.is_forbidden else "refused"


class UnreadableObjectError(Exception):
    """An object has not the shape that its watch relies on."""


class RestoredError(Exception):
    """The server's storage is older than what it has delivered: it was restored from a backup."""


class Exchanges:
    """The requests of one list-and-watch.

    Every method raises `Refused` where the server refuses, and TransportError where it does not answer.
    """

    def __init__(self, transport: Transport, read: Read, scope: ReadScope) -> None:
        self._transport = transport
        self._read = read
        self._scope = scope
        self._selection: dict[str, Any] = {
            "namespace": scope.namespace,
            "name": scope.name,
            "selector": read.label_selector,
            "field_selector": read.field_selector,
            "metadata_only": read.metadata_only,
        }

    async def page(self, continuation: str, *, whole: bool) -> Page:
        """The page of a list after the `continuation`, or its first; the `whole` list if wanted; read in slices.

        Raises ProtocolError if the answer is no list, UnreadableObjectError if one of the objects is malformed.
        """
        limit = requests.WHOLE if whole else PAGE_SIZE
        request = requests.list_page(self._read.resource, **self._selection, limit=limit, continuation=continuation)
        shown = await self._listed(request, timeout=LONGEST_SILENCE)
        if shown is None:
            raise ProtocolError(NO_LIST)
        kept: list[Manifest] = []
        for items in slices(shown.items):
            kept += map(self._transformed, items)
            await asyncio.sleep(0)
        return Page(tuple(kept), shown.continuation, shown.resource_version)

    async def _listed(self, request: Request, timeout: float = 30.0) -> ListPage | None:
        response = await self._transport.send(request, timeout=timeout)
        if not response.is_success:
            raise Refused(request, status_error(response))
        return list_page(response.body)

    def _transformed(self, manifest: Any) -> Manifest:
        try:
            return self._read.transform(manifest)
        except Exception as problem:
            has_metadata = isinstance(manifest, Mapping) and isinstance(manifest.get("metadata"), Mapping)
            name = f" {key_of(manifest)}" if has_metadata else ""
            message = f"{self._read.resource.kind}{name} cannot be read: {type(problem).__name__}: {problem}"
            raise UnreadableObjectError(message) from problem

    async def compare(self, version: str) -> None:
        """Ask the server for its current version, by a consistent read: a list of one object without a version.

        Raises RestoredError if it is before `version`. Resources may be in different storages: each is compared.
        """
        request = requests.list_page(
            self._read.resource, namespace=self._scope.namespace, name=self._scope.name, limit=1, metadata_only=True
        )
        shown = await self._listed(request)
        if shown is not None and is_before(shown.resource_version, version):
            current = f"the server is at version {shown.resource_version}"
            raise RestoredError(f"{current}, which is before version {version} that it has delivered")

    @asynccontextmanager
    async def watch(self, version: str, *, seconds: float, patience: float) -> AsyncIterator[AsyncIterator[WatchEvent]]:
        """Open a watch from a version on; its events raise `ProtocolError` and `UnreadableObjectError`.

        The server ends it after so many `seconds`, if they are finite; after `patience` the connection is given up.
        """
        request = requests.watch(
            self._read.resource,
            resource_version=version,
            timeout_seconds=int(seconds) if math.isfinite(seconds) else None,
            **self._selection,
        )
        async with self._transport.stream(request, timeout=patience) as stream:
            if stream.status != HTTPStatus.OK:
                raise Refused(request, status_error(Response(stream.status, stream.body, stream.headers)))
            async with aclosing(self._event(request, event) async for event in stream.events) as events:
                yield events

    def _event(self, request: Request, event: Mapping[str, Any]) -> WatchEvent:
        kind, body = event.get("type"), event.get("object")
        if not isinstance(kind, str) or not isinstance(body, Mapping):
            raise ProtocolError("a watch event without type and object")
        if kind == "ERROR":
            raise Refused(request, status_error(Response(HTTPStatus.INTERNAL_SERVER_ERROR, body)))
        return WatchEvent(kind, body if kind == "BOOKMARK" else self._transformed(body), resource_version_of(body))


@asynccontextmanager
async def compared(
    exchanges: Exchanges, version: Callable[[], str | None], random: Callable[[], float]
) -> AsyncIterator[None]:
    """A context in which a watch is consumed; raises RestoredError if the server is before what that has delivered.

    `version` is what it has delivered; none: nothing to compare.
    """
    consumer = asyncio.timeout(None)
    comparing = asyncio.create_task(_compare(exchanges, version, random, consumer))
    try:
        async with consumer:
            yield
    except TimeoutError:
        if not consumer.expired():
            raise
        raise comparing.result() from None
    finally:
        comparing.cancel()
        await asyncio.wait({comparing})


async def _compare(
    exchanges: Exchanges, version: Callable[[], str | None], random: Callable[[], float], consumer: asyncio.Timeout
) -> Exception:
    """End the consumer once the server turns out to have been restored; why."""
    while True:
        await asyncio.sleep(COMPARED_EVERY * (1.0 + 0.1 * random()))
        try:
            if (delivered := version()) is not None:
                await exchanges.compare(delivered)
        except (Refused, TransportError):
            continue  # the watch itself tells of an outage
        except Exception as problem:  # noqa: BLE001 -- raised by the consumer
            consumer.reschedule(asyncio.get_running_loop().time())
            return problem
