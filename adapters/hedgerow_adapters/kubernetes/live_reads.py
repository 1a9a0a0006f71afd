"""Reads API servers live: what they serve, whole lists, their version, and what a decision can learn from no cache.

Source: Kubernetes documentation, "The Kubernetes API", discovery; decision "absence".
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from http import HTTPStatus
from types import MappingProxyType
from typing import Final, TypeVar

from hedgerow.machinery.clusters import Cluster, ReadScope, is_visible, is_wholly_visible
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow.machinery.questions import Answer, Found, ListQuestion, NotAnswered, ObjectQuestion, Question, itself
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.documents import (
    NO_LIST,
    Served,
    is_object_of,
    lacks_version,
    list_page,
    no_match,
    served,
)
from hedgerow_adapters.protocol.responses import StatusError, missing_permission, not_answered, status_error
from hedgerow_adapters.protocol.transport import Request, Transport, TransportError

PATIENCE: Final = 10.0
"""Seconds for one request or answer: no longer than an API server waits that asked for a review."""
PAGE_PATIENCE: Final = 7.0
"""Seconds until a page begins, and without a byte after that: a person waits for it."""
AT_ONCE: Final = 32
"""Questions that are under way at a time."""
_NO_ANSWER: Final = 500
_EVERYWHERE: Final[Mapping[Cluster, Sequence[str]]] = MappingProxyType({})
Kept = TypeVar("Kept")


async def look(transport: Transport, api_version: str) -> Served | NotAnswered:
    """What the server serves of a group and version; after a 404 the list of groups tells whether it exists."""
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


async def is_unserved(transport: Transport, resource: Resource) -> bool:
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


class ListingError(Exception):
    """A list could not be had; says why as one sentence."""


class UnknownResourceError(ListingError):
    """Discovery lacks the resource."""


class ListRefusedError(Exception):
    """The server refused a page of a list."""

    def __init__(self, request: Request, error: StatusError) -> None:
        super().__init__(error.message)
        self.request = request
        self.error = error


async def list_transformed(
    transport: Transport,
    resource: Resource,
    scope: ReadScope,
    keep: Callable[[Manifest], Kept | None],
    *,
    metadata_only: bool = False,
) -> list[Kept]:
    """What is kept of the objects of a list, of which no more than a page is held at a time; for people who wait.

    Raises UnknownResourceError if the server has no such resource, ListingError if it does not allow the list.
    """
    page = partial(
        requests.list_page, resource, namespace=scope.namespace, name=scope.name, metadata_only=metadata_only
    )
    try:
        return await whole_list(transport, page, PAGE_PATIENCE, keep)
    except ListRefusedError as refused:
        is_unknown = refused.error.is_unproven_absence and await is_unserved(transport, resource)
        kind = UnknownResourceError if is_unknown else ListingError
        raise kind(missing_permission(refused.request, refused.error)) from refused


async def whole_list(
    transport: Transport, page: Callable[..., Request], patience: float, keep: Callable[[Manifest], Kept | None]
) -> list[Kept]:
    """What `keep` keeps of the objects on all pages of a list; raises ListRefusedError or TransportError.

    It is begun anew where the server forgets the state that it shows, the last time without pages. `page` makes the
    request for the page behind a `continuation`, and takes a `limit`. `patience` is the seconds until each page begins,
    and without a byte after that.
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
        objects += (kept for manifest in shown.items if (kept := keep(manifest)) is not None)
        continuation = shown.continuation
        del response, shown  # two pages need not be in memory
        if not continuation:
            return objects


