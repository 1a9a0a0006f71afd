"""What webhooks look up while they review: what the files hold, and for the rest what a live cluster shows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from typing_extensions import override

from hedgerow.admission.webhook import Webhook
from hedgerow.api.kubernetes import NAMESPACES
from hedgerow.machinery.clusters import Cluster, visible_scopes
from hedgerow.machinery.controller import Read
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of, labels_of
from hedgerow.machinery.questions import (
    NOT_FOUND,
    Answer,
    Found,
    ListQuestion,
    NotAnswered,
    ObjectQuestion,
    Question,
    itself,
)
from hedgerow.machinery.reading import UnreadableError
from hedgerow.machinery.selectors import Labels
from hedgerow.machinery.snapshot import Index, Value
from hedgerow_adapters.cache import ObjectStore, StoreSnapshot, UnfiledError
from hedgerow_adapters.files.scopes import group_of
from hedgerow_adapters.files.sources import LoadedObject, printable
from hedgerow_adapters.files.writing import as_stored
from hedgerow_adapters.protocol.transport import Transport, TransportError
from hedgerow_entrypoints.cli.review.requests import as_defaulted
from hedgerow_entrypoints.errors import CommandError, note


class NotInFilesError(Exception):
    """A webhook looks for something that no file holds while the cluster has not been asked."""

    def __init__(self, resource: Resource) -> None:
        super().__init__(f"{resource} has not been read")
        self.resource = resource


class FilesFirst(StoreSnapshot):
    """What files hold; a look-up raises NotInFilesError where the cluster could know more."""

    def __init__(self, stores: Mapping[Resource, ObjectStore], partial: frozenset[Resource]) -> None:
        super().__init__(stores, stores)
        self._partial = partial

    @override
    def get(self, resource: Resource, key: ObjectKey, cluster: Cluster = Cluster.TARGET) -> Manifest | None:
        found = super().get(resource, key, cluster)
        if found is None:
            self._expect_all_of(resource)
        return found

    @override
    def has_synced(self, resource: Resource, cluster: Cluster = Cluster.TARGET) -> bool:
        return resource not in self._partial and super().has_synced(resource, cluster)

    @override
    def list(self, resource: Resource, **selection: Any) -> Sequence[Manifest]:
        self._expect_all_of(resource)
        return super().list(resource, **selection)

    @override
    def by_index(self, index: Index[Value], value: Value) -> Sequence[Manifest]:
        self._expect_all_of(index.resource)
        return super().by_index(index, value)

    def _expect_all_of(self, resource: Resource) -> None:
        if resource in self._partial:
            raise NotInFilesError(resource)


class ReviewFacts:
    """The objects that reviews may read. Nothing is read from a cluster before it is asked for."""

    def __init__(self, objects: Iterable[LoadedObject], transport: Transport | None, namespaces: Sequence[str]) -> None:
        """Facts from files, and from a live cluster if there is one, of which only these namespaces are read."""
        self._files: dict[tuple[str, str], dict[ObjectKey, LoadedObject]] = {}
        for each in objects:
            kind = group_of(each.manifest), each.manifest["kind"]
            read_back = replace(each, manifest=as_defaulted(each.manifest))
            self._files.setdefault(kind, {})[key_of(each.manifest)] = read_back
        self._transport = transport
        self._namespaces = namespaces
        self._live: dict[Resource, Sequence[Manifest] | CommandError] = {}
        self._snapshots: dict[str, FilesFirst] = {}
        self._answers: dict[Question, Answer] = {}

    def snapshot(self, webhook: Webhook) -> FilesFirst:
        """What a webhook looks up, as the caches of a process would show it; `read` completes it."""
        if webhook.path not in self._snapshots:
            stores = {read.resource: self._store(webhook, read) for read in webhook.reads}
            partial = frozenset(stores) - self._live.keys() if self._transport else frozenset()
            self._snapshots[webhook.path] = FilesFirst(stores, partial)
        return self._snapshots[webhook.path]

    async def read(self, webhook: Webhook, resource: Resource) -> None:
        """Let the cluster complete what a webhook sees of a resource."""
        (may_be_absent,) = {read.may_be_absent for read in webhook.reads if read.resource == resource}
        await self._read(resource, may_be_absent=may_be_absent)
        self._snapshots.clear()

    async def namespace_labels(self, name: str) -> Labels:
        """The labels of a Namespace; none of one that does not exist."""
        key = ObjectKey("", name)
        if key not in self._held(NAMESPACES):
            await self._read(NAMESPACES, may_be_absent=False)
        return labels_of(self._known(NAMESPACES).get(key) or {})

    async def answer(self, question: Question) -> Answer:
        """What a question asks for; without a cluster, what no file holds does not exist."""
        if question not in self._answers:
            one_or_all = self._one(question) if isinstance(question, ObjectQuestion) else self._several(question)
            self._answers[question] = await one_or_all
        return self._answers[question]

    def _store(self, webhook: Webhook, read: Read) -> ObjectStore:
        store = ObjectStore(index for index in webhook.indexes if index.resource == read.resource)
        for key, manifest in self._known(read.resource).items():
            try:
                store.put(read.transform(manifest))
            except Exception as problem:
                # What a cache keeps has been checked by an API server; files hold whatever somebody wrote.
                cause = problem.__cause__ if isinstance(problem, UnfiledError) else problem
                why = cause if isinstance(cause, UnreadableError) else "no API server would hold it as it is"
                sentence, held = printable(f"{read.resource.kind} {key}: {why}"), self._held(read.resource).get(key)
                raise CommandError(f"{held.source}: {sentence}" if held else sentence) from problem
        return store

    def _held(self, resource: Resource) -> Mapping[ObjectKey, LoadedObject]:
        return self._files.get((resource.group, resource.kind), {})

    def _known(self, resource: Resource) -> Mapping[ObjectKey, Manifest]:
        held = as_stored(each.manifest for each in self._held(resource).values())
        live = self._live.get(resource, ())
        return {key_of(manifest): manifest for manifest in (*(() if isinstance(live, CommandError) else live), *held)}

    async def _read(self, resource: Resource, *, may_be_absent: bool) -> None:
        """Ask the cluster for a resource, once, also where it refuses."""
        if resource not in self._live:
            try:
                self._live[resource] = await self._listed(resource, may_be_absent=may_be_absent)
            except CommandError as error:
                self._live[resource] = error
        if isinstance(found := self._live[resource], CommandError):
            raise found

    async def _listed(self, resource: Resource, *, may_be_absent: bool) -> Sequence[Manifest]:
        if self._transport is None:
            return ()
        from hedgerow_adapters.kubernetes import live_reads  # noqa: PLC0415 -- slow to import, and seldom needed

        found: list[Manifest] = []
        named = {key.name for key in self._held(NAMESPACES)} if resource == NAMESPACES else set()
        try:
            for scope in visible_scopes(resource, self._namespaces):
                if scope.name not in named:
                    found += await live_reads.list_transformed(self._transport, resource, scope, itself)
        except (live_reads.ListingError, TransportError) as error:
            if not (may_be_absent and isinstance(error, live_reads.UnknownResourceError)):
                raise CommandError(str(error)) from error
        return found

    async def _one(self, question: ObjectQuestion) -> Answer:
        resource, key = question.resource, question.key
        if held := self._held(resource).get(key):
            return Found((held.manifest,))
        if self._transport is not None:
            return await self._live_answer(self._transport, question)
        note(f"note: {resource.kind} {printable(str(key))}: no file holds it, so that it counts as missing")
        return NotAnswered(404, NOT_FOUND, f'{resource} "{key.name}" not found')

    async def _several(self, question: ListQuestion) -> Answer:
        held = self._held(question.resource)
        asked_for = tuple(each.manifest for each in held.values() if question.asks_for(each.manifest))
        if self._transport is None:
            where = f" in {printable(question.namespace)}" if question.namespace else ""
            note(f"note: only the files tell which {question.resource.kind}s there are{where}; they need not hold all")
            return Found(asked_for)
        answer = await self._live_answer(self._transport, question)
        if isinstance(answer, Found):
            return Found((*(each for each in answer.objects if key_of(each) not in held), *asked_for))
        return Found(asked_for) if asked_for and answer.is_not_found else answer

    async def _live_answer(self, transport: Transport, question: Question) -> Answer:
        from hedgerow_adapters.kubernetes.live_reads import Questions  # noqa: PLC0415 -- as above

        return await Questions(dict.fromkeys(Cluster, transport), hurried=False).ask(question)
