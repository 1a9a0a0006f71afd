"""Whether somebody else keeps undoing what a controller does, and how long its key waits then.

Decides from what was carried out and when; is told the time. Of an object it holds a few numbers, and those not for
long.

An object is fought over when it was corrected for one key more than `CORRECTIONS` times within `WITHIN` seconds, each
time by an equal write or to an equal object: the other side may write the same every time or something else each time.
It may be another key of the same controller; each then waits for itself. The key waits from then on, `FIRST_WAIT`
seconds and twice as long with every further such correction, up to `LONGEST_WAIT`. So an object that is undone at once,
for ever, is written at most 15 times in the first hour and 6 times an hour from then on; however the other side times
it, it is fewer than 50 times an hour. The conflict is over when for `WITHIN` seconds beyond a wait nothing had to be
corrected; the first look after a wait that finds nothing to correct already makes the key as fast as any other. A key
need not wait out its time where somebody asks for something new, nor longer than `BESIDE_WAIT` where something happens
to an object that is not fought over; an equal correction after that makes it wait twice as long all the same.

A controller may let its keys wait for less (`Controller.longest_wait`); then it writes more often.

A write that left the version of its object as it was is no correction: there was nothing to correct.

Anything else that is done to the object for the same key starts the count anew: then the wish has changed, as it does
where a user adds and removes what asks for a policy.
"""

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final, NamedTuple, TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, resource_version_of
from hedgerow.machinery.plan import (
    Action,
    Create,
    Delete,
    JsonPatch,
    MergePatch,
    Update,
    WriteResult,
    only_asks,
)

CORRECTIONS: Final = 5
"""So many equal corrections are bad luck; one more is a conflict."""
WITHIN: Final = 600.0
"""Seconds in which they count together."""
FIRST_WAIT: Final = 30.0
LONGEST_WAIT: Final = 600.0
BESIDE_WAIT: Final = 75.0
"""Seconds within which a change of another object is looked at; as others may change one all the time, so rarely that
the conflict stays as slow as is promised."""
REMEMBERED: Final = 16_384
"""Objects of which corrections are remembered, in up to 8 MB; beyond that the longest untouched are forgotten early."""

_VERSION_FIELDS: Final = frozenset({"resourceVersion", "generation", "managedFields", "uid", "creationTimestamp"})

_Identity: TypeAlias = int
_Content: TypeAlias = tuple[int, ...]
"""Hashes of what a correction writes and, where that is known, of the object after it."""


class WriteConflict(NamedTuple):
    """An object that somebody else keeps changing back."""

    action: Action
    """The last correction."""
    times: int
    seconds: float
    """From the first of them to the last."""

    def __str__(self) -> str:
        """As people are told it."""
        minutes = max(1, round(self.seconds / 60))
        within = f"{minutes} minute{'s' if minutes > 1 else ''}"
        what = f"{self.action.resource.kind} {self.action.key}"
        return f"{what} was corrected {self.times} times within {within} ({self.action.reason}): somebody undoes it"


class Slowdown(NamedTuple):
    """What a conflict means for a key."""

    seconds: float
    """How long the key waits now."""
    begun: tuple[WriteConflict, ...]
    """The conflicts that were not known before."""


class _Corrections(NamedTuple):
    """The equal corrections of one object for one key."""

    content: _Content | None
    """None after the first, whose content is not looked at: nearly all objects are written just once."""
    times: tuple[float, ...]
    wait: float = 0.0
    """How long the key waits after the last of them; 0 where there is no fight."""

    def is_over(self, now: float) -> bool:
        """Whether they say nothing about the present any more."""
        return now - self.times[-1] > self.wait + WITHIN


def changed_nothing(action: Action, stored: Manifest | None) -> bool:
    """Whether the object is still of the version that a write was made for, so that nothing had to be corrected.

    Who writes the same again and again on purpose conflicts with nobody, and neither does who asks for tokens.

    Args:
        action: the write that the server carried out.
        stored: the object as the server has it now.
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
        """Nothing was corrected yet.

        Args:
            longest_wait: seconds that a key waits at most; none: `LONGEST_WAIT`.
        """
        self._longest_wait = LONGEST_WAIT if longest_wait is None else min(longest_wait, LONGEST_WAIT)
        self._corrections: OrderedDict[_Identity, _Corrections] = OrderedDict()

    def __len__(self) -> int:
        """Of how many objects corrections are remembered, each counted for every key that it was corrected for."""
        return len(self._corrections)

    def carried_out(self, key: ObjectKey, results: Iterable[WriteResult], now: float) -> Slowdown | None:
        """Note what was carried out for a key in one reconciliation; how it is slowed down if that is a conflict.

        Args:
            key: whose turn it was.
            results: of the actions that the server carried out, with the objects that it stored.
            now: a monotonic time in seconds.
        """
        wait, begun = 0.0, []
        for result in results:
            action = result.action
            before, after = self._noted(key, result, now)
            wait = max(wait, after.wait)
            if after.wait and not before:
                begun.append(WriteConflict(action, len(after.times), now - after.times[0]))
        self._forget(now)
        return Slowdown(wait, tuple(begun)) if wait else None

    def concerns_itself(self, key: ObjectKey, resource: Resource, cluster: Cluster) -> bool:
        """Whether what is fought over for a key is the very object of that name, as far as is known."""
        return self.concerns(key, resource, key, cluster)

    def concerns(self, key: ObjectKey, resource: Resource, place: ObjectKey, cluster: Cluster) -> bool:
        """Whether an object is fought over for a key, as far as is known."""
        corrections = self._corrections.get(hash((key, cluster, resource, place)))
        return corrections is not None and corrections.wait > 0

    def _noted(self, key: ObjectKey, result: WriteResult, now: float) -> tuple[bool, _Corrections]:
        """Whether the object was fought over before, and its corrections including this one."""
        action = result.action
        identity = hash((key, action.cluster, action.resource, action.key))
        before = self._corrections.get(identity)
        after = _Corrections(None, (now,)) if before is None else _after(before, result, now, self._longest_wait)
        self._corrections[identity] = after
        self._corrections.move_to_end(identity)
        return before is not None and before.wait > 0 and after.wait > 0, after

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
    written = hash((type(action), action.reason, repr(_written_by(action))))
    if stored is None or isinstance(action, Delete):
        return (written,)
    after = _without_version(stored, is_status=action.subresource == "status")
    return written, hash((action.subresource, repr(after)))


def _written_by(action: Action) -> object:
    match action:
        case Create():
            return action.subresource, action.manifest
        case Update():
            return action.subresource, _without_version(action.manifest, is_status=action.subresource == "status")
        case MergePatch():
            return action.subresource, action.patch
        case JsonPatch():
            return action.subresource, action.operations
        case Delete():
            return None


def _without_version(manifest: Manifest, *, is_status: bool) -> Manifest:
    """The object without what differs with every version of it, and without the status unless that is written."""
    metadata = manifest.get("metadata") or {}
    shown = {name: value for name, value in metadata.items() if name not in _VERSION_FIELDS}
    return {**manifest, "metadata": shown, "status": manifest.get("status") if is_status else None}
