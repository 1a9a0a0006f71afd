"""Where the writes of a turn go that is driven without an event loop, and what it finds out there.

`Imagined` carries nothing out, and keeps what the objects would be. It reads by functions, so that it stands before a
live cluster too. Of a server's rules it knows that an object is created once, that what does not exist cannot be
changed, and that finalizers hold what is deleted; what admission would change or refuse it cannot know. Asked for a
token, it gives one that is none, and is valid for as long as was asked for.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Final, Protocol

from returns.pipeline import is_successful
from returns.result import Result

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Kind, Manifest, Resource
from hedgerow.machinery.patches import apply_merge_patch
from hedgerow.machinery.plan import (
    Action,
    ApiError,
    Create,
    Delete,
    JsonPatch,
    MergePatch,
    Update,
    WriteResult,
    is_dry_run,
    only_asks,
)
from hedgerow.machinery.questions import Answer, Found, NotAnswered, ObjectQuestion, Question
from hedgerow_adapters.memory.clock import timestamp
from hedgerow_adapters.protocol.json_patch import apply_json_patch

NO_TOKEN: Final = "a-token-that-nobody-has-made"  # noqa: S105 -- stands for one
"""What is given to who asks for a token."""


class Surroundings(Protocol):
    """What a turn finds out, and where its writes go."""

    def answer(self, question: Question) -> Answer:
        """What there is now, everything included that was carried out."""
        ...

    def look_up(self, kind: Kind, cluster: Cluster = Cluster.TARGET) -> Resource | NotAnswered:
        """As which resource a cluster serves a kind."""
        ...

    def carry_out(self, action: Action) -> WriteResult:
        """What becomes of an action."""
        ...


class Imagined:
    """What would be if actions were carried out, over a world that is only read.

    A list shows the world as it is: of what was imagined only questions about single objects tell.
    """

    def __init__(
        self,
        ask: Callable[[Question], Answer],
        look_up: Callable[[Kind, Cluster], Resource | NotAnswered],
        now: datetime,
        stored: Callable[[Manifest], Manifest] = lambda manifest: manifest,
    ) -> None:
        """A world in which nothing has happened yet.

        Args:
            ask: what the world shows. Whoever has to wait for answers runs all this in a thread of its own.
            look_up: as which resource a kind is served.
            now: the time at which everything happens.
            stored: an object that was sent as a server would hand it back.
        """
        self._stored = stored
        self._ask = ask
        self._look_up = look_up
        self._now = now
        self._objects: dict[ObjectQuestion, Answer] = {}

    def answer(self, question: Question) -> Answer:
        """What there is, or would be by now; each object is asked for once."""
        if not isinstance(question, ObjectQuestion):
            return self._ask(question)
        if question not in self._objects:
            self._objects[question] = self._ask(question)
        return self._objects[question]

    def look_up(self, kind: Kind, cluster: Cluster = Cluster.TARGET) -> Resource | NotAnswered:
        """As which resource a cluster serves a kind."""
        return self._look_up(kind, cluster)

    def carry_out(self, action: Action) -> WriteResult:
        """What would most likely become of an action."""
        if is_dry_run(action):
            return WriteResult(action, error=ApiError(0, "", "nothing answers to dry runs"))
        question = ObjectQuestion(action.resource, action.key, action.cluster)
        answer = self.answer(question)
        if isinstance(answer, NotAnswered) and not answer.is_not_found:
            return WriteResult(action, error=ApiError(answer.code, answer.reason, answer.message))
        outcome = _imagined(action, answer.objects[0] if isinstance(answer, Found) else None, self._now, self._stored)
        if outcome.error is None and not only_asks(action):
            self._objects[question] = Found((outcome.stored,)) if outcome.stored is not None else _gone(action)
        return outcome


def _imagined(
    action: Action, live: Manifest | None, now: datetime, stored: Callable[[Manifest], Manifest]
) -> WriteResult:
    if refusal := _refusal(action, live):
        return WriteResult(action, error=refusal)
    match action:
        case Create(_, manifest) | Update(_, manifest):
            return WriteResult(action, _granted(manifest, now) if only_asks(action) else stored(manifest))
        case MergePatch(_, _, patch):
            return WriteResult(action, apply_merge_patch(live, patch))
        case JsonPatch(_, _, operations):
            return _patched(action, apply_json_patch(live, operations))
        case Delete():
            return WriteResult(action, _held(live, now))


def _refusal(action: Action, live: Manifest | None) -> ApiError | None:
    """What a server says that has such an object already, or has none; none if that stands in no way."""
    named = f'{action.resource} "{action.key.name}"'
    match action:
        case Create(subresource="") if live is not None:
            return ApiError(HTTPStatus.CONFLICT, "AlreadyExists", f"{named} already exists")
        case Create(subresource=asked) if asked and live is None:
            return ApiError(HTTPStatus.NOT_FOUND, "NotFound", f"{named} not found")
        case Update() | MergePatch() | JsonPatch() if live is None:
            return ApiError(HTTPStatus.NOT_FOUND, "NotFound", f"{named} not found")
        case _:
            return None


def _granted(request: Manifest, now: datetime) -> Manifest:
    """The answer to a request for a token."""
    life = timedelta(seconds=(request.get("spec") or {}).get("expirationSeconds") or 0)
    return {**request, "status": {"token": NO_TOKEN, "expirationTimestamp": timestamp(now + life)}}


def _patched(action: Action, result: Result[Manifest, str]) -> WriteResult:
    if is_successful(result):
        return WriteResult(action, result.unwrap())
    return WriteResult(action, error=ApiError(HTTPStatus.UNPROCESSABLE_ENTITY, "Invalid", result.failure()))


def _held(live: Manifest | None, now: datetime) -> Manifest | None:
    """What is left of an object that is deleted."""
    metadata = (live or {}).get("metadata") or {}
    if not metadata.get("finalizers"):
        return None
    return {**(live or {}), "metadata": {"deletionTimestamp": timestamp(now), **metadata}}


def _gone(action: Action) -> NotAnswered:
    return NotAnswered(HTTPStatus.NOT_FOUND, "NotFound", f'{action.resource} "{action.key.name}" not found')
