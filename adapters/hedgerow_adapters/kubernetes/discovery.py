"""As which resource an API server serves a kind.

Expected flow: `look_up` asks, `known` shows what has been found out since; all who read a cluster share both.
Guarantees: one request for a group and version at a time, which all who wait share. What is served is known until
something hints at a change; as not every change does, it is looked at again from time to time. That a kind
is not served is known for a minute; for some seconds where it is new, as a server that has just started does not know
yet all that it serves; for a second after a hint that it may be served soon, as a definition takes a moment to be
established. That there was no answer is not known afterwards. A kind that is built in, and was served once, never
counts as absent: an API server does not unlearn it.

Source: Kubernetes documentation, "The Kubernetes API", discovery; managed-resources §4.2; decision "absence".
"""

import asyncio
from collections.abc import Callable, Iterable
from types import MappingProxyType
from typing import Final, NamedTuple

from hedgerow.machinery.objects import Kind, ObjectKey, Resource
from hedgerow.machinery.questions import Kinds, NotAnswered, defines_kinds
from hedgerow_adapters.kubernetes.live_reads import look
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.documents import Served, is_built_in, no_match
from hedgerow_adapters.protocol.transport import Transport

# In seconds. For so long it is known that a kind is not served: usually, where nothing was known of its group and
# version before, and where something has hinted that it may be served soon.
MISSING_FOR: Final = 60.0
MISSING_AT_FIRST: Final = 4.0
MISSING_FOR_NOW: Final = 1.0
OF_LATE: Final = 60.0
"""For so long a hint counts."""
CHECKED_EVERY: Final = 600.0
"""How often the server is asked whether it still serves what it served."""
CONFIRMED_AFTER: Final = 5.0
"""When it is asked again where it seems not to."""
_LONG_AGO: Final = float("-inf")


class _Whole(NamedTuple):
    served: Served
    end: asyncio.TimerHandle


