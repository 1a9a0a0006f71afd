"""The controller that removes the taint of new nodes, declared.

It watches Nodes, and asks for all else when there is one to look at, which is rare and soon over: to watch every pod
and DaemonSet of a cluster for that would cost more.

Source: network-and-nodes §5; decision D-8.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, Literal, TypeVar

from hedgerow.api.gardener import CRITICAL_COMPONENT, CRITICAL_COMPONENTS_NOT_READY, WAIT_FOR_CSI_NODE
from hedgerow.api.kubernetes import CSI_NODES, DAEMON_SETS, NODES, PODS
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import Change, Context, Controller, Watch, own_key
from hedgerow.machinery.failures import Failure, Problem, annotation_path
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of, uid_of
from hedgerow.machinery.plan import Event, MergePatch, Plan, failed
from hedgerow.machinery.questions import Found, ListQuestion, NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import UnreadableError
from hedgerow.machinery.selectors import field_query
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import AtOnce
from hedgerow.resource_manager.nodes.readiness import (
    READY,
    READY_NOTE,
    CriticalComponents,
    Done,
    PodView,
    Wait,
    csi_drivers,
    daemon_set_view,
    decide,
    pod_view,
    required_drivers,
)
from hedgerow.resource_manager.nodes.scheduling import NodeView, node_view

NAME: Final = "node"
REPORTER: Final = "gardener-node-controller"
"""Who events about nodes are said to come from."""
DEFAULT_CONCURRENCY: Final = 5
REASON: Final = "critical-components-ready"
_LABELLED: Final = f"{CRITICAL_COMPONENT}=true"

View = TypeVar("View")
_NODE_METADATA: Final = ("name", "uid", "resourceVersion", "labels")


@dataclass(frozen=True, slots=True)
class NodeConfig:
    """How often the controller looks, and where."""

    backoff: timedelta = timedelta(seconds=10)
    """How long after something was missing it is looked for again."""
    namespaces: tuple[str, ...] = ()
    """The only ones whose DaemonSets and pods count; none: those of all."""


def node_controller(
    config: NodeConfig = NodeConfig(),
    concurrency: int = DEFAULT_CONCURRENCY,
) -> Controller[NodeConfig]:
    """The controller for a configuration."""
    return Controller(
        name=NAME,
        primary=NODES,
        watches=(Watch(NODES, transform_node, own_key, _is_new_and_waits, is_desired_state=True),),
        indexes=(),
        owned=None,
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        permissions=(
            Permission.of(NODES, "patch"),
            Permission.of(DAEMON_SETS, "list"),
            Permission.of(PODS, "list"),
            Permission.of(CSI_NODES, "get"),
        ),
        events_from=REPORTER,
    )


async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[NodeConfig]) -> Plan:
    """Remove the taint of one node, or look again later."""
    try:
        node = _waiting(key, snapshot)
        if node is None:
            return Plan()
        critical = await _critical(node, context.config.namespaces or ("",))
        if isinstance(critical, Failure):
            return failed(critical) if critical.retryable else _later(critical, context.config)
        latest = _waiting(key, snapshot)
        if latest is None or latest.uid != node.uid:
            return Plan()
        return _plan(replace(critical, node=latest), context.config)
    except UnreadableError as error:
        return _later(Failure(NODES, key, error.problem), context.config)


def _later(failure: Failure, config: NodeConfig) -> Plan:
    """Tell of an object that cannot be read, and look again: its correction need not be an event here."""
    return Plan(failures=(failure,), requeue_after=config.backoff.total_seconds())


def _waiting(key: ObjectKey, snapshot: Snapshot) -> NodeView | None:
    """The node, if it has the taint.

    Raises:
        UnreadableError: it has another shape than an API server stores.
    """
    node = snapshot.get(NODES, key)
    return node_view(node) if node is not None and waits(node) else None


def _plan(components: CriticalComponents, config: NodeConfig) -> Plan:
    """What a decision asks for. Drivers without a name are waited for like others, and told beside."""
    node = components.node
    decision = decide(components)
    match decision:
        case Done():
            return Plan()
        case Wait(missing):
            return Plan(
                events=(_event(node, "Warning", missing.reason, missing.note),),
                failures=tuple(_nameless_drivers(components.pods)),
                requeue_after=config.backoff.total_seconds(),
            )
    kept = [taint.manifest for taint in decision.taints]
    patch = {"spec": {"taints": kept or None}}
    action = MergePatch(NODES, ObjectKey("", node.name), patch, REASON, node.resource_version)
    return Plan((action,), (_event(node, "Normal", READY, READY_NOTE),))


def _event(node: NodeView, type_: Literal["Normal", "Warning"], reason: str, note: str) -> Event:
    return Event(NODES, ObjectKey("", node.name), node.uid, type_, reason, note)


async def _critical(node: NodeView, namespaces: Sequence[str]) -> CriticalComponents | Failure:
    """All that is critical for a node, or why it cannot be read."""
    on_node = field_query({"spec.nodeName": node.name})
    questions = (
        *(ListQuestion(DAEMON_SETS, Cluster.TARGET, each, _LABELLED) for each in namespaces),
        *(ListQuestion(PODS, Cluster.TARGET, each, _LABELLED, on_node) for each in namespaces),
    )
    found: dict[Resource, list[Manifest]] = {DAEMON_SETS: [], PODS: []}
    for question, answer in zip(questions, await AtOnce(questions), strict=True):
        if isinstance(answer, NotAnswered):
            return _unreadable(question.resource, ObjectKey(question.namespace, ""), answer)
        found[question.resource] += answer.objects
    pods = _views(PODS, found[PODS], pod_view)
    daemon_sets = _views(DAEMON_SETS, found[DAEMON_SETS], daemon_set_view)
    if isinstance(pods, Failure):
        return pods
    if isinstance(daemon_sets, Failure):
        return daemon_sets
    critical = CriticalComponents(node, daemon_sets, pods)
    if not required_drivers(pods):
        return critical
    key = ObjectKey("", node.name)
    match await ObjectQuestion(CSI_NODES, key, Cluster.TARGET):
        case Found(csi_nodes):
            drivers = _views(CSI_NODES, csi_nodes, csi_drivers)
            return drivers if isinstance(drivers, Failure) else replace(critical, drivers=frozenset().union(*drivers))
        case answer:
            return critical if answer.is_not_found else _unreadable(CSI_NODES, key, answer)


def _unreadable(resource: Resource, key: ObjectKey, answer: NotAnswered) -> Failure:
    return Failure(resource, key, Problem("", f"cannot be read: {answer.message}"), retryable=True)


def _views(
    resource: Resource, found: Sequence[Manifest], view: Callable[[Manifest], View]
) -> tuple[View, ...] | Failure:
    views: list[View] = []
    for manifest in found:
        try:
            views.append(view(manifest))
        except UnreadableError as error:
            return Failure(resource, key_of(manifest), error.problem)
    return tuple(views)


def _nameless_drivers(pods: Iterable[PodView]) -> Iterator[Failure]:
    for pod in pods:
        if "" in required_drivers((pod,)):
            problem = "names no CSI driver, so that its node waits for ever"
            yield Failure(PODS, pod.key, Problem(annotation_path(f"{WAIT_FOR_CSI_NODE}..."), problem))


def _is_new_and_waits(change: Change) -> bool:
    """Whether a node was created with the taint; one that gets it later is left to whoever gave it."""
    old, new = change.old, change.new
    return new is not None and waits(new) and (old is None or uid_of(old) != uid_of(new))


def transform_node(node: Manifest) -> Manifest:
    """What caches hold of a Node."""
    metadata = node.get("metadata") or {}
    kept = {name: metadata[name] for name in _NODE_METADATA if name in metadata}
    return {"metadata": kept, "spec": {"taints": (node.get("spec") or {}).get("taints")}}


def waits(node: Manifest) -> bool:
    """Whether a Node has the taint; one that nobody can read has none."""
    taints = (node.get("spec") or {}).get("taints")
    return isinstance(taints, list) and any(
        isinstance(each, Mapping) and each.get("key") == CRITICAL_COMPONENTS_NOT_READY for each in taints
    )
