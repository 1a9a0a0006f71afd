"""The health of what ManagedResources have applied into a cluster, in which each kind is listed once, page by page."""

from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from typing import Final, TypeAlias

from hedgerow.api.kubernetes import NAMESPACES, PODS
from hedgerow.api.managed_objects import is_metadata_only, transform_of
from hedgerow.api.managed_resources import MANAGED_RESOURCES, ClassFilter
from hedgerow.machinery.clusters import EVERYTHING, ReadScope
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, Resource, key_of, labels_of
from hedgerow.machinery.questions import Kinds, NotAnswered
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.resource_manager.health.object_progress import counts_pods, pods_of
from hedgerow.resource_manager.health.verdicts import Absence
from hedgerow_adapters.files.scopes import DEFAULT_NAMESPACE
from hedgerow_adapters.files.sources import printable
from hedgerow_adapters.kubernetes.live_reads import ListingError, UnknownResourceError, list_transformed
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.requests import UnaddressableError
from hedgerow_adapters.protocol.responses import status_error
from hedgerow_adapters.protocol.transport import Transport, TransportError
from hedgerow_entrypoints.cli.health.verdicts import MANAGED_RESOURCE, Judgement, Subject, Verdict, applied_by, judged
from hedgerow_entrypoints.errors import CommandError, abridged

_INSTALL: Final = "it is not installed: `hedgerow crds managedresources | kubectl apply -f -`"
LookUp: TypeAlias = Callable[[Iterable[Kind]], Awaitable[Kinds]]


async def judgement_of(
    transport: Transport, look_up: LookUp, namespace: str, own_class: ClassFilter | None = None
) -> Judgement:
    """The verdict on each ManagedResource of a namespace, or of all, and then on the objects that it has applied."""
    try:
        return await _judgement_of(transport, look_up, namespace, own_class)
    except TransportError as error:
        raise CommandError(str(error)) from error


async def _judgement_of(
    transport: Transport, look_up: LookUp, namespace: str, own_class: ClassFilter | None
) -> Judgement:
    managed_resources = await _managed_resources(transport, namespace, own_class)
    if namespace and not managed_resources:
        await _ensure_there_is(transport, namespace)
    judge = _Judge(transport, {verdict.subject: verdict for verdict, _ in managed_resources})
    in_order = dict.fromkeys(
        subject for verdict, applied in managed_resources for subject in (verdict.subject, *applied)
    )
    wanted: dict[Kind, set[ObjectKey]] = {}
    for subject in in_order:
        if subject not in judge.verdicts:
            wanted.setdefault(subject.kind, set()).add(subject.key)
    kinds = await look_up(wanted)
    for kind, keys in wanted.items():
        await judge.judge(kind, kinds[kind], keys)
    return Judgement(tuple(judge.verdicts[each] for each in in_order if each in judge.verdicts), tuple(judge.problems))


async def _managed_resources(
    transport: Transport, namespace: str, own_class: ClassFilter | None
) -> list[tuple[Verdict, tuple[Subject, ...]]]:
    def kept(live: Manifest) -> tuple[Verdict, tuple[Subject, ...]]:
        return judged(Subject(MANAGED_RESOURCE, key_of(live)), live, own_class=own_class), applied_by(live)

    try:
        return await list_transformed(transport, MANAGED_RESOURCES, ReadScope(namespace), kept)
    except UnknownResourceError as error:
        raise CommandError(f"the cluster does not know {MANAGED_RESOURCES}: {_INSTALL}") from error
    except ListingError as error:
        raise CommandError(str(error)) from error
    except UnaddressableError as error:
        raise CommandError(f"namespace: {error}") from error


async def _ensure_there_is(transport: Transport, namespace: str) -> None:
    """Refuse a mistyped name, as far as the user may read Namespaces, instead of saying that all is well."""
    response = await transport.send(requests.get(NAMESPACES, ObjectKey("", namespace)))
    if not response.is_success and status_error(response).is_absence_of(namespace):
        raise CommandError(f'namespaces "{namespace}" not found')


