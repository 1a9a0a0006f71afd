"""Reads whole lists once, without a watch."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final

from hedgerow.machinery.clusters import Part, visible_parts
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.api_errors import ApiError, api_error, missing_permission
from hedgerow_adapters.protocol.transport import Request, Transport, TransportError

PATIENCE: Final = 7.0
"""Seconds that one page may take: a person waits for it."""


class ListingError(Exception):
    """A list could not be had; says why as one sentence."""


class UnknownResourceError(ListingError):
    """The server has no such resource."""


class ListRefusedError(Exception):
    """The server refused a page of a list."""

    def __init__(self, request: Request, error: ApiError) -> None:
        super().__init__(error.message)
        self.request = request
        self.error = error


async def world_of(
    transport: Transport, controllers: Iterable[Controller[Any]], namespaces: Sequence[str] = ()
) -> dict[Resource, list[Manifest]]:
    """The objects that controllers read, as they are in a cluster now.

    Args:
        transport: leads to the cluster.
        controllers: who reads.
        namespaces: what is read of it; none: all.

    Raises:
        ListingError: the API server cannot be reached, or does not allow it.
    """
    resources = dict.fromkeys(watch.resource for controller in controllers for watch in controller.watches)
    return {
        resource: [
            each for part in visible_parts(resource, namespaces) for each in await objects_of(transport, resource, part)
        ]
        for resource in resources
    }


async def objects_of(transport: Transport, resource: Resource, part: Part) -> list[Manifest]:
    """A whole list; it is begun anew once where it takes longer than the server remembers the state that it shows.

    Args:
        transport: leads to the cluster.
        resource: what is listed.
        part: which objects of it.

    Raises:
        UnknownResourceError: the server has no such resource.
        ListingError: the server cannot be reached, or does not allow it.
    """
    page = partial(requests.list_page, resource, namespace=part.namespace, name=part.name)
    try:
        return await whole_list(transport, page, PATIENCE)
    except TransportError as lost:
        raise ListingError(str(lost)) from lost
    except ListRefusedError as refused:
        kind = UnknownResourceError if refused.error.is_not_found else ListingError
        raise kind(missing_permission(refused.request, refused.error)) from refused


async def whole_list(transport: Transport, page: Callable[..., Request], patience: float) -> list[Manifest]:
    """All pages of a list; begun anew once where the server no longer remembers the state that the first ones show.

    Args:
        transport: leads to the cluster.
        page: the request for the page behind a `continuation`.
        patience: seconds that each page may take.

    Raises:
        ListRefusedError: the server refused a page.
        TransportError: there was no answer.
    """
    try:
        return await _pages(transport, page, patience)
    except ListRefusedError as refused:
        if not refused.error.is_expired:
            raise
    return await _pages(transport, page, patience)


async def _pages(transport: Transport, page: Callable[..., Request], patience: float) -> list[Manifest]:
    objects: list[Manifest] = []
    continuation = ""
    while True:
        request = page(continuation=continuation)
        response = await transport.send(request, timeout=patience)
        if not response.is_success:
            raise ListRefusedError(request, api_error(response))
        body: Manifest = response.body
        objects += body.get("items") or ()
        continuation = (body.get("metadata") or {}).get("continue") or ""
        if not continuation:
            return objects
