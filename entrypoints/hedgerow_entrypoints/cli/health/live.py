"""The health of what ManagedResources have applied into a cluster, which is only read.

Each kind is listed once, page by page; of an object no more is kept than what is told of it.
"""

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import TypeAlias

from hedgerow.api.kubernetes import NAMESPACES, PODS
from hedgerow.api.managed_objects import is_metadata_only, transform_of
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.machinery.clusters import EVERYTHING, ReadScope
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, key_of, labels_of
from hedgerow.machinery.questions import Kinds, NotAnswered
from hedgerow.machinery.reading import UnreadableError
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.resource_manager.health.object_progress import counts_pods, pods_of
from hedgerow.resource_manager.health.verdicts import Absence
from hedgerow_adapters.files.scopes import DEFAULT_NAMESPACE
from hedgerow_adapters.files.sources import printable
from hedgerow_adapters.kubernetes.live_reads import (
    ListingError,
    UnknownResourceError,
    UnreachableError,
    list_transformed,
)
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.requests import UnaddressableError
from hedgerow_adapters.protocol.responses import status_error
from hedgerow_adapters.protocol.transport import Transport, TransportError
from hedgerow_entrypoints.cli.health.verdicts import MANAGED_RESOURCE, Judgement, Subject, Verdict, applied_by, judged
from hedgerow_entrypoints.errors import CommandError, abridged

LookUp: TypeAlias = Callable[[Iterable[Kind]], Awaitable[Kinds]]
"""Finds out as which resource a cluster serves each of some kinds."""


_Applied: TypeAlias = tuple[Verdict, tuple[Subject, ...]]
"""A ManagedResource as far as it is judged: its verdict, and what it has applied."""


async def judgement_of(transport: Transport, look_up: LookUp, namespace: str) -> Judgement:
    """The verdict on each ManagedResource of a namespace, or of all, and behind it on the objects that it has applied.

    Raises:
        CommandError: the cluster does not answer, does not show its ManagedResources, or has no such namespace.
    """
    try:
        return await _Course(transport).run(look_up, namespace)
    except UnreachableError as error:
        raise CommandError(str(error)) from error


