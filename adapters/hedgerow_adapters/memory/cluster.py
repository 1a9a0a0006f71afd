"""The in-memory API server: requests in, responses out, watch events by callback.

Synchronous and single-threaded: when a request is answered its events have been delivered. It stands for
kube-apiserver 1.36 in tests, demonstrations and simulations, and is trusted as far as the contract suite compares both
(decision A-10). Objects that it hands out are its own: they are never changed, and nobody else may change them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from hedgerow.machinery.controller import Change
from hedgerow.machinery.objects import Kind as ObjectKind
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow_adapters.memory import options, reads, statuses
from hedgerow_adapters.memory.admission import Admission, CallWebhook, nobody
from hedgerow_adapters.memory.clock import SettableClock
from hedgerow_adapters.memory.discovery import discovery_document
from hedgerow_adapters.memory.faults import Answered, Fault, Lost, NoAnswerError, outcome_for
from hedgerow_adapters.memory.garbage import Housekeeping
from hedgerow_adapters.memory.kinds import DEFAULT_RESOURCES, Kind
from hedgerow_adapters.memory.kinds.namespaces import ALWAYS_THERE, NAMESPACES
from hedgerow_adapters.memory.registry import Registry
from hedgerow_adapters.memory.served import ServedKinds, Target
from hedgerow_adapters.memory.storage import Backup, Storage, StoredChange
from hedgerow_adapters.memory.subresources import scale_of
from hedgerow_adapters.protocol.transport import Request, Response, TransportError

VERSION: Final = "v1.36.0"
_YES = frozenset({"1", "t", "T", "true", "True", "TRUE"})


class InMemoryCluster:
    """An API server without network, etcd and users.

    Namespaces and garbage wait for `run_controllers`, so that tests see them terminate.
    """

    def __init__(
        self,
        *,
        resources: Sequence[Kind] = DEFAULT_RESOURCES,
        now: Callable[[], datetime] | None = None,
        namespaces: Iterable[str] = ALWAYS_THERE,
        history: int = 100_000,
        call_webhook: CallWebhook = nobody,
    ) -> None:
        """A cluster with nothing but some namespaces.

        Args:
            resources: the kinds that it serves.
            now: its clock; by default one that stands still at the beginning of 2026.
            namespaces: which exist from the start.
            history: how many changes of a resource are kept at least for watches that come later.
            call_webhook: reaches the webhooks that are registered in it; by default none can be reached.
        """
        self.now = now or SettableClock()
        self.faults: list[Fault] = []
        self.version = VERSION
        """As it tells who asks."""
        self._kinds = ServedKinds(resources)
        self._storage = Storage(history=history)
        self._admission = Admission(self._storage, self._kinds, call_webhook)
        self._registry = Registry(self._storage, self.now, self._admission)
        self._housekeeping = Housekeeping(self._registry, self._kinds)
        self._kinds.follow_definitions(self._storage)
        self._watches: list[reads.Subscription] = []
        for name in namespaces:
            self._registry.create(NAMESPACES, "", {"metadata": {"name": name}})

    def handle(self, request: Request) -> Response:
        """The answer to any request but a watch.

        Raises:
            TransportError: a scripted fault swallowed the request or its answer.
        """
        return self._faulty_answer(request) or self._answer(request)

    def watch(
        self, request: Request, on_event: reads.OnEvent, on_close: reads.OnClose | None = None
    ) -> reads.Subscription | Response:
        """Open a watch: what was missed is delivered before this returns. A response is a refusal.

        Args:
            request: a GET of a collection with `watch=true`.
            on_event: told each `{"type": ..., "object": ...}`.
            on_close: told when the server ends the watch, with an error if the connection broke.

        Raises:
            TransportError: a scripted fault swallowed the request.
        """
        if faulty := self._faulty_answer(request):
            return faulty
        try:
            subscription = self._subscription(request, on_event, on_close or (lambda _error: None))
            start = reads.parse_start(request.query)
        except statuses.RefusedError as refusal:
            return refusal.response
        self._watches = [watch for watch in self._watches if not watch.closed]
        self._watches.append(subscription)
        subscription.open(start)
        return subscription

    def answer_webhooks(self, call_webhook: CallWebhook) -> None:
        """Have registered webhooks reached in another way from now on."""
        self._admission.call_webhook = call_webhook

    def serves(self, resource: Resource) -> bool:
        """Whether a resource is one of those that it has."""
        return resource in self._kinds.by_resource

    def resource_of(self, kind: ObjectKind) -> Resource | None:
        """As which resource it serves the objects of a kind; none if it does not."""
        served = self._kinds.by_type.get((kind.api_version, kind.kind))
        return served.resource if served is not None else None

    def get(self, resource: Resource, key: ObjectKey) -> Manifest | None:
        """The object of a key; none if it does not exist."""
        return self._registry.get(self._kinds.by_resource[resource], key)

    def at(self, path: str) -> Manifest | None:
        """The object that requests to a path are about; none if there is none."""
        try:
            target = self._kinds.target(path)
        except statuses.RefusedError:
            return None
        return self._registry.get(target.kind, target.key) if target.name else None

    @property
    def resources(self) -> Sequence[Resource]:
        """The resources that it has at the moment, each object being found under one of them."""
        return [kind.resource for kind in self._kinds.with_own_objects()]

    def adopt(self, resource: Resource, key: ObjectKey, metadata: Mapping[str, Any]) -> None:
        """Let an object have metadata that only a server gives, as another server has given it: its uid or age."""
        self._registry.rewrite_metadata(self._kinds.by_resource[resource], key, metadata)

    def objects(self, resource: Resource, namespace: str = "") -> Sequence[Manifest]:
        """The objects of a resource, of one namespace or of all, in the order of lists."""
        kind = self._kinds.by_resource[resource]
        return [kind.from_stored(stored) for stored in self._storage.state(kind.stored_as).of_namespace(namespace)]

    def subscribe(self, resource: Resource, on_change: Callable[[Change], None]) -> Callable[[], None]:
        """Tell of every change of a resource from now on, old and new object; the answer ends that."""
        kind = self._kinds.by_resource[resource]

        def tell(change: StoredChange) -> None:
            old, new = (version and kind.from_stored(version) for version in (change.old, change.new))
            on_change(Change(old, new))

        return self._storage.listen(kind.stored_as, tell)

    @property
    def resource_version(self) -> str:
        """The version of the last write."""
        return str(self._storage.revision)

    def run_controllers(self) -> None:
        """Let the server's own controllers work until they are done: namespaces end, garbage is collected."""
        while self._housekeeping.step():
            pass

    def compact(self) -> None:
        """Forget all history: every resource version and continue token handed out until now is too old."""
        self._storage.compact()

    def back_up(self) -> Backup:
        """All objects as they are now."""
        return self._storage.back_up()

    def restore(self, backup: Backup) -> None:
        """Let the objects be those of a backup, as after a restart of a server whose storage was restored.

        Watches end. One from a version of the future is opened and stays silent, as at a real server. Which kinds are
        defined does not change.
        """
        self.close_watches()
        self._storage.restore(backup)

    def send_bookmarks(self) -> None:
        """Send a bookmark to every watch that wants them."""
        for watch in tuple(self._watches):
            watch.send_bookmark()

    def close_watches(self, error: TransportError | None = None) -> None:
        """End all watches as a server does that shuts down, or, with an error, as a broken network does."""
        for watch in tuple(self._watches):
            watch.end(error)

    def _faulty_answer(self, request: Request) -> Response | None:
        match outcome_for(self.faults, request):
            case Answered(response):
                return response
            case Lost(after_commit, hangs):
                if after_commit and request.query.get("watch") not in _YES:
                    self._answer(request)
                raise NoAnswerError(hangs=hangs)
        return None

    def _subscription(self, request: Request, on_event: reads.OnEvent, on_close: reads.OnClose) -> reads.Subscription:
        target = self._kinds.target(request.path)
        if target.name or request.method != "GET" or request.query.get("watch") not in _YES:
            raise ValueError(f"{request.method} {request.path} is no watch")
        options.whole_number(request.query, "timeoutSeconds")
        return reads.Subscription(
            storage=self._storage,
            kind=target.kind,
            selection=options.parse_selection(request.query, target.namespace, target.kind.selectable),
            metadata_only=reads.wants_metadata(request.accept, a_list=False),
            bookmarks=request.query.get("allowWatchBookmarks") in _YES,
            on_event=on_event,
            on_close=on_close,
        )

    def _answer(self, request: Request) -> Response:
        try:
            if (document := discovery_document(request, self._kinds)) is not None:
                return document
            if (request.method, request.path) == ("GET", "/version"):
                return Response(200, {"gitVersion": self.version})
            target = self._kinds.target(request.path)
            answer = self._answer_object if target.name else self._answer_collection
            with self._storage.trial(is_trial=options.is_dry_run(request)):
                return answer(request, target)
        except statuses.RefusedError as refusal:
            return refusal.response

    def _answer_object(self, request: Request, target: Target) -> Response:
        kind, key, metadata_only = target.kind, target.key, reads.wants_metadata(request.accept, a_list=False)
        answer: Manifest
        match request.method, target.subresource:
            case "GET", "scale":
                answer = scale_of(self._registry.existing(kind, key))
            case "PUT" | "PATCH", "scale":
                patch_type = request.content_type if request.method == "PATCH" else None
                answer = self._registry.write_scale(kind, key, request.body, patch_type)
            case "POST", "token":
                return Response(201, self._registry.token(key, request.body))
            case "GET", subresource if subresource not in ("token", "finalize"):
                answer = self._registry.existing(kind, key)
            case "PUT", subresource if subresource != "token":
                answer = self._registry.replace(kind, key, request.body, subresource)
            case "PATCH", subresource if subresource not in ("token", "finalize"):
                answer = self._registry.patch(kind, key, request.body, request.content_type, subresource)
            case "DELETE", "":
                answer = self._registry.delete(kind, key, options.parse_delete_options(request.body, request.query))
            case _:
                raise statuses.method_not_allowed()
        return Response(200, _as_asked(answer, metadata_only=metadata_only))

    def _answer_collection(self, request: Request, target: Target) -> Response:
        match request.method:
            case "GET":
                if request.query.get("watch") in _YES:
                    raise ValueError("a watch is opened with watch()")
                return self._list(request, target)
            case "POST" if not target.spans_namespaces:
                metadata_only = reads.wants_metadata(request.accept, a_list=False)
                created = self._registry.create(target.kind, target.namespace, request.body)
                return Response(201, _as_asked(created, metadata_only=metadata_only))
            case "DELETE" if target.kind.deletable_as_collection and not target.spans_namespaces:
                return self._delete_collection(request, target)
            case _:
                raise statuses.method_not_allowed()

    def _list(self, request: Request, target: Target) -> Response:
        metadata_only = reads.wants_metadata(request.accept, a_list=True)
        selection = options.parse_selection(request.query, target.namespace, target.kind.selectable)
        objects, metadata = reads.page(self._storage, target.kind, selection, options.parse_list_options(request.query))
        return Response(200, reads.presented_list(target.kind, objects, metadata, metadata_only=metadata_only))

    def _delete_collection(self, request: Request, target: Target) -> Response:
        answer = self._list(request, target)
        preconditions = options.parse_delete_options(request.body, request.query)
        for manifest in answer.body["items"]:
            key = ObjectKey(target.namespace, manifest["metadata"]["name"])
            self._registry.delete(target.kind, key, preconditions, of_collection=True)
        return answer


def _as_asked(answer: Manifest, *, metadata_only: bool) -> Manifest:
    """An object, or its metadata if no more was asked for; a Status stays as it is."""
    return reads.metadata_of(answer) if metadata_only and answer["kind"] != "Status" else answer
