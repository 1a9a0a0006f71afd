"""Reads an API server once, without a watch or a memory: whole lists, which kinds it serves, its version.

Source: Kubernetes documentation, "The Kubernetes API", discovery; decision "absence".
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, TypeVar

from hedgerow.machinery.clusters import ReadScope
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow.machinery.questions import NotAnswered
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.documents import NO_LIST, Served, lacks_version, list_page, served
from hedgerow_adapters.protocol.responses import StatusError, missing_permission, not_answered, status_error
from hedgerow_adapters.protocol.transport import Request, Transport, TransportError

PATIENCE: Final = 10.0
"""Seconds for one request."""
_NO_ANSWER: Final = 500


async def look(transport: Transport, api_version: str) -> Served | NotAnswered:
    """What the server serves of a group and version.

    A 404 in place of the document is no knowledge: then the list of all groups tells whether there is such a version.
    """
    try:
        response = await transport.send(requests.resources_of(api_version), timeout=PATIENCE)
        if response.is_success:
            return served(api_version, response.body)
        error = status_error(response)
        if error.is_unproven_absence:
            groups = await transport.send(requests.groups(), timeout=PATIENCE)
            if groups.is_success and lacks_version(groups.body, api_version):
                return Served({}, frozenset())
    except TransportError as lost:
        return NotAnswered(_NO_ANSWER, "", str(lost))
    return not_answered(error)


async def lacks(transport: Transport, resource: Resource) -> bool:
    """True if a discovery document of the server lacks a resource; asked after a 404 that names no object."""
    looked = await look(transport, resource.api_version)
    return isinstance(looked, Served) and looked.resources.get(resource.kind) != resource


async def server_version(transport: Transport) -> str | None:
    """The version that an API server gives itself, such as `v1.36.0`; none if it did not tell."""
    try:
        response = await transport.send(requests.version(), timeout=PATIENCE)
    except TransportError:
        return None
    body = response.body
    version = body.get("gitVersion") if response.is_success and isinstance(body, Mapping) else None
    return version if isinstance(version, str) else None


PAGE_PATIENCE: Final = 7.0
"""Seconds until a page begins, and without a byte after that: a person waits for it."""
Kept = TypeVar("Kept")


class ListingError(Exception):
    """A list could not be had; says why as one sentence."""


class UnknownResourceError(ListingError):
    """Discovery lacks the resource."""


class UnreachableError(ListingError):
    """The server does not answer at all."""


class ListRefusedError(Exception):
    """The server refused a page of a list."""

    def __init__(self, request: Request, error: StatusError) -> None:
        super().__init__(error.message)
        self.request = request
        self.error = error


async def objects_of(transport: Transport, resource: Resource, scope: ReadScope) -> list[Manifest]:
    """A whole list; raises as `list_transformed`."""
    return await list_transformed(transport, resource, scope, itself)


async def list_transformed(
    transport: Transport,
    resource: Resource,
    scope: ReadScope,
    keep: Callable[[Manifest], Kept | None],
    *,
    metadata_only: bool = False,
) -> list[Kept]:
    """What is kept of the objects of a list, of which no more than a page is held at a time.

    The list is begun anew where the server forgets the state that it shows, the second time without pages.

    Args:
        transport: leads to the cluster.
        resource: what is listed.
        scope: which objects of it.
        keep: what to keep of an object; none: nothing.
        metadata_only: whether that is made of nothing but metadata.

    Raises:
        UnknownResourceError: the server has no such resource.
        UnreachableError: it does not answer.
        ListingError: it does not allow it.
    """
    page = partial(
        requests.list_page, resource, namespace=scope.namespace, name=scope.name, metadata_only=metadata_only
    )
    try:
        return await whole_list(transport, page, PAGE_PATIENCE, keep)
    except TransportError as lost:
        raise UnreachableError(str(lost)) from lost
    except ListRefusedError as refused:
        is_unknown = refused.error.is_unproven_absence and await lacks(transport, resource)
        kind = UnknownResourceError if is_unknown else ListingError
        raise kind(missing_permission(refused.request, refused.error)) from refused


def itself(manifest: Manifest) -> Manifest:
    """All of an object, for `whole_list`."""
    return manifest


async def whole_list(
    transport: Transport, page: Callable[..., Request], patience: float, keep: Callable[[Manifest], Kept | None]
) -> list[Kept]:
    """All pages of a list, begun anew as with `list_transformed`.

    Args:
        transport: leads to the cluster.
        page: the request for the page behind a `continuation`, which also takes a `limit`.
        patience: seconds until each page begins, and without a byte after that.
        keep: what to keep of an object; none: nothing.

    Raises:
        ListRefusedError: the server refused a page.
        TransportError: there was no answer.
    """
    for _ in range(requests.MOST_EXPIRIES):
        try:
            return await _pages(transport, page, patience, keep)
        except ListRefusedError as refused:
            if not refused.error.is_expired:
                raise
    return await _pages(transport, partial(page, limit=requests.WHOLE), patience, keep)


async def _pages(
    transport: Transport, page: Callable[..., Request], patience: float, keep: Callable[[Manifest], Kept | None]
) -> list[Kept]:
    objects: list[Kept] = []
    continuation = ""
    while True:
        request = page(continuation=continuation)
        response = await transport.send(request, timeout=patience)
        if not response.is_success:
            raise ListRefusedError(request, status_error(response))
        if (shown := list_page(response.body)) is None:
            raise TransportError(NO_LIST)
        objects += (kept for each in shown.items if (kept := keep(each)) is not None)
        continuation = shown.continuation
        if not continuation:
            return objects