class Discovery:
    """What is known of the kinds of one cluster."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._known: dict[Kind, Resource | NotAnswered] = {}
        self.known: Final[Kinds] = MappingProxyType(self._known)
        """As it is now; for as long as who reads it awaits nothing, it stays so."""
        self._complete: dict[str, _Whole] = {}
        self._watchable: set[Resource] = set()
        self._under_way: dict[str, asyncio.Future[Served | NotAnswered | None]] = {}
        self._hinted: dict[str, float] = {}
        """When it was last hinted of a group that something about it may have changed."""
        self._anything_hinted = _LONG_AGO
        self._waiting: dict[Kind, asyncio.Future[None]] = {}
        self._built_in: set[Resource] = set()
        self._looked_at: set[str] = set()
        self._checks: dict[str, asyncio.TimerHandle] = {}
        self._checking: set[asyncio.Task[None]] = set()

    async def look_up(self, kinds: Iterable[Kind]) -> Kinds:
        """As which resource each kind is served, or why not, even if `known` does not keep that."""
        wanted = list(dict.fromkeys(kinds))
        answers = {kind: self._known[kind] for kind in wanted if kind in self._known}
        open_kinds = [kind for kind in wanted if kind not in answers]
        versions = list(dict.fromkeys(kind.api_version for kind in open_kinds if not _problem_of(kind)))
        looked = dict(zip(versions, await asyncio.gather(*map(self._contents, versions)), strict=True))
        return answers | {kind: self._conclude(kind, looked.get(kind.api_version)) for kind in open_kinds}

    def is_watchable(self, resource: Resource) -> bool:
        """Whether the objects of a resource that was found can be listed and watched."""
        return resource in self._watchable

    def may_have_changed(self, resource: Resource, key: ObjectKey | None = None) -> None:
        """An object was written, or seen to change: if it is one that defines kinds, forget what may be different.

        The name in its key tells the group that it is about; without a key it may be any group.
        """
        if not defines_kinds(resource):
            return
        now = asyncio.get_running_loop().time()
        if key is None:
            self._anything_hinted = now
            for api_version in {*self._complete, *self._under_way}:
                self._forget_missing(api_version)
            return
        group = key.name.partition(".")[2]
        self._hinted = {other: at for other, at in self._hinted.items() if now - at < OF_LATE} | {group: now}
        for api_version in {*self._complete, *self._under_way, *(kind.api_version for kind in self._known)}:
            if Kind(api_version, "").group == group:
                self._forget(api_version)

    async def lacks(self, resource: Resource) -> bool:
        """True if a discovery document of the server lacks a resource; asked after a 404 that names no object."""
        if resource in self._built_in:
            return False
        self.in_doubt(resource)
        kind = resource.object_kind
        answer = (await self.look_up([kind]))[kind]
        return answer.is_unserved if isinstance(answer, NotAnswered) else answer != resource

    def was_served(self, resource: Resource) -> None:
        """Remember that the server has shown the objects of a resource."""
        if is_built_in(resource.object_kind):
            self._built_in.add(resource)

    def in_doubt(self, resource: Resource) -> None:
        """Forget that a resource is served: a 404 that names no object may mean that it no longer is."""
        if self._known.get(resource.object_kind) == resource:
            self._forget(resource.api_version)

    async def until_forgotten(self, kind: Kind) -> None:
        """Return when what is known of a kind is no longer, at once if nothing is."""
        if kind in self._known:
            await asyncio.shield(self._waiting.setdefault(kind, asyncio.get_running_loop().create_future()))

    async def _contents(self, api_version: str) -> Served | NotAnswered:
        while (known := self._complete.get(api_version)) is None:
            under_way = self._under_way.get(api_version)
            if under_way is None:
                return await self._ask(api_version)
            looked = await asyncio.shield(under_way)
            if looked is not None:  # else who asked has given up
                return looked
        return known.served

    async def _ask(self, api_version: str) -> Served | NotAnswered:
        answer = self._under_way[api_version] = asyncio.get_running_loop().create_future()
        looked: Served | NotAnswered | None = None
        try:
            looked = await look(self._transport, api_version)
        finally:
            answer.set_result(looked)
            if self._under_way.get(api_version) is answer:
                del self._under_way[api_version]
                if isinstance(looked, Served):
                    self._keep(api_version, looked)
        return looked

    def _keep(self, api_version: str, served: Served) -> None:
        self._drop(api_version, lambda answer: not served.holds(answer))
        self._known |= {resource.object_kind: resource for resource in served.resources.values()}
        for resource in served.resources.values():
            self.was_served(resource)
        self._watchable = self._watchable.difference(served.resources.values()) | served.watchable
        loop = asyncio.get_running_loop()
        hinted = max(self._anything_hinted, self._hinted.get(Kind(api_version, "").group, _LONG_AGO))
        lifetime = MISSING_FOR if api_version in self._looked_at else MISSING_AT_FIRST
        if loop.time() - hinted < OF_LATE:
            lifetime = MISSING_FOR_NOW
        self._looked_at.add(api_version)
        self._check_after(CHECKED_EVERY, api_version)
        self._complete[api_version] = _Whole(served, loop.call_later(lifetime, self._forget_missing, api_version))

    def _check_after(self, seconds: float, api_version: str, *, is_in_doubt: bool = False) -> None:
        self._stop_checking(api_version)

        def check() -> None:
            task = asyncio.create_task(self._check(api_version, is_in_doubt=is_in_doubt))
            self._checking.add(task)
            task.add_done_callback(self._checking.discard)

        self._checks[api_version] = asyncio.get_running_loop().call_later(seconds, check)

    def _stop_checking(self, api_version: str) -> None:
        if (check := self._checks.pop(api_version, None)) is not None:
            check.cancel()

    async def _check(self, api_version: str, *, is_in_doubt: bool) -> None:
        """See whether what is known to be served still is; forget it where a second look, too, says that it is not."""
        looked = await look(self._transport, api_version)
        known = [each for kind, each in self._known.items() if kind.api_version == api_version]
        served = [each for each in known if isinstance(each, Resource)]
        if not served:
            self._stop_checking(api_version)
        elif not isinstance(looked, Served) or all(map(looked.holds, served)):
            self._check_after(CHECKED_EVERY, api_version)
        elif is_in_doubt:
            self._forget(api_version)
        else:
            self._check_after(CONFIRMED_AFTER, api_version, is_in_doubt=True)

    def _conclude(self, kind: Kind, looked: Served | NotAnswered | None) -> Resource | NotAnswered:
        if problem := _problem_of(kind):
            return NotAnswered(400, "BadRequest", problem)
        match looked:
            case NotAnswered():
                return looked
            case Served(resources) if kind.kind in resources:
                return resources[kind.kind]
        if any(resource.object_kind == kind for resource in self._built_in):
            problem = f'kind "{kind.kind}" in version "{kind.api_version}" is built in, and discovery lacks it'
            return NotAnswered(503, "ServiceUnavailable", problem)
        missing = no_match(kind)
        known = self._complete.get(kind.api_version)
        is_kept = known is not None and known.served is looked
        return self._known.setdefault(kind, missing) if is_kept else missing

    def _forget_missing(self, api_version: str) -> None:
        """Forget what is not served; an answer that is under way may be one of before, and is not kept."""
        self._drop(api_version, lambda answer: isinstance(answer, NotAnswered))

    def _forget(self, api_version: str) -> None:
        self._stop_checking(api_version)
        self._looked_at.discard(api_version)
        self._drop(api_version, lambda _answer: True)

    def _drop(self, api_version: str, concerned: Callable[[Resource | NotAnswered], bool]) -> None:
        self._under_way.pop(api_version, None)
        if (known := self._complete.pop(api_version, None)) is not None:
            known.end.cancel()
        of_version = [(kind, answer) for kind, answer in self._known.items() if kind.api_version == api_version]
        for kind, answer in of_version:
            if concerned(answer):
                del self._known[kind]
                if isinstance(answer, Resource):
                    self._watchable.discard(answer)
                if (waiting := self._waiting.pop(kind, None)) is not None:
                    waiting.set_result(None)


def _problem_of(kind: Kind) -> str | None:
    if not kind.kind:
        return f'an object of version "{kind.api_version}" has no kind'
    if not kind.api_version:
        return f'an object of kind "{kind.kind}" has no apiVersion'
    try:
        requests.resources_of(kind.api_version)
    except requests.UnaddressableError:
        return f'unexpected apiVersion "{kind.api_version}": it is neither a version nor a group and a version'
    return None
