"""Write conflicts: whether another client keeps reverting a controller's writes, and how long the key waits then.

Decides from results and their times; the caller passes the time. It keeps a few numbers for each object, for a while.

A write conflict begins when one key has corrected an object more than `CORRECTIONS` times within `WITHIN` seconds, each
time with an equal write or to an equal object. The other client may write the same content every time, or another one.
It may be another key of the same controller; then each key waits.

In a conflict the key waits `FIRST_WAIT` seconds, and twice as long after every further such correction, up to
`LONGEST_WAIT`. An object that is reverted at once is written at most 15 times in the first hour, and 6 times an hour
afterwards; with any other timing fewer than 50 times an hour. `Controller.longest_wait` shortens the wait.

The conflict ends when `WITHIN` seconds beyond a wait have passed without a correction. A turn without a correction ends
the wait. A change of desired state ends the wait too, and a change of another object of the key shortens it to
`BESIDE_WAIT`; the next equal correction still doubles it.

A write that leaves the object's version as it was is no correction. Any other write to the object for the same key
starts the count anew, because the desired state has changed.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, resource_version_of
from hedgerow.machinery.plan import Action, Create, Delete, MergePatch, Update, WriteResult, only_asks
from hedgerow.machinery.scalars import format_duration

CORRECTIONS: Final = 5
"""Equal corrections without a conflict; one more is a conflict."""
WITHIN: Final = 600.0
"""Seconds in which they count together."""
FIRST_WAIT: Final = 30.0
LONGEST_WAIT: Final = 600.0
BESIDE_WAIT: Final = 75.0
"""Seconds after which a key in conflict is reconciled because another of its objects has changed. Other clients may
change one all the time, so the wait is long enough to keep the promised rate."""
REMEMBERED: Final = 16_384
"""Objects whose corrections are remembered, in up to 8 MB; beyond that the oldest are forgotten early."""

_VERSION_FIELDS: Final = frozenset({"resourceVersion", "generation", "managedFields", "uid", "creationTimestamp"})

_Content: TypeAlias = tuple[int, ...]
"""Hashes of what a correction writes and, where that is known, of the object after it."""


Place: TypeAlias = tuple[Cluster, Resource, ObjectKey]


def place_of(action: Action) -> Place:
    """The object that an action writes."""
    return action.cluster, action.resource, action.key


class WriteConflict(NamedTuple):
    """An object that another client keeps reverting."""

    action: Action
    """The last correction."""
    times: int
    seconds: float
    """From the first of them to the last."""
    managers: tuple[str, ...] = ()
    """The field managers of the other client; none: it is not known, or deletes the object."""

    def note(self, wait: float, longest_wait: float) -> str:
        """The text of the event, given how long the key waits now, and at most."""
        first, most = (format_duration(timedelta(seconds=seconds)) for seconds in (wait, longest_wait))
        return f"{self}; the next write follows in {first}, later ones after pauses of up to {most}"

    def __str__(self) -> str:
        """The text of the log line."""
        minutes = max(1, round(self.seconds / 60))
        within = f"{minutes} minute{'s' if minutes > 1 else ''}"
        subject = f"{self.action.resource.kind} {self.action.key}"
        who = " or ".join(self.managers) if self.managers else "somebody"
        return f"{subject} was corrected {self.times} times within {within} ({self.action.reason}): {who} undoes it"


class Slowdown(NamedTuple):
    """How long a key waits now because of its conflicts, and those that begin now."""

    seconds: float
    begun: tuple[WriteConflict, ...]


class _Corrections(NamedTuple):
    """The equal corrections of one object for one key."""

    content: _Content | None
    """None after the first correction: nearly all objects are written just once, so its content is not hashed."""
    times: tuple[float, ...]
    wait: float = 0.0
    """How long the key waits after the last of them; 0 without a conflict."""

    def is_over(self, now: float) -> bool:
        """True if the corrections are too old to count."""
        return now - self.times[-1] > self.wait + WITHIN


def changed_nothing(action: Action, stored: Manifest | None) -> bool:
    """True if a write left the object at the version that it was made for: nothing had to be corrected.

    Token requests never count as corrections.
    """
    if only_asks(action):
        return True
    match action:
        case Update(manifest=manifest):
            before = resource_version_of(manifest)
        case MergePatch(resource_version=before):
            pass
        case _:
            return False
    return before is not None and stored is not None and resource_version_of(stored) == before


class WriteConflictDetector:
    """The recent corrections of one controller."""

    def __init__(self, longest_wait: float | None = None) -> None:
        """Nothing was corrected yet; a key waits `longest_wait` seconds at most, by default `LONGEST_WAIT`."""
        self.longest_wait: Final = LONGEST_WAIT if longest_wait is None else min(longest_wait, LONGEST_WAIT)
        self._corrections: OrderedDict[int, _Corrections] = OrderedDict()

    def __len__(self) -> int:
        """The number of remembered objects; an object counts once for each key that has corrected it."""
        return len(self._corrections)

    def may_begin(self, key: ObjectKey, action: Action) -> bool:
        """True if one more equal correction of the object is a conflict."""
        corrections = self._corrections.get(hash((key, action.cluster, action.resource, action.key)))
        return corrections is not None and not corrections.wait and len(corrections.times) >= CORRECTIONS

    def carried_out(
        self,
        key: ObjectKey,
        results: Iterable[WriteResult],
        now: float,
        managers: Mapping[Place, tuple[str, ...]] = MappingProxyType({}),
    ) -> Slowdown | None:
        """Note the results of one turn of a key at a monotonic time; return its slowdown, if there is a conflict.

        The results are those of actions that the server carried out, with the objects that it stored. `managers` are
        the field managers of other clients.
        """
        wait, begun = 0.0, []
        for result in results:
            was_in_conflict, corrections = self._noted(key, result, now)
            wait = max(wait, corrections.wait)
            if corrections.wait and not was_in_conflict:
                action, seconds = result.action, now - corrections.times[0]
                others = managers.get(place_of(action), ())
                begun.append(WriteConflict(action, len(corrections.times), seconds, others))
        self._forget(now)
        return Slowdown(wait, tuple(begun)) if wait else None

    def concerns(self, key: ObjectKey, resource: Resource, place: ObjectKey, cluster: Cluster) -> bool:
        """True if a key is in conflict over an object, as far as is known."""
        corrections = self._corrections.get(hash((key, cluster, resource, place)))
        return corrections is not None and corrections.wait > 0

    def _noted(self, key: ObjectKey, result: WriteResult, now: float) -> tuple[bool, _Corrections]:
        """Whether the object was in conflict before, and its corrections including this one."""
        action = result.action
        identity = hash((key, action.cluster, action.resource, action.key))
        before = self._corrections.get(identity)
        after = _Corrections(None, (now,)) if before is None else _after(before, result, now, self.longest_wait)
        self._corrections[identity] = after
        self._corrections.move_to_end(identity)
        return before is not None and before.wait > 0, after

    def _forget(self, now: float) -> None:
        """Drop what is too much, and what is old: it stands in front."""
        while len(self._corrections) > REMEMBERED:
            self._corrections.popitem(last=False)
        while self._corrections and next(iter(self._corrections.values())).is_over(now):
            self._corrections.popitem(last=False)


def _after(before: _Corrections, result: WriteResult, now: float, longest_wait: float) -> _Corrections:
    """The corrections of an object that was corrected before."""
    content = _content_of(result)
    if before.is_over(now) or (before.content is not None and set(before.content).isdisjoint(content)):
        return _Corrections(content, (now,))
    if before.wait:
        return _Corrections(content, (now,), min(2 * before.wait, longest_wait))
    times = (*(time for time in before.times if now - time <= WITHIN), now)
    return _Corrections(content, times, min(FIRST_WAIT, longest_wait) if len(times) > CORRECTIONS else 0.0)


def _content_of(result: WriteResult) -> _Content:
    """What an action writes and why, and what its object is after it, whatever version it was decided on."""
    action, stored = result.action, result.stored
    if isinstance(action, Delete):
        return (hash((Delete, action.reason)),)
    is_status = action.subresource == "status"
    match action:
        case Create():
            content: object = action.manifest
        case Update():
            content = _without_version(action.manifest, is_status=is_status)
        case MergePatch():
            content = action.patch
        case _:
            content = action.operations
    written = hash((type(action), action.reason, action.subresource, repr(content)))
    if stored is None:
        return (written,)
    return written, hash((action.subresource, repr(_without_version(stored, is_status=is_status))))


def _without_version(manifest: Manifest, *, is_status: bool) -> Manifest:
    """The object without what differs with every version of it, and without the status unless that is written."""
    metadata = manifest.get("metadata") or {}
    shown = {name: value for name, value in metadata.items() if name not in _VERSION_FIELDS}
    return {**manifest, "metadata": shown, "status": manifest.get("status") if is_status else None}
