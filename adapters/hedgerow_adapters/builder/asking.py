"""Sends requests, makes a value of a function's failure, and starts it again where somebody else wrote."""

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

from returns.result import Failure, Result, Success

from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.patches import merge_patch
from hedgerow_adapters.kubernetes.live_reads import is_unserved
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
        return self.message

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later."""
        return self.is_late or self.is_race or (self.error is not None and self.error.status in _OVERLOADED)

    @property
    def is_race(self) -> bool:
        """Whether somebody else wrote in between."""
        return self.error is not None and (self.error.is_conflict or self.error.already_exists)


class NotDoneError(Exception):
    """Ends a function of this package, and is its result."""

    def __init__(self, problem: NotDone) -> None:
        super().__init__(problem.message)
        self.problem = problem


def answered(function: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, Result[T, NotDone]]]:
    """A function that returns its failure as a value, and starts again where somebody else wrote in between."""

    @wraps(function)
    async def result(*args: P.args, **kwargs: P.kwargs) -> Result[T, NotDone]:
        attempts = 1
        while True:
            try:
                return Success(await function(*args, **kwargs))
            except NotDoneError as error:
                if attempts == ATTEMPTS or not error.problem.is_race:
                    return Failure(error.problem)
            attempts += 1

    return result


@contextmanager
def during(doing: str) -> Iterator[None]:
    """Put in front of a problem what was being done."""
    try:
        yield
    except NotDoneError as error:
        problem = replace(error.problem, message=f"{doing}: {error.problem.message}")
        raise NotDoneError(problem) from error


@contextmanager
def absence_is_fine() -> Iterator[None]:
    """End the context, and nothing else, where an object does not exist."""
    try:
        yield
    except NotDoneError as error:
        if not error.problem.is_absence:
            raise


async def ask(transport: Transport, build: Callable[P, Request], *args: P.args, **kwargs: P.kwargs) -> Manifest:
    """The body of the answer to a request that is yet to be built; NotDoneError: there is none, or it is a refusal."""
    try:
        request = build(*args, **kwargs)
        response = await transport.send(request, timeout=PATIENCE)
    except requests.UnaddressableError as nonsense:
        raise NotDoneError(NotDone(str(nonsense))) from nonsense
    except TransportError as lost:
        raise NotDoneError(NotDone(str(lost), is_late=True)) from lost
    if response.is_success:
        stored: Manifest = response.body
        return stored
    error = status_error(response)
    is_absence = error.is_absence_of(attributes_of(request).name)
    if error.is_unproven_absence and args and isinstance(args[0], Resource):
        is_absence = await is_unserved(transport, args[0])
    raise NotDoneError(NotDone(error.message, error, is_absence=is_absence))


async def read(transport: Transport, resource: Resource, key: ObjectKey) -> Manifest | None:
    """An object as it is stored; none if it does not exist."""
    try:
        return await ask(transport, requests.get, resource, key)
    except NotDoneError as error:
        if error.problem.is_absence:
            return None
        raise


async def write(transport: Transport, resource: Resource, existing: Manifest | None, desired: Manifest) -> Manifest:
    """An object as it is stored after it was created, or brought from the version that was read to what is desired."""
    key = key_of(desired)
    if existing is None:
        return await ask(transport, requests.create, resource, desired, key.namespace)
    if merge_patch(existing, desired):
        return await ask(transport, requests.update, resource, key, desired)
    return existing
