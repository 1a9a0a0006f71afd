"""Holds mass deletions back until it is clear that they are intended.

The core judges. This module tells it how much the controller would delete altogether, and takes the fresh lists that
the core may want first.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from hedgerow.api.kubernetes import CUSTOM_RESOURCE_DEFINITIONS, NAMESPACES
from hedgerow.machinery import deletion_guard as guard
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change, Context, Controller, is_owned, keys_from, primary_object
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, is_terminating, key_of
from hedgerow.machinery.plan import Plan, actions_in
from hedgerow.machinery.questions import NOT_FOUND, Found, ListQuestion, NotAnswered, ObjectQuestion
from hedgerow.machinery.steps import AtOnce, Execution, Step
from hedgerow_adapters.cache import StoreSnapshot
from hedgerow_adapters.clock import utc_now
from hedgerow_adapters.slices import slices

STOPPED_FOR: Final = 60.0
"""Seconds for which a refusal stands before the next forecast."""
COVERED_FOR: Final = 60.0
"""Seconds for which a forecast covers deletions."""
LISTED_WITHIN: Final = 60.0
"""Seconds that fresh lists may take; without them nothing is confirmed."""
BREATH: Final = 20
"""Decisions of a forecast between which others get a turn."""
MOST_READS: Final = 100
"""Steps of one decision in a forecast."""
_Deleted: TypeAlias = Mapping[ObjectKey, frozenset[str]]
"""The objects that would be deleted, by the keys that would delete them."""


class Forecast(NamedTuple):
    """How many objects a controller would delete if every key had its turn now, and how many it owns.

    Deletions for owners that were seen to go or to change are left out.
    """

    deletions: int
    owned: int

    def __str__(self) -> str:
        """The clause of the event."""
        return f"{self.deletions} of {self.owned} owned objects would be deleted"


class _Held(NamedTuple):
    """What is held back in one namespace since the guard stopped."""

    fingerprint: str
    deleted: _Deleted


class DeletionGuard:
    """Which deletions of one controller may proceed.

    An explicit event of the owner is evidence: somebody deleted it, or changed what it asks for. Every other deletion
    needs a forecast over all keys. The forecast covers as many deletions as it found acceptable, until a list replaces
    a cache or `COVERED_FOR` has passed. A refusal stands for `STOPPED_FOR`, or until so many of the objects are gone
    that the rest is harmless.

    An annotation on the owner, or on its Namespace, allows the deletions whose fingerprint it holds. That ends with the
    key's next turn that deletes nothing.

    A controller without `owned` is not guarded.

    Expected flow: ask `allows` about a new plan. If it says no, `look_again`, and make the plan again: the caches may
    have changed.
    """

    def __init__(
        self, controller: Controller[Any], snapshot: StoreSnapshot, relist: Callable[[], Awaitable[None]]
    ) -> None:
        self._controller = controller
        self._owned = controller.owned
        self._snapshot = snapshot
        self._relist = relist
        self._seen_to_go: set[ObjectKey] = set()
        self._seen_to_change: set[ObjectKey] = set()
        self._covered = 0
        self._covered_until = float("-inf")
        self._stopped_until = float("-inf")
        self._refused = Forecast(0, 0)
        self._held: dict[str, _Held] = {}
        self._told: set[str] = set()
        """The namespaces that had an event about it."""
        self._allowed: dict[ObjectKey, frozenset[str]] = {}
        self._replacements = 0
        self._judging = asyncio.Lock()

    def owner_changed(self, change: Change) -> None:
        """Note an explicit event of the primary resource; what a list leaves out is no such event."""
        if self._owned is None:
            return
        if change.new is None and change.old is not None:
            self._seen_to_go.add(key_of(change.old))
            self._seen_to_change.discard(key_of(change.old))
            self._refuse_less(len(self._snapshot.by_index(self._owned, key_of(change.old))))
        elif change.new is not None:
            self._seen_to_go.discard(key_of(change.new))
            if change.old is not None and not guard.only_allowance_changed(change.old, change.new):
                self._seen_to_change.add(key_of(change.new))

    def owned_changed(self, change: Change) -> None:
        """Note a change of an owned object: with the last one of an owner that went, its going is history."""
        for owner in self._owned.values(change.old) if self._owned is not None and change.old is not None else ():
            if change.new is None and owner not in self._seen_to_go:
                self._refuse_less(1)
            self.forget_if_bare(owner)

    def _refuse_less(self, gone: int) -> None:
        """Note that so many refused objects are gone; end the refusal once the rest is harmless."""
        self._refused = self._refused._replace(deletions=self._refused.deletions - gone)
        if guard.judge_deletions(*self._refused, confirmed=False) is guard.Verdict.PROCEED:
            self._stopped_until = float("-inf")

    def forget_if_bare(self, key: ObjectKey) -> None:
        """Forget a deleted owner that owns nothing any more; its key may never get another turn."""
        if self._owned is not None and key in self._seen_to_go and not self._snapshot.by_index(self._owned, key):
            self._seen_to_go.discard(key)

    def replaced(self) -> None:
        """Forget forecast and evidence, as a list has replaced a cache."""
        self._covered = 0
        self._replacements += 1
        self._seen_to_change.clear()
        self._seen_to_go = {key for key in self._seen_to_go if self._owner(key) is None}

    def reconfigure(self, controller: Controller[Any]) -> None:
        """Use another configuration; forecasts, refusals and allowances of the last one end."""
        self._controller = controller
        self.replaced()
        self._stopped_until = float("-inf")
        self._held.clear()
        self._allowed.clear()

    def settled(self, key: ObjectKey) -> None:
        """A key has nothing left to delete."""
        self._seen_to_go.discard(key)
        self._seen_to_change.discard(key)
        self._allowed.pop(key, None)

    def allows(self, key: ObjectKey, plan: Plan, controller: Controller[Any]) -> bool:
        """True if a new plan may delete what it wants to; its deletions are then no longer covered.

        No forecast covers the plans of a `controller` whose configuration was replaced since.
        """
        if self._owned is None or self._owner_was_seen(key) or self._is_allowed(key, plan):
            return True
        if controller is not self._controller or plan.deletions > self._left():
            return False
        self._covered -= plan.deletions
        return True

    def accept_annotation(self, key: ObjectKey, plan: Plan) -> str | None:
        """Allow a plan that an annotation allows; return the note of the event, none without an annotation."""
        owner, deleted = self._owner(key), guard.deleted_by(plan)
        if guard.is_allowed_by(owner, guard.fingerprint(deleted)):
            return self._accept({key: deleted}, f"{self._controller.primary.kind} {key}")
        held = self._held.get(key.namespace)
        if held is None or not deleted <= held.deleted.get(key, frozenset()):
            return None
        if guard.is_allowed_by(self._namespace(key.namespace), held.fingerprint):
            return self._accept(held.deleted, f"Namespace {key.namespace}")
        return None

    def _accept(self, deleted: _Deleted, annotated: str) -> str:
        self._allowed.update(deleted)
        return f"the annotation {guard.ALLOW_DELETIONS} of {annotated} allows {_count(deleted)} deletions"

    def _is_allowed(self, key: ObjectKey, plan: Plan) -> bool:
        return key in self._allowed and guard.deleted_by(plan) <= self._allowed[key]

    def note_of_stop(self, key: ObjectKey, plan: Plan) -> str | None:
        """The note of the event for a plan that is held back; none if its namespace has had one."""
        if key.namespace in self._told or self._now() >= self._stopped_until:
            return None
        self._told.add(key.namespace)
        sentences = [f"deletions are held back: {self._refused}"]
        if self._owner(key) is not None:
            owner = f"{self._controller.primary.kind} {key}"
            value = guard.fingerprint(guard.deleted_by(plan))
            sentences.append(_way(f"the {plan.deletions} of this object", owner, value))
        held = self._held.get(key.namespace)
        if held is not None and self._namespace(key.namespace) is not None:
            deletions = f"the {_count(held.deleted)} of this namespace"
            sentences.append(_way(deletions, f"Namespace {key.namespace}", held.fingerprint))
        return "; ".join(sentences)

    def _namespace(self, name: str) -> Manifest | None:
        """The Namespace of owners, if the controller watches Namespaces."""
        cluster = self._controller.primary_cluster
        watched = {(watch.resource, watch.cluster) for watch in self._controller.watches}
        if not name or (NAMESPACES, cluster) not in watched:
            return None
        return self._snapshot.get(NAMESPACES, ObjectKey("", name), cluster)

    async def look_again(self, deletions: int) -> Forecast | None:
        """Make a forecast for so many deletions, on fresh lists if the guard wants them; return it if it stops them."""
        async with self._judging:
            if deletions <= self._left() or self._now() < self._stopped_until:
                return None
            deleted, forecast, verdict = await self._judged()
            if verdict is guard.Verdict.PROCEED:
                self._covered = forecast.deletions + guard.ALWAYS_ALLOWED
                self._covered_until = self._now() + COVERED_FOR
                return None
            self._covered = 0
            self._stopped_until = self._now() + STOPPED_FOR
            self._refused = forecast
            grouped: defaultdict[str, dict[ObjectKey, frozenset[str]]] = defaultdict(dict)
            for key, of_key in deleted.items():
                grouped[key.namespace][key] = of_key
            self._held.clear()
            for name, keys in grouped.items():
                self._held[name] = _Held(guard.fingerprint(frozenset().union(*keys.values())), keys)
            self._told.clear()
            return forecast

    def _left(self) -> int:
        return self._covered if self._now() < self._covered_until else 0

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _owner_was_seen(self, key: ObjectKey) -> bool:
        """True if the owner itself shows that its objects should go."""
        owner = self._owner(key)
        if owner is None:
            return key in self._seen_to_go
        return is_terminating(owner) or key in self._seen_to_change

    def _owner(self, key: ObjectKey) -> Manifest | None:
        return primary_object(self._controller, self._snapshot, key)

    async def _judged(self) -> tuple[_Deleted, Forecast, guard.Verdict]:
        deleted, forecast = await self._foresee()
        verdict = guard.judge_deletions(*forecast, confirmed=False)
        if verdict is not guard.Verdict.CONFIRM:
            return deleted, forecast, verdict
        try:
            async with asyncio.timeout(LISTED_WITHIN):
                await self._relist()
        except TimeoutError:
            return deleted, forecast, guard.Verdict.STOP
        deleted, forecast = await self._foresee()
        return deleted, forecast, guard.judge_deletions(*forecast, confirmed=True)

    async def _foresee(self) -> tuple[_Deleted, Forecast]:
        """A forecast during which no list has replaced a cache; others get a turn all the while."""
        while True:
            replacements = self._replacements
            deleted: dict[ObjectKey, frozenset[str]] = {}
            for position, key in enumerate(await self._all_keys(), start=1):
                if of_key := self._deleted_by(key):
                    deleted[key] = of_key
                if position % BREATH == 0:
                    await asyncio.sleep(0)
            forecast = Forecast(_count(deleted), await self._count_owned())
            if replacements == self._replacements:
                return deleted, forecast

    async def _all_keys(self) -> Mapping[ObjectKey, None]:
        keys: dict[ObjectKey, None] = {}
        for cluster in Cluster:
            for piece in slices(keys_from(self._controller, self._snapshot, cluster)):
                keys.update(dict.fromkeys(piece))
                await asyncio.sleep(0)
        return keys

    async def _count_owned(self) -> int:
        count = 0
        if self._owned is not None:
            for piece in slices(self._snapshot.list(self._owned.resource, cluster=self._owned.cluster)):
                count += sum(is_owned(self._controller, manifest) for manifest in piece)
                await asyncio.sleep(0)
        return count

    def _deleted_by(self, key: ObjectKey) -> frozenset[str]:
        """What a decision deletes first; a forecast reads only caches, so it ends where a decision needs more."""
        if self._owner_was_seen(key):
            return frozenset()
        context = Context(utc_now(), self._controller.config)
        try:
            decision = self._controller.reconcile(key, self._snapshot, context)
            with Execution(decision, key, most_steps=MOST_READS) as execution:
                state = execution.begin()
                while isinstance(state, Step) and (reply := self._cached_reply(state)) is not None:
                    state = execution.go_on(reply)
                plan = Plan(actions_in(state))
        except Exception:  # noqa: BLE001 -- it is told when the key's own turn comes, and deletes nothing until then
            return frozenset()
        return frozenset() if self._is_allowed(key, plan) else guard.deleted_by(plan)

    def _cached_reply(self, step: Step[Any]) -> Any:
        """The reply to a step that reads; none if the caches do not hold everything that it asks for.

        Definitions count as there: whatever a decision would delete only then is to be foreseen as well.
        """
        match step:
            case AtOnce(steps):
                replies = tuple(map(self._cached_reply, steps))
                return None if None in replies else replies
            case ObjectQuestion(resource, key) if resource == CUSTOM_RESOURCE_DEFINITIONS:
                return Found(({"metadata": {"name": key.name}},))
            case ObjectQuestion(resource, key, cluster) if self._is_cached(resource, cluster, key.namespace):
                found = self._snapshot.get(resource, key, cluster)
                return NotAnswered(404, NOT_FOUND, "it is in no cache") if found is None else Found((found,))
            case ListQuestion(resource, cluster, namespace, labels, fields) if self._is_cached(
                resource, cluster, namespace, (labels, fields)
            ):
                return Found(tuple(self._snapshot.list(resource, namespace=namespace or None, cluster=cluster)))
        return None

    def _is_cached(
        self, resource: Resource, cluster: Cluster, namespace: str, selectors: tuple[str, str] = ("", "")
    ) -> bool:
        """True if a watch reads exactly what these selectors select; caches need not hold what others go by."""
        return self._snapshot.has_synced(resource, cluster) and any(
            (watch.resource, watch.cluster, watch.label_selector, watch.field_selector)
            == (resource, cluster, *selectors)
            and watch.namespace in {"", namespace}
            for watch in self._controller.watches
        )


def _count(deleted: _Deleted) -> int:
    return sum(map(len, deleted.values()))


def _way(what: str, annotated: str, value: str) -> str:
    return f"to allow {what}, annotate {annotated} with {guard.ALLOW_DELETIONS}={value}"
