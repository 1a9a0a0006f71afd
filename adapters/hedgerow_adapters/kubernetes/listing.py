"""Reads whole lists once, without a watch."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from hedgerow.machinery.clusters import Part, visible_parts
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.api_errors import api_error, missing_permission
from hedgerow_adapters.protocol.transport import Request, Transport, TransportError

PATIENCE: Final = 7.0
"""Seconds that one page may take: a person waits for it."""


class ListingError(Exception):
    """A list could not be had; says why as one sentence."""


class UnknownResourceError(ListingError):
    """The server has no such resource."""


class _ExpiredError(ListingError):
    """The server no longer knows the state that the earlier pages showed."""


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
    try:
        return await _pages(transport, resource, part)
    except _ExpiredError:
        return await _pages(transport, resource, part)


async def _pages(transport: Transport, resource: Resource, part: Part) -> list[Manifest]:
    objects: list[Manifest] = []
    continuation = ""
    while True:
        request = requests.list_page(resource, namespace=part.namespace, name=part.name, continuation=continuation)
        body = await _page(transport, request)
        objects += body.get("items") or ()
        continuation = (body.get("metadata") or {}).get("continue") or ""
        if not continuation:
            return objects


async def _page(transport: Transport, request: Request) -> Manifest:
    try:
        response = await transport.send(request, timeout=PATIENCE)
    except TransportError as lost:
        raise ListingError(str(lost)) from lost
    if not response.is_success:
        error = api_error(response)
        kind = _ExpiredError if error.is_expired else UnknownResourceError if error.is_not_found else ListingError
        raise kind(missing_permission(request, error))
    body: Manifest = response.body
    return body
