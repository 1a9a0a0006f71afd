"""Answers what a decision can learn from no cache, by live requests to the API servers."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from types import MappingProxyType
from typing import Final

from hedgerow.machinery.clusters import Cluster, is_visible, is_wholly_visible
from hedgerow.machinery.objects import Resource
from hedgerow.machinery.questions import Answer, Found, ListQuestion, NotAnswered, ObjectQuestion, Question
from hedgerow_adapters.kubernetes.live_reads import ListRefusedError, itself, whole_list
from hedgerow_adapters.kubernetes.live_reads import lacks as lacks_resource
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.documents import is_object_of, no_match
from hedgerow_adapters.protocol.responses import not_answered, status_error
from hedgerow_adapters.protocol.transport import Request, Transport, TransportError

PATIENCE: Final = 10.0
"""Seconds for an answer: no longer than an API server waits that asked for a review."""
AT_ONCE: Final = 32
"""Questions that are under way at a time."""
_BAD_REQUEST: Final = 400
_NO_ANSWER: Final = 500
_OUT_OF_SIGHT: Final = "OutOfSight"
_EVERYWHERE: Final[Mapping[Cluster, Sequence[str]]] = MappingProxyType({})


class Questions:
    """Whom to ask, and about what: of what caches do not show, nobody is asked either.

    Guarantees: whoever asks, and however many questions, no more are under way than there are places, first come, first
    served; every question has its answer, or is told to have none, in time.
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
        """Ways to clusters.

        Args:
            transports: who is asked.
            namespaces: what the process sees of each cluster; where none is named: all of it.
            patience: seconds for an answer, the wait for a place included.
            places: shared by all who are to keep within the same limit.
            beyond: whether about an object that somebody names is asked wherever it is, as only caches and lists are
                restricted then.
            hurried: whether a list, too, has to come to its end within that time, and is given up otherwise although it
                goes on.
            lacks: asked whether discovery lacks a resource after a 404 that proves nothing; none: the server is asked
                each time.
        """
        self._transports = transports
        self._namespaces = namespaces
        self._patience = patience
        self._beyond = beyond
        self._hurried = hurried
        self._lacks = lacks or (lambda cluster, resource: lacks_resource(transports[cluster], resource))
        self._places = places or asyncio.Semaphore(AT_ONCE)

    async def ask(self, question: Question) -> Answer:
        """What the API server shows now, or why it shows nothing."""
        if problem := self._out_of_sight(question):
            return NotAnswered(_NO_ANSWER, _OUT_OF_SIGHT, problem)
        end = asyncio.get_running_loop().time() + self._patience
        try:
            async with asyncio.timeout_at(end):
                await self._places.acquire()
        except TimeoutError:
            return NotAnswered(_NO_ANSWER, "", f"waited behind other questions for {self._patience:g} s")
        try:
            answer = await self._answer(question, end - asyncio.get_running_loop().time())
        finally:
            self._places.release()
        if _is_unproven(answer) and await self._lacks(question.cluster, question.resource):
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
                        return await _list(transport, question, patience)
        except requests.UnaddressableError as nonsense:
            return NotAnswered(_BAD_REQUEST, "BadRequest", str(nonsense))
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


async def _list(transport: Transport, question: ListQuestion, patience: float) -> Answer:
    try:
        return Found(tuple(await whole_list(transport, pages_of(question), patience, itself)))
    except ListRefusedError as refused:
        return not_answered(refused.error)


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


def _is_unproven(answer: Answer) -> bool:
    return isinstance(answer, NotAnswered) and answer.code == HTTPStatus.NOT_FOUND and not answer.is_not_found