class Questions:
    """Answers the questions of decisions; what the process is not to see, no server is asked about.

    Guarantees: no more questions are under way than there are places, and of lists of which decisions keep a part only
    one, first come, first served; every question has its answer, or the answer that there is none, in time.
    """

    def __init__(
        self,
        transports: Mapping[Cluster, Transport],
        namespaces: Mapping[Cluster, Sequence[str]] = _EVERYWHERE,
        *,
        patience: float = PATIENCE,
        places: asyncio.Semaphore | None = None,
        beyond: bool = False,
        hurried: bool = True,
        lacks: Callable[[Cluster, Resource], Awaitable[bool]] | None = None,
    ) -> None:
        """Nothing is asked yet.

        Of each cluster the process sees some namespaces; where none is named: all of it. `patience` is the seconds for
        an answer, the wait for one of the shared `places` included. With `beyond` a single object may be asked about
        wherever it is, and only lists are restricted. With `hurried` a list, too, has to end within that time, and is
        given up otherwise although it goes on. `lacks` says after a 404 that proves nothing whether discovery lacks a
        resource; none: the server does.
        """
        self._transports = transports
        self._namespaces = namespaces
        self._patience = patience
        self._beyond = beyond
        self._hurried = hurried
        self._lacks = lacks or (lambda cluster, resource: is_unserved(transports[cluster], resource))
        self._places = places or asyncio.Semaphore(AT_ONCE)
        self._large_list = asyncio.Lock()

    async def ask(self, question: Question) -> Answer:
        """What the API server shows now, or why it shows nothing."""
        if problem := self._out_of_sight(question):
            return NotAnswered(_NO_ANSWER, "OutOfSight", problem)
        is_large = isinstance(question, ListQuestion) and question.keep is not itself
        end = asyncio.get_running_loop().time() + self._patience
        async with AsyncExitStack() as held:
            try:
                async with asyncio.timeout_at(end):
                    for place in (self._large_list, self._places) if is_large else (self._places,):
                        await held.enter_async_context(place)
            except TimeoutError:
                return NotAnswered(_NO_ANSWER, "", f"waited behind other questions for {self._patience:g} s")
            answer = await self._answer(question, end - asyncio.get_running_loop().time())
        is_unproven = (
            isinstance(answer, NotAnswered) and answer.code == HTTPStatus.NOT_FOUND and not answer.is_not_found
        )
        if is_unproven and await self._lacks(question.cluster, question.resource):
            return no_match(question.resource.object_kind)
        return answer

    async def _answer(self, question: Question, patience: float) -> Answer:
        transport = self._transports[question.cluster]
        try:
            match question:
                case ObjectQuestion():
                    return await _object(transport, question, patience)
                case ListQuestion():
                    async with asyncio.timeout(patience if self._hurried else None):
                        return Found(tuple(await whole_list(transport, pages_of(question), patience, question.keep)))
        except ListRefusedError as refused:
            return not_answered(refused.error)
        except requests.UnaddressableError as nonsense:
            return NotAnswered(400, "BadRequest", str(nonsense))
        except TransportError as lost:
            return NotAnswered(_NO_ANSWER, "", str(lost))
        except TimeoutError:
            listed = question.resource.plural
            return NotAnswered(_NO_ANSWER, "", f"the list of {listed} did not come to its end within {patience:g} s")

    def _out_of_sight(self, question: Question) -> str | None:
        """What keeps a question from being asked: the process is not to see what it is about. None if nothing."""
        seen = self._namespaces.get(question.cluster, ())
        match question:
            case ObjectQuestion(resource, key):
                return None if self._beyond or is_visible(resource, key, seen) else _unseen(key.namespace or key.name)
            case ListQuestion(resource, _, namespace):
                return None if is_wholly_visible(resource, namespace, seen) else _unseen(namespace)


def _unseen(namespace: str) -> str:
    which = f'Namespace "{namespace}" is not among those' if namespace else "not all Namespaces are among those"
    return f"{which} that this process is configured to see"


async def _object(transport: Transport, question: ObjectQuestion, patience: float) -> Answer:
    response = await transport.send(requests.get(question.resource, question.key), timeout=patience)
    if not response.is_success:
        return not_answered(status_error(response), question.key.name)
    if not is_object_of(question.key, response.body):
        return NotAnswered(_NO_ANSWER, "", f"the answer is not {question.resource.kind} {question.key}")
    return Found((response.body,))


def pages_of(question: ListQuestion) -> Callable[..., Request]:
    """The requests for the pages of what a question asks for, as `requests.list_page` takes them further."""
    return partial(
        requests.list_page,
        question.resource,
        namespace=question.namespace,
        selector=question.label_selector,
        field_selector=question.field_selector,
        metadata_only=question.metadata_only,
    )
