"""A live cluster with imagined writes: reads go to the server, writes only change what later reads show.

Guarantees: only GET requests reach the server, and no watch. Each object is read once. Later reads, lists and
watches show the imagined writes. A read without an answer, or without the permission for it, raises: a decision would
take it for the state of the cluster.

Of a server's rules it knows that an object is created once, that what does not exist cannot be changed, that a version
may be outdated, and that finalizers hold what is deleted. What admission would change or refuse it cannot know, so that
nothing answers to dry runs. Asked for a token, it gives one that is none, and is valid for as long as was asked for.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, Resource, is_terminating, key_of, resource_version_of
from hedgerow.machinery.selectors import selected_by
from hedgerow_adapters.kubernetes.live_reads import PAGE_PATIENCE
from hedgerow_adapters.memory import statuses
from hedgerow_adapters.memory.clock import timestamp
from hedgerow_adapters.memory.metadata import patched
from hedgerow_adapters.memory.options import parse_delete_options
from hedgerow_adapters.memory.statuses import RefusedError
from hedgerow_adapters.protocol.responses import missing_permission, status_error
from hedgerow_adapters.protocol.transport import Request, Response, Stream, Transport, TransportError, attributes_of
from hedgerow_adapters.simulation.clusters import Effects, Place, ReadingError, World, Worlds

NO_TOKEN: Final = "a-token-that-nobody-has-made"  # noqa: S105 -- stands for one
_NO_ACCESS: Final = frozenset({401, 403})


class Overlay:
    """The way to such a cluster."""

    is_whole = True

    def __init__(
        self,
        server: Transport,
        now: datetime,
        stored: Callable[[Manifest], Manifest] = lambda manifest: manifest,
    ) -> None:
        """Nothing was read or written yet.

        Everything happens at the time `now`; `stored` makes of an object what a server would hand back.
        """
        self.effects = Effects()
        self.failure: Exception | None = None
        self._server = server
        self._now = now
        self._stored = stored
        self._objects: dict[Place, Manifest | None] = {}
        """The known single objects; none: they do not exist."""
        self._written: dict[Place, Manifest] = {}
        """The last form of each object that was written."""
        self._version = 0
        self._watches: list[Callable[[Place], None]] = []

    async def send(
        self,
        request: Request,
        *,
        timeout: float = PAGE_PATIENCE,  # noqa: ARG002 -- a transport
        may_send: Callable[[], bool] = lambda: True,  # noqa: ARG002 -- as above
    ) -> Response:
        """The server's answer to a question, or what a write would most likely lead to.

        Raises ReadingError if the server does not answer, or one may not ask.
        """
        try:
            match attributes_of(request).verb:
                case "list":
                    return self._with_written(request, await self._ask(request))
                case "get":
                    return await self._get(request)
                case _ if "dryRun" in request.query:
                    return statuses.refused(HTTPStatus.NOT_IMPLEMENTED, "", "nothing answers to dry runs").response
                case _:
                    return await self._write(request, Place.of(request))
        except RefusedError as refused:
            return refused.response

    @asynccontextmanager
    async def stream(self, request: Request, *, timeout: float) -> AsyncIterator[Stream]:  # noqa: ARG002 -- a transport
        """A watch of what is written, from the beginning on."""
        events: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()
        resource = attributes_of(request).resource

        def tell(place: Place) -> None:
            if place.resource == resource:
                kind = "MODIFIED" if self._shows(request, place) else "DELETED"
                events.put_nowait({"type": kind, "object": self._written[place]})

        async def all_events() -> AsyncIterator[Mapping[str, Any]]:
            while True:
                yield await events.get()

        for place in self._written:
            tell(place)
        self._watches.append(tell)
        try:
            yield Stream(HTTPStatus.OK, None, all_events())
        finally:
            self._watches.remove(tell)

    async def _ask(self, request: Request) -> Response:
        try:
            response = await self._server.send(request, timeout=PAGE_PATIENCE)
        except TransportError as lost:
            raise ReadingError(str(lost)) from lost
        if response.status in _NO_ACCESS and request.path.startswith("/api"):
            raise ReadingError(missing_permission(request, status_error(response)))
        if isinstance(response.body, Mapping):
            version = (response.body.get("metadata") or {}).get("resourceVersion") or ""
            self._version = max(self._version, int(version) if version.isdecimal() else 0)
        return response

    async def _get(self, request: Request) -> Response:
        """The answer to a question about one object, or about what the server serves."""
        place = Place.of(request)
        if not place.key.name:
            return await self._ask(request)
        if refusal := await self._look(place, request):
            return refusal
        return Response(HTTPStatus.OK, _existing(place, self._objects[place]))

    async def _look(self, place: Place, request: Request) -> Response | None:
        """Find out what there is, unless that is known; a response says why it is not."""
        if place in self._objects:
            return None
        response = await self._ask(request)
        if not response.is_success and not status_error(response).is_absence_of(place.key.name):
            return response
        self._objects.setdefault(place, response.body if response.is_success else None)
        return None

    async def _write(self, request: Request, place: Place) -> Response:
        subresource = attributes_of(request).resource.partition("/")[2]
        if place not in self._objects and place.resource in self.effects.kept:
            self._objects[place] = self.effects.kept[place.resource](place.key)
        path = request.path.removesuffix(f"/{subresource}")
        if request.method == "POST" and not subresource:
            path = f"{path}/{place.key.name}"
        try:
            refusal = await self._look(place, Request("GET", path))
        except ReadingError as failure:
            self.failure = failure
            raise
        if refusal is not None:
            return refusal
        live = self._objects[place]
        if request.method == "POST" and subresource:
            _existing(place, live)
            life = timedelta(seconds=(request.body.get("spec") or {}).get("expirationSeconds") or 0)
            token = {"token": NO_TOKEN, "expirationTimestamp": timestamp(self._now + life)}
            return Response(HTTPStatus.CREATED, {**request.body, "status": token})
        self._require_version(request, place, live)
        new, is_there = self._imagined(request, place, live)
        is_change = new != live or not is_there
        if is_change:
            self._version += 1
            new = {**new, "metadata": {**new["metadata"], "resourceVersion": str(self._version)}}
            self._written[place], self._objects[place] = new, new if is_there else None
        is_gone = request.method == "DELETE" and not is_there
        answer = Response(HTTPStatus.OK, statuses.deleted(*_named(place), "") if is_gone else new)
        self.effects.note(request, live, answer)
        if is_change:
            for tell in self._watches:
                tell(place)
        return answer

    def _imagined(self, request: Request, place: Place, live: Manifest | None) -> tuple[Manifest, bool]:
        """The object as a write would make it, and whether it would still be there."""
        if request.method == "POST":
            if live is not None:
                raise statuses.already_exists(*_named(place), deleting=is_terminating(live))
            given = {"uid": str(UUID(int=self._version)), "creationTimestamp": timestamp(self._now)}
            new = self._stored(request.body)
            return {**new, "metadata": {**new["metadata"], **given}}, True
        existing = _existing(place, live)
        finalizers = existing["metadata"].get("finalizers")
        match request.method:
            case "DELETE":
                mark = {"deletionTimestamp": timestamp(self._now)}
                return {**existing, "metadata": {**mark, **existing["metadata"]}}, bool(finalizers)
            case "PUT":
                new = self._stored(request.body)
            case _:
                new = patched(existing, request.body, request.content_type)
        metadata = {**new["metadata"]}
        if "resourceVersion" in existing["metadata"]:
            metadata["resourceVersion"] = existing["metadata"]["resourceVersion"]
        new = {**new, "metadata": metadata}
        return new, not is_terminating(new) or bool(metadata.get("finalizers"))

    def _require_version(self, request: Request, place: Place, live: Manifest | None) -> None:
        """Refuse a write that was made for a version before one that was written here."""
        if request.method == "DELETE":
            given = parse_delete_options(request.body, request.query).resource_version
        else:
            metadata = request.body.get("metadata") if isinstance(request.body, Mapping) else None
            given = (metadata or {}).get("resourceVersion")
        if live is not None and place in self._written and given not in (None, resource_version_of(live)):
            raise statuses.conflict(*_named(place))

    def _with_written(self, request: Request, response: Response) -> Response:
        """A page of a list with what was written, which the last page holds."""
        if not response.is_success or not self._written:
            return response
        resource = attributes_of(request).resource
        items = [each for each in response.body["items"] if Place(resource, key_of(each)) not in self._written]
        if not response.body["metadata"].get("continue"):
            items += (self._written[place] for place in self._written if self._shows(request, place))
        return replace(response, body={**response.body, "items": items})

    def _shows(self, request: Request, place: Place) -> bool:
        """True if an object that was written belongs to a list or watch."""
        asked = attributes_of(request)
        is_selected = selected_by(request.query.get("labelSelector", ""), request.query.get("fieldSelector", ""))
        is_in_place = place.resource == asked.resource and asked.namespace in ("", place.key.namespace)
        return is_in_place and self._objects[place] is not None and is_selected(self._written[place])


def imagined(
    transports: Mapping[Cluster, Transport],
    now: datetime,
    *,
    namespaces: Mapping[Cluster, Sequence[str]] = MappingProxyType({}),
    stored: Callable[[Manifest], Manifest] = lambda manifest: manifest,
) -> Worlds:
    """Clusters to which nothing is written, as `Overlay` has it; one transport where one cluster plays both roles.

    Of each, only the `namespaces` are visible; none: all.
    """
    overlays = {transport: Overlay(transport, now, stored) for transport in transports.values()}
    return {role: World(overlays[transport], tuple(namespaces.get(role, ()))) for role, transport in transports.items()}


def _named(place: Place) -> tuple[Resource, str]:
    """The object as a Status names it."""
    plural, _, group = place.resource.partition(".")
    return Resource(group, "", plural, plural), place.key.name


def _existing(place: Place, manifest: Manifest | None) -> Manifest:
    if manifest is None:
        raise statuses.not_found(*_named(place))
    return manifest
