"""The states of a list-and-watch, and what each answer of the API server makes of them.

Decides which request comes next and what a cache is told. Knows no connection, no clock and no cache.

    Empty ──page──▶ Listing ──last page──▶ Listed ──opened──▶ Watching ──interrupted──▶ Listed
      ▲                │                      │                   │
      └─lost, absent───┴─────lost, absent─────┴───lost, absent────┘

Guarantees: each page is delivered when it arrives; a list counts only when its last page has arrived, and then replaces
everything at once; what the server no longer knows (410), or says in a way that cannot be read, starts anew, as does a
watch whose versions run backwards; after any other end the watch resumes where it was.
Source: Kubernetes documentation, "Kubernetes API concepts", efficient detection of changes.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from hedgerow.machinery.objects import Manifest


@dataclass(frozen=True, slots=True)
class Empty:
    """Nothing is known; ask for the first page of a list."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Some pages have arrived; ask for the next."""

    continuation: str


@dataclass(frozen=True, slots=True)
class Listed:
    """Everything up to a version is known; open a watch from there."""

    resource_version: str


@dataclass(frozen=True, slots=True)
class Watching:
    """A watch is open; everything up to a version has been delivered."""

    resource_version: str


State: TypeAlias = Empty | Listing | Listed | Watching


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list has arrived; without a continuation it is the last."""

    objects: tuple[Manifest, ...]
    continuation: str
    resource_version: str


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """An object has changed, or a bookmark has arrived. An ERROR event is a `Signal`."""

    type: str
    object: Manifest
    """Transformed, perhaps without its version."""
    resource_version: Any
    """Of the object as it was sent; a text, if the server is well."""


class Signal(Enum):
    """What else may happen to a list or watch."""

    OPENED = "Opened"
    """The server has accepted the watch."""
    LOST = "Lost"
    """Asking on would lead nowhere: the server has forgotten the version, or its answer makes no sense."""
    INTERRUPTED = "Interrupted"
    """The watch or a request has ended without an answer that counts."""
    ABSENT = "Absent"
    """Discovery lacks the resource, so that there are no objects of it."""


Input: TypeAlias = Page | WatchEvent | Signal


@dataclass(frozen=True, slots=True)
class Gather:
    """These objects are among those that exist. That counts for nothing before the `Replace` of the list."""

    objects: tuple[Manifest, ...]
    is_first: bool
    """Whether the list begins with them, and an earlier one that has not come to its end is given up."""


@dataclass(frozen=True, slots=True)
class Replace:
    """These and those that were gathered since the list began are all the objects that exist."""

    objects: tuple[Manifest, ...]
    is_first: bool = True
    """Whether nothing was gathered for this list."""
    is_known: bool = True
    """Whether the server knows the resource."""


@dataclass(frozen=True, slots=True)
class Put:
    """This object exists in this form."""

    object: Manifest


@dataclass(frozen=True, slots=True)
class Remove:
    """This object was deleted; this was its last form."""

    object: Manifest


Delivery: TypeAlias = Gather | Replace | Put | Remove


class ProtocolError(Exception):
    """The server sent what the protocol does not provide for."""


def advance(state: State, received: Input) -> tuple[State, Delivery | None]:
    """The state after an answer of the server, and the delivery to the cache.

    Raises ProtocolError for an event of unknown type, an event or list without a version, an event of the past, a list
    without an end, or an answer that the state does not wait for.
    """
    match state, received:
        case Watching(), WatchEvent():
            return _after_event(state, received)
        case ((Empty() | Listing()), Page()):
            return _after_page(state, received)
        case Listed(version), Signal.OPENED:
            return Watching(version), None
        case _, (Signal.LOST | Signal.ABSENT):
            return Empty(), Replace((), is_known=False) if received is Signal.ABSENT else None
        case Watching(version), Signal.INTERRUPTED:
            return Listed(version), None
        case ((Empty() | Listing() | Listed()), Signal.INTERRUPTED):
            return state, None
        case _:
            name = received.value if isinstance(received, Signal) else type(received).__name__
            raise ProtocolError(f"{name} is not expected while {type(state).__name__}")


def _after_page(state: Empty | Listing, page: Page) -> tuple[State, Delivery | None]:
    if isinstance(state, Listing) and page.continuation == state.continuation:
        raise ProtocolError("a list whose next page is the same again")
    is_first = isinstance(state, Empty)
    if page.continuation:
        return Listing(page.continuation), Gather(page.objects, is_first)
    if not page.resource_version:
        raise ProtocolError("a list without a resource version")
    return Listed(page.resource_version), Replace(page.objects, is_first)


def _after_event(state: Watching, event: WatchEvent) -> tuple[State, Delivery | None]:
    version = event.resource_version
    if not isinstance(version, str) or not version:
        raise ProtocolError(f"an event of type {event.type} without a resource version")
    if is_before(version, before := state.resource_version):
        raise ProtocolError(f"an event of version {version} after version {before}: the past has changed")
    after = Watching(version)
    match event.type:
        case "ADDED" | "MODIFIED":
            return after, Put(event.object)
        case "DELETED":
            return after, Remove(event.object)
        case "BOOKMARK":
            return after, None
        case _:
            raise ProtocolError(f"an event of the unknown type {event.type}")


def is_before(version: str, other: str) -> bool:
    """True if versions run backwards, as after a server's storage was restored from a backup.

    Versions that are no numbers are not compared.
    """
    return version.isdecimal() and other.isdecimal() and int(version) < int(other)