class _Course:
    """One look at a cluster: what is told of its objects so far, and what is not."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._verdicts: dict[Subject, Verdict] = {}
        self._problems: list[str] = []

    async def run(self, look_up: LookUp, namespace: str) -> Judgement:
        applied = await self._managed_resources(namespace)
        if namespace and not applied:
            await self._ensure_there_is(namespace)
        self._verdicts.update((verdict.subject, verdict) for verdict, _ in applied)
        wanted: dict[Kind, set[ObjectKey]] = {}
        for subject in (subject for _, references in applied for subject in references):
            if subject not in self._verdicts:
                wanted.setdefault(subject.kind, set()).add(subject.key)
        kinds = await look_up(wanted)
        for kind, keys in wanted.items():
            resource = kinds[kind]
            if isinstance(resource, NotAnswered):
                self._without_resource(kind, keys, resource)
            else:
                await self._judge(resource, keys)
        in_order = dict.fromkeys(subject for verdict, all_ in applied for subject in (verdict.subject, *all_))
        told = (self._verdicts.get(subject) for subject in in_order)
        return Judgement(tuple(verdict for verdict in told if verdict), tuple(self._problems))

    async def _managed_resources(self, namespace: str) -> list[_Applied]:
        try:
            return await list_transformed(self._transport, MANAGED_RESOURCES, ReadScope(namespace), _applied)
        except UnreachableError:
            raise
        except UnknownResourceError as error:
            raise CommandError(f"the cluster does not know {MANAGED_RESOURCES}: {error}") from error
        except ListingError as error:
            raise CommandError(str(error)) from error
        except UnaddressableError as error:
            raise CommandError(f"namespace: {error}") from error

    async def _ensure_there_is(self, namespace: str) -> None:
        """Nobody who mistypes a name is to be told that all is well.

        Who may not read Namespaces is told no more than that nothing is in this one.
        """
        try:
            response = await self._transport.send(requests.get(NAMESPACES, ObjectKey("", namespace)))
        except TransportError as error:
            raise CommandError(str(error)) from error
        if not response.is_success and status_error(response).is_absence_of(namespace):
            raise CommandError(f'namespaces "{namespace}" not found')

    def _without_resource(self, kind: Kind, keys: Collection[ObjectKey], why: NotAnswered) -> None:
        if not why.is_not_found:
            self._not_judged(why.message, kind, keys)
            return
        for subject in (Subject(kind, key) for key in keys):
            self._verdicts[subject] = judged(subject, Absence.NOT_SERVED)

    def _not_judged(self, why: str, kind: Kind, keys: Collection[ObjectKey], what: str = "judge") -> None:
        names = abridged([printable(str(Subject(kind, key))) for key in sorted(keys)])
        self._problems.append(f"{printable(why)}: cannot {what} {names}")

    async def _judge(self, resource: Resource, keys: Collection[ObjectKey]) -> None:
        """Judge the objects of a kind. Those that their list does not hold do not exist."""
        # A reference may name a namespace although its kind turned out to have none.
        kind, namespaced = resource.object_kind, resource.namespaced
        places = {key: ObjectKey((key.namespace or DEFAULT_NAMESPACE) if namespaced else "", key.name) for key in keys}
        try:
            found = await self._found(resource, set(places.values()))
        except UnreachableError:
            raise
        except ListingError as error:
            self._not_judged(str(error), kind, keys)
            return
        for key, place in places.items():
            missing = judged(Subject(kind, key), Absence.NOT_FOUND)
            self._verdicts[missing.subject] = found.get(Subject(kind, place), missing)

    async def _found(self, resource: Resource, keys: Collection[ObjectKey]) -> Mapping[Subject, Verdict]:
        kind = resource.object_kind
        if counts_pods(kind):
            return await self._deployments(resource, keys)

        def keep(live: Manifest) -> Verdict | None:
            return judged(Subject(kind, key_of(live)), live) if key_of(live) in keys else None

        scope, metadata_only = _scope_of(keys), is_metadata_only(resource)
        verdicts = await list_transformed(self._transport, resource, scope, keep, metadata_only=metadata_only)
        return {verdict.subject: verdict for verdict in verdicts}

    async def _deployments(self, resource: Resource, keys: Collection[ObjectKey]) -> Mapping[Subject, Verdict]:
        """Deployments, whose pods are counted where there is nothing else to wait for."""
        found = await _deployments_of(self._transport, resource, keys)
        verdicts = {key: judged(Subject(resource.object_kind, key), live) for key, live in found.items()}
        counting = {key: found[key] for key, verdict in verdicts.items() if verdict.progressing is False}
        try:
            counts = await _pod_counts(self._transport, counting)
        except UnreachableError:
            raise
        except ListingError as error:
            self._not_judged(str(error), resource.object_kind, counting.keys(), what="count the pods of")
            counts = {}
        for key, count in counts.items():
            verdicts[key] = judged(Subject(resource.object_kind, key), found[key], count)
        return {verdict.subject: verdict for verdict in verdicts.values()}


def _applied(managed_resource: Manifest) -> _Applied:
    """What is kept of a ManagedResource; one whose references nobody can read is judged all the same, and says so."""
    subject = Subject(MANAGED_RESOURCE, key_of(managed_resource))
    try:
        references = applied_by(managed_resource)
    except UnreadableError:
        references = ()
    return judged(subject, managed_resource), references


def _scope_of(keys: Collection[ObjectKey]) -> ReadScope:
    """What has to be listed to see certain objects: their namespace if they share one, else all."""
    namespaces = {key.namespace for key in keys}
    return ReadScope(namespaces.pop()) if len(namespaces) == 1 else EVERYTHING


async def _deployments_of(
    transport: Transport, resource: Resource, keys: Collection[ObjectKey]
) -> Mapping[ObjectKey, Manifest]:
    """Those of certain Deployments that exist, as far as rules read them."""
    kept = transform_of(resource)

    def keep(live: Manifest) -> Manifest | None:
        return kept(live) if key_of(live) in keys else None

    return {key_of(live): live for live in await list_transformed(transport, resource, _scope_of(keys), keep)}


async def _pod_counts(transport: Transport, deployments: Mapping[ObjectKey, Manifest]) -> Mapping[ObjectKey, int]:
    """How many pods each Deployment selects, if that can be read in it."""
    selectors = {key: selector for key, live in deployments.items() if (selector := pods_of(live)) is not None}
    if not selectors:
        return {}
    by_namespace: dict[str, dict[ObjectKey, LabelSelector]] = defaultdict(dict)
    for key, selector in selectors.items():
        by_namespace[key.namespace][key] = selector

    def keep(pod: Manifest) -> tuple[ObjectKey, ...] | None:
        labels, selectors = labels_of(pod), by_namespace.get(key_of(pod).namespace, {})
        return tuple(key for key, selector in selectors.items() if selector.matches(labels)) or None

    selected = await list_transformed(transport, PODS, _scope_of(selectors), keep, metadata_only=True)
    counts = Counter(key for keys in selected for key in keys)
    return {key: counts[key] for key in selectors}
