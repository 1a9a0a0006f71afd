"""The controller that removes the taint of new nodes.

It watches Nodes, and asks for everything else when a node waits, which is rare and short: to watch every pod and
DaemonSet of a cluster would cost more.

Source: network-and-nodes §5; decision D-8.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, TypeVar

from hedgerow.api.gardener import CRITICAL_COMPONENT, CRITICAL_COMPONENTS_NOT_READY, WAIT_FOR_CSI_NODE
from hedgerow.api.kubernetes import CSI_NODES, DAEMON_SETS, NODES, PODS
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import Change, Context, Controller, Watch, own_key
from hedgerow.machinery.failures import Failure, Problem, annotation_path, retryable_failure
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of, uid_of
from hedgerow.machinery.plan import Event, MergePatch, Plan, failed
from hedgerow.machinery.questions import Found, ListQuestion, NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import UnreadableError, each_at, keeping, text_at
from hedgerow.machinery.selectors import field_query
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import AtOnce
from hedgerow.resource_manager.nodes.readiness import CriticalComponents, DaemonSetView, Done, PodView, Wait, decide
from hedgerow.resource_manager.nodes.scheduling import NodeView

DEFAULT_CONCURRENCY: Final = 5
_LABELLED: Final = f"{CRITICAL_COMPONENT}=true"
transform_node: Final = keeping(
    *(f"metadata.{name}" for name in ("name", "uid", "resourceVersion", "labels")), "spec.taints"
)
View = TypeVar("View")


@dataclass(frozen=True, slots=True)
class NodeConfig:
    """How often the controller looks, and where."""

    backoff: timedelta = timedelta(seconds=10)
    """A node that waits is checked again after this time."""
    namespaces: tuple[str, ...] = ()
    """The namespaces whose DaemonSets and pods count; none: all."""


def node_controller(
    config: NodeConfig = NodeConfig(), concurrency: int = DEFAULT_CONCURRENCY
) -> Controller[NodeConfig]:
    """The controller for a configuration."""
    return Controller(
        name="node",
        primary=NODES,
        watches=(Watch(NODES, transform_node, own_key, _is_new_and_waits, is_desired_state=True),),
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        permissions=(
            Permission.of(NODES, "patch"),
            Permission.of(DAEMON_SETS, "list"),
            Permission.of(PODS, "list"),
            Permission.of(CSI_NODES, "get"),
        ),
        events_from="gardener-node-controller",
    )


def _is_new_and_waits(change: Change) -> bool:
    """True if a node was created with the taint; one that gets it later is left to whoever gave it."""
    old, new = change.old, change.new
    return new is not None and waits(new) and (old is None or uid_of(old) != uid_of(new))


def waits(node: Manifest) -> bool:
    """True if a Node has the taint; a Node that cannot be read has none."""
    taints = (node.get("spec") or {}).get("taints")
    keys = [each.get("key") for each in taints if isinstance(each, Mapping)] if isinstance(taints, list) else ()
    return CRITICAL_COMPONENTS_NOT_READY in keys


async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[NodeConfig]) -> Plan:
    """Remove the taint of one node, or look again later."""
    backoff = context.config.backoff.total_seconds()
    try:
        node = _waiting(key, snapshot)
        if node is None:
            return Plan()
        critical = await _critical(node, context.config.namespaces or ("",))
        latest = _waiting(key, snapshot)
        if isinstance(critical, CriticalComponents):
            if latest is None or latest.uid != node.uid:
                return Plan()
            return _plan(replace(critical, node=latest), backoff)
        failure = critical
    except UnreadableError as error:
        failure = Failure(NODES, key, error.problem)
    # The correction of an unreadable object need not be an event here.
    return failed(failure) if failure.retryable else Plan(failures=(failure,), requeue_after=backoff)


def _waiting(key: ObjectKey, snapshot: Snapshot) -> NodeView | None:
    """The node, if it has the taint."""
    node = snapshot.get(NODES, key)
    return NodeView.of(node) if node is not None and waits(node) else None


def _plan(components: CriticalComponents, backoff: float) -> Plan:
    """The plan for a decision. Drivers without a name are waited for like others, and reported."""
    node, key = components.node, ObjectKey("", components.node.name)
    decision = decide(components)
    if isinstance(decision, Done):
        return Plan()
    if isinstance(decision, Wait):
        event = Event(NODES, key, node.uid, "Warning", decision.reason, decision.note)
        nameless = Problem(
            annotation_path(f"{WAIT_FOR_CSI_NODE}..."), "names no CSI driver, so that its node waits for ever"
        )
        failures = tuple(Failure(PODS, pod.key, nameless) for pod in components.pods if "" in pod.required_drivers)
        return Plan(events=(event,), failures=failures, requeue_after=backoff)
    patch = {"spec": {"taints": [taint.manifest for taint in decision.taints] or None}}
    action = MergePatch(NODES, key, patch, "critical-components-ready", node.resource_version)
    note = "All node-critical components got ready, removing taint"
    return Plan((action,), (Event(NODES, key, node.uid, "Normal", "NodeCriticalComponentsReady", note),))


async def _critical(node: NodeView, namespaces: Sequence[str]) -> CriticalComponents | Failure:
    """Everything that is critical for a node, or why it cannot be read."""
    on_node = field_query({"spec.nodeName": node.name})
    questions = (
        *(ListQuestion(DAEMON_SETS, Cluster.TARGET, namespace, _LABELLED) for namespace in namespaces),
        *(ListQuestion(PODS, Cluster.TARGET, namespace, _LABELLED, on_node) for namespace in namespaces),
    )
    found: dict[Resource, list[Manifest]] = {DAEMON_SETS: [], PODS: []}
    for question, answer in zip(questions, await AtOnce(questions), strict=True):
        if isinstance(answer, NotAnswered):
            return _unreadable(question.resource, ObjectKey(question.namespace, ""), answer)
        found[question.resource] += answer.objects
    pods = _views(PODS, found[PODS], PodView.of)
    daemon_sets = _views(DAEMON_SETS, found[DAEMON_SETS], DaemonSetView.of)
    if isinstance(pods, Failure):
        return pods
    if isinstance(daemon_sets, Failure):
        return daemon_sets
    critical = CriticalComponents(node, daemon_sets, pods)
    if not critical.required_drivers:
        return critical
    key = ObjectKey("", node.name)
    match await ObjectQuestion(CSI_NODES, key, Cluster.TARGET):
        case Found(csi_nodes):
            drivers = _views(CSI_NODES, csi_nodes, _drivers)
            return drivers if isinstance(drivers, Failure) else replace(critical, drivers=frozenset().union(*drivers))
        case answer:
            return critical if answer.is_not_found else _unreadable(CSI_NODES, key, answer)


def _unreadable(resource: Resource, key: ObjectKey, answer: NotAnswered) -> Failure:
    return retryable_failure(resource, key, f"cannot be read: {answer.message}")


def _views(
    resource: Resource, manifests: Sequence[Manifest], view: Callable[[Manifest], View]
) -> tuple[View, ...] | Failure:
    views: list[View] = []
    for manifest in manifests:
        try:
            views.append(view(manifest))
        except UnreadableError as error:
            return Failure(resource, key_of(manifest), error.problem)
    return tuple(views)


def _drivers(csi_node: Manifest) -> tuple[str, ...]:
    """The names of the drivers that are registered on the node of a CSINode."""
    return each_at(lambda driver: text_at(driver, "name") or "", csi_node, "spec", "drivers")
