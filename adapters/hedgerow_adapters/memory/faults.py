"""Scripted faults: what a server or the network does instead of answering properly.

cluster.faults.append(Fault(requests("POST", "networkpolicies"), Lost(after_commit=True)))
cluster.faults.append(Fault(requests("PUT"), Answered(Response(503, ...)), times=3))
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from hedgerow_adapters.protocol.transport import Request, Response, TransportError


@dataclass(frozen=True, slots=True)
class Answered:
    """The server answers with this, and does nothing."""

    response: Response


@dataclass(frozen=True, slots=True)
class Lost:
    """No answer comes: the request is lost, or, after the commit, only its answer."""

    after_commit: bool = False
    hangs: bool = False
    """Whether the client waits until its timeout, instead of seeing the connection break at once."""


@dataclass(slots=True)
class Fault:
    """An outcome for the next requests that a predicate picks."""

    picks: Callable[[Request], bool]
    outcome: Answered | Lost
    times: int | None = 1
    """How often it still happens; none: always."""


BARE_NOT_FOUND: Final = Answered(Response(404, "404 page not found\n", {"content-type": "text/plain; charset=utf-8"}))
"""What a gateway answers, a wrong address, or a server for a path that it does not serve."""


class NoAnswerError(TransportError):
    """A scripted loss."""

    def __init__(self, *, hangs: bool) -> None:
        super().__init__("timed out" if hangs else "connection lost")
        self.hangs = hangs


def requests(method: str = "", path: str = "") -> Callable[[Request], bool]:
    """A predicate for requests of a method, to paths that contain a text; what is empty picks all."""
    return lambda request: method in ("", request.method) and path in request.path


def outcome_for(faults: Iterable[Fault], request: Request) -> Answered | Lost | None:
    """What the first fault that picks a request makes of it, which uses that fault up by one; none: nothing."""
    for fault in faults:
        if fault.times != 0 and fault.picks(request):
            if fault.times is not None:
                fault.times -= 1
            return fault.outcome
    return None
