"""In-memory clusters as surroundings of decisions that a test runs, and what a controller sees of them.

Everything is done for real: what an API server would refuse is refused, and defaults are filled in.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Any, TypeAlias

from hedgerow.machinery.clusters import Cluster, visible_scopes
from hedgerow.machinery.controller import Controller, DynamicWatch, Watch
from hedgerow.machinery.objects import Kind, Manifest, Resource, key_of
from hedgerow.machinery.plan import Action, Delete, WriteResult
from hedgerow.machinery.questions import Answer, Found, NotAnswered, ObjectQuestion, Question
from hedgerow.machinery.selectors import selected_by
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow_adapters.cache import ObjectStore, StoreSnapshot, is_over
from hedgerow_adapters.kubernetes.live_reads import pages_of
from hedgerow_adapters.memory import Answered, Fault, InMemoryCluster
from hedgerow_adapters.memory import requests as picks
from hedgerow_adapters.memory.options import FOREGROUND
from hedgerow_adapters.memory.statuses import bad_request
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.documents import no_match
from hedgerow_adapters.protocol.responses import api_error_of, is_done_already, not_answered, status_error, stored_by
from hedgerow_adapters.protocol.transport import Response
from tests.executions import Surroundings

_Clusters: TypeAlias = Mapping[Cluster, InMemoryCluster]


class InMemory:
    """In-memory clusters, in which everything is done for real, and nobody waits for what an object owns to go."""

    def __init__(self, clusters: _Clusters) -> None:
        self._clusters = clusters

    def answer(self, question: Question) -> Answer:
        """What the cluster shows now."""
        cluster = self._clusters[question.cluster]
        if not cluster.serves(question.resource):
            return no_match(question.resource.object_kind)
        if isinstance(question, ObjectQuestion) and not cluster.faults:
            live = cluster.get(question.resource, question.key)
            if live is not None:
                return Found((live,))
        try:
            if isinstance(question, ObjectQuestion):
                request = requests.get(question.resource, question.key)
            else:
                request = pages_of(question)(limit=0)
        except requests.UnaddressableError as nonsense:
            return NotAnswered(HTTPStatus.BAD_REQUEST, "BadRequest", str(nonsense))
        response = cluster.handle(request)
        if not response.is_success:
            name = question.key.name if isinstance(question, ObjectQuestion) else ""
            return not_answered(status_error(response), name)
        return Found((response.body,) if isinstance(question, ObjectQuestion) else tuple(response.body["items"]))

    def look_up(self, kind: Kind, cluster: Cluster = Cluster.TARGET) -> Resource | NotAnswered:
        """As which resource a cluster serves a kind."""
        return self._clusters[cluster].resource_of(kind) or no_match(kind)

    def carry_out(self, action: Action) -> WriteResult:
        """What becomes of an action in its cluster."""
        return write_result_of(action, self.send(action))

    def send(self, action: Action) -> Response:
        """What the cluster answers to an action."""
        try:
            request = requests.for_action(action)
        except requests.UnaddressableError as nonsense:
            return bad_request(str(nonsense)).response
        response = self._clusters[action.cluster].handle(request)
        if isinstance(action, Delete) and action.propagation == "Foreground" and response.is_success:
            self._let_go(action)
        return response

    def _let_go(self, action: Delete) -> None:
        """No garbage collector runs here that would wait for the objects which this one owns."""
        cluster = self._clusters[action.cluster]
        if live := cluster.get(action.resource, action.key):
            finalizers = [name for name in live["metadata"].get("finalizers") or () if name != FOREGROUND]
            cluster.adopt(action.resource, action.key, {"finalizers": finalizers})


def with_dynamic_watches(
    controller: Controller[Any], snapshot: Snapshot, surroundings: Surroundings
) -> Controller[Any]:
    """A controller that declares to watch what it follows, as far as that is served: a snapshot of it shows it all.

    Args:
        controller: who follows.
        snapshot: the world as it declares to watch it.
        surroundings: where kinds are looked up.
    """
    watches = {(watch.cluster, watch.resource): watch for watch in controller.watches}
    for dynamic in controller.dynamic_watches:
        for watch in _watches_of(dynamic, snapshot, surroundings):
            watches.setdefault((watch.cluster, watch.resource), watch)
    return replace(controller, watches=tuple(watches.values()))


def _watches_of(dynamic: DynamicWatch, snapshot: Snapshot, surroundings: Surroundings) -> Iterator[Watch]:
    index = dynamic.kinds
    holders = snapshot.list(index.resource, cluster=index.cluster)
    for kind in sorted({kind for each in holders for kind in index.values(each)}):
        resource = surroundings.look_up(kind, dynamic.cluster)
        if isinstance(resource, Resource):
            yield from dynamic.watches(resource)


def seen_by(watch: Watch, namespaces: Sequence[str]) -> Callable[[Manifest], bool]:
    """Whether an object of the watched resource is read.

    Args:
        watch: what is read.
        namespaces: what is seen of the cluster that is looked after; none: all.
    """
    scopes = visible_scopes(watch.resource, namespaces if watch.cluster is Cluster.TARGET else (), watch.namespace)
    is_selected = selected_by(watch.label_selector, watch.field_selector)

    def is_seen(manifest: Manifest) -> bool:
        return any(scope.holds(key_of(manifest)) for scope in scopes) and is_selected(manifest)

    return is_seen


def snapshot_of(
    clusters: _Clusters, controller: Controller[Any], namespaces: Sequence[str] = ()
) -> tuple[Controller[Any], StoreSnapshot]:
    """What a controller sees of in-memory clusters, and itself as one that declares to watch what it follows.

    Args:
        clusters: what is read.
        controller: who reads.
        namespaces: what is seen of the cluster that is looked after; none: all.
    """
    stores: dict[Cluster, dict[Resource, ObjectStore]] = {cluster: {} for cluster in Cluster}

    def snapshot(reader: Controller[Any]) -> StoreSnapshot:
        for watch in reader.watches:
            if watch.resource not in stores[watch.cluster]:
                indexes = [index for index in controller.indexes if is_over(index, watch)]
                stores[watch.cluster][watch.resource] = _read(clusters[watch.cluster], watch, namespaces, indexes)
        return StoreSnapshot(stores[Cluster.TARGET], stores[Cluster.SOURCE])

    declared = snapshot(controller)
    if not controller.dynamic_watches:
        return controller, declared
    following = with_dynamic_watches(controller, declared, InMemory(clusters))
    return following, snapshot(following)


def _read(
    cluster: InMemoryCluster, watch: Watch, namespaces: Sequence[str], indexes: Sequence[Index[Any]]
) -> ObjectStore:
    """What a watch keeps of the objects of a cluster; nothing if the cluster does not serve them."""
    store = ObjectStore(indexes)
    if cluster.serves(watch.resource):
        for manifest in filter(seen_by(watch, namespaces), cluster.objects(watch.resource)):
            store.put(watch.transform(manifest))
    return store


def write_result_of(action: Action, response: Response) -> WriteResult:
    """The result of an action."""
    if response.is_success:
        return WriteResult(action, stored_by(action, response))
    error = status_error(response)
    done = is_done_already(action, error)
    return WriteResult(action) if done else WriteResult(action, error=api_error_of(action, error))


def lost_group(group: str) -> Fault:
    """The fault of an aggregated API whose server is away: its group stays listed, and nothing of it answers."""
    unavailable = Answered(Response(503, "service unavailable\n", {"content-type": "text/plain; charset=utf-8"}))
    return Fault(picks(path=f"/apis/{group}/"), unavailable, times=None)


def of_another_cluster(uid: str) -> Fault:
    """The fault of a connection that leads to another cluster: its namespace `kube-system` has another uid."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kube-system", "uid": uid}}
    return Fault(picks("GET", "/api/v1/namespaces/kube-system"), Answered(Response(200, namespace)), times=None)