class _Judge:
    """Looks at a cluster, kind by kind: the verdicts so far, and why there are none on other objects."""

    def __init__(self, transport: Transport, verdicts: dict[Subject, Verdict]) -> None:
        self.verdicts = verdicts
        self.problems: list[str] = []
        self._transport = transport

    async def judge(self, kind: Kind, resource: Resource | NotAnswered, keys: Collection[ObjectKey]) -> None:
        """Judge the objects of a kind. Those that their list does not hold do not exist."""
        if isinstance(resource, NotAnswered):
            if resource.is_not_found:
                subjects = [Subject(kind, key) for key in keys]
                self.verdicts.update((each, judged(each, Absence.NOT_SERVED)) for each in subjects)
            else:
                self._not_judged(resource.message, kind, keys)
            return
        # A reference may name a namespace although its kind turned out to have none.
        namespaced = resource.namespaced
        places = {key: ObjectKey((key.namespace or DEFAULT_NAMESPACE) if namespaced else "", key.name) for key in keys}
        try:
            found = await self._found(resource, {*places.values()})
        except ListingError as error:
            self._not_judged(str(error), kind, keys)
            return
        for key, place in places.items():
            subject = Subject(kind, key)
            self.verdicts[subject] = found.get(place) or judged(subject, Absence.NOT_FOUND)

    def _not_judged(self, why: str, kind: Kind, keys: Collection[ObjectKey], what: str = "judge") -> None:
        names = abridged([printable(str(Subject(kind, key))) for key in sorted(keys)])
        self.problems.append(f"{printable(why)}: cannot {what} {names}")

    async def _found(self, resource: Resource, keys: Collection[ObjectKey]) -> Mapping[ObjectKey, Verdict]:
        """The verdicts on those objects that exist; pods are counted where a rollout waits for nothing else."""
        kind, counts = resource.object_kind, counts_pods(resource.object_kind)

        def kept(live: Manifest) -> tuple[Verdict, Manifest | None] | None:
            if key_of(live) not in keys:
                return None
            verdict = judged(Subject(kind, key_of(live)), live)
            return verdict, transform_of(resource)(live) if counts and verdict.progressing is False else None

        metadata_only = is_metadata_only(resource) and not counts
        found = await list_transformed(self._transport, resource, _scope_of(keys), kept, metadata_only=metadata_only)
        counting = {key_of(live): live for _, live in found if live is not None}
        try:
            pods = await _pod_counts(self._transport, counting)
        except ListingError as error:
            self._not_judged(str(error), kind, counting, what="count the pods of")
            pods = {}
        of_counted = {key: judged(Subject(kind, key), counting[key], count) for key, count in pods.items()}
        return {verdict.subject.key: verdict for verdict, _ in found} | of_counted


async def _pod_counts(transport: Transport, deployments: Mapping[ObjectKey, Manifest]) -> Mapping[ObjectKey, int]:
    selectors = {key: selector for key, live in deployments.items() if (selector := pods_of(live)) is not None}
    if not selectors:
        return {}
    by_namespace: dict[str, dict[ObjectKey, LabelSelector]] = defaultdict(dict)
    for key, selector in selectors.items():
        by_namespace[key.namespace][key] = selector

    def selecting(pod: Manifest) -> tuple[ObjectKey, ...] | None:
        labels, near = labels_of(pod), by_namespace.get(key_of(pod).namespace, {})
        return tuple(key for key, selector in near.items() if selector.matches(labels)) or None

    selected = await list_transformed(transport, PODS, _scope_of(selectors), selecting, metadata_only=True)
    counts = Counter(key for keys in selected for key in keys)
    return {key: counts[key] for key in selectors}


def _scope_of(keys: Collection[ObjectKey]) -> ReadScope:
    """What has to be listed to see certain objects: their namespace if they share one, else all."""
    namespaces = {key.namespace for key in keys}
    return ReadScope(namespaces.pop()) if len(namespaces) == 1 else EVERYTHING
