"""Sends one request after the other, and tells what came of it as a value.

Who reads an object, decides, and writes, may be overtaken: the server then refuses what was decided about an older
state, and everything is read and decided again.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any, Final, ParamSpec, TypeVar

from returns.result import Failure, Result, Success

from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.patches import merge_patch
from hedgerow_adapters.kubernetes.live_reads import lacks
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.responses import StatusError, status_error
from hedgerow_adapters.protocol.transport import Request, Transport, TransportError, attributes_of

PATIENCE: Final = 30.0
"""Seconds for one request."""
ATTEMPTS: Final = 5
"""How often something is read, decided and written while others keep writing the same."""
_OVERLOADED: Final = frozenset({429, *range(500, 600)})

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NotDone:
    """Why something was not done."""

    message: str
    error: StatusError | None = None
    """The API server's refusal; none: no answer came, what was asked for makes no sense, or time was up."""
    is_late: bool = False
    """Whether no answer came, or not the hoped for one in time."""
    is_absence: bool = False
    """True if it is proven that the object does not exist, or that its resource is not served."""

    def __str__(self) -> str:
        """The message."""
        return self.message

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later."""
        return self.is_late or self.is_race or (self.error is not None and self.error.status in _OVERLOADED)

    @property
    def is_race(self) -> bool:
        """Whether somebody else wrote in between."""
        return self.error is not None and (self.error.is_conflict or self.error.already_exists)

    def during(self, what: str) -> "NotDone":
        """The same, told to somebody who does not know what was being done."""
        return replace(self, message=f"{what}: {self.message}")


async def ask(
    transport: Transport, build: Callable[P, Request], *args: P.args, **kwargs: P.kwargs
) -> Result[Any, NotDone]:
    """The body of a server's answer to a request that is yet to be built."""
    try:
        request = build(*args, **kwargs)
        response = await transport.send(request, timeout=PATIENCE)
    except requests.UnaddressableError as nonsense:
        return Failure(NotDone(str(nonsense)))
    except TransportError as lost:
        return Failure(NotDone(str(lost), is_late=True))
    if response.is_success:
        return Success(response.body)
    error = status_error(response)
    is_absence = error.is_absence_of(attributes_of(request).name)
    if error.is_unproven_absence and args and isinstance(args[0], Resource):
        is_absence = await lacks(transport, args[0])
    return Failure(NotDone(error.message, error, is_absence=is_absence))


async def read(transport: Transport, resource: Resource, key: ObjectKey) -> Result[Manifest | None, NotDone]:
    """An object as it is stored; none if it does not exist."""
    return unless_absent(await ask(transport, requests.get, resource, key))


def unless_absent(answer: Result[T, NotDone]) -> Result[T | None, NotDone]:
    """An answer in which it is no failure that the object does not exist."""
    match answer:
        case Failure(NotDone(is_absence=True)):
            return Success(None)
        case Failure(problem):
            return Failure(problem)
        case _:
            return Success(answer.unwrap())


async def write(
    transport: Transport, resource: Resource, existing: Manifest | None, desired: Manifest
) -> Result[Manifest, NotDone]:
    """An object as it is stored after it was created, or brought from the version that was read to what is desired."""
    key = key_of(desired)
    if existing is None:
        return await ask(transport, requests.create, resource, desired, key.namespace)
    if not merge_patch(existing, desired):
        return Success(existing)
    return await ask(transport, requests.update, resource, key, desired)


async def unless_overtaken(attempt: Callable[[], Awaitable[Result[T, NotDone]]]) -> Result[T, NotDone]:
    """What an attempt comes to that nobody else's write got into the way of, or the last one that is made."""
    outcome = await attempt()
    for _ in range(ATTEMPTS - 1):
        match outcome:
            case Failure(NotDone(is_race=True)):
                outcome = await attempt()
            case _:
                break
    return outcome
