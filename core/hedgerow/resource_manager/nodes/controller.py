"""The controller that removes the taint of new nodes, declared.

It watches Nodes, and asks for all else when there is one to look at, which is rare and soon over: to watch every pod
and DaemonSet of a cluster for that would cost more.

Source: network-and-nodes §5; decision D-8.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, Literal, TypeVar

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change, Context, Controller, Watch
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.field_selectors import field_query
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of, uid_of
from hedgerow.machinery.permissions import Permission
from hedgerow.machinery.plan import Event, MergePatch, Plan
from hedgerow.machinery.questions import Answers, Found, ListQuestion, NotAnswered, ObjectQuestion, Question
from hedgerow.machinery.reading import UnreadableError
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.resource_manager.nodes.decision import READY, READY_NOTE, Done, RemoveTaint, Wait, decide
from hedgerow.resource_manager.nodes.names import (
    CRITICAL,
    CSI_NODES,
    DAEMON_SETS,
    NODES,
    PODS,
    REPORTER,
    WAIT_FOR_CSI_NODE,
)
from hedgerow.resource_manager.nodes.readiness import CriticalComponents, required_drivers
from hedgerow.resource_manager.nodes.views import (
    NodeView,
    PodView,
    csi_drivers,
    daemon_set_view,
    kept_of_node,
    node_view,
    pod_view,
    waits,
)

NAME: Final = "node"
DEFAULT_CONCURRENCY: Final = 5
REASON: Final = "critical-components-ready"
_LABELLED: Final = f"{CRITICAL}=true"

View = TypeVar("View")


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
    """The controller for a configuration.

    Args:
        config: how often it looks, and where.
        concurrency: how many Nodes are reconciled at once.
    """
    return Controller(
        name=NAME,
        primary=NODES,
        watches=(Watch(NODES, kept_of_node, lambda node, _snapshot: (key_of(node),), _is_new_and_waits, asks=True),),
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


def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[NodeConfig]) -> Plan:
    """Remove the taint of one node, or look again later."""
    live = snapshot.get(NODES, key)
    if live is None or not waits(live):
        return Plan()
    try:
        components = _components(node_view(live), context)
    except UnreadableError as error:
        failure = DomainFailure(NODES, key, "", str(error))
        return Plan(failures=(failure,), requeue_after=context.config.backoff.total_seconds())
    return components if isinstance(components, Plan) else _plan(components, context.config)


def _plan(components: CriticalComponents, config: NodeConfig) -> Plan:
    """What a decision asks for. Drivers without a name are waited for like others, and told beside."""
    node = components.node
    match decide(components):
        case Done():
            return Plan()
        case Wait(missing):
            return Plan(
                events=(_event(node, "Warning", missing.reason, missing.note),),
                failures=tuple(map(_nameless_driver, _pods_of_nameless_drivers(components.pods))),
                requeue_after=config.backoff.total_seconds(),
            )
        case RemoveTaint(taints):
            kept = [taint.manifest for taint in taints]
            patch = {"spec": {"taints": kept or None}}
            action = MergePatch(NODES, ObjectKey("", node.name), patch, REASON, node.resource_version)
            return Plan((action,), (_event(node, "Normal", READY, READY_NOTE),))


def _event(node: NodeView, type_: Literal["Normal", "Warning"], reason: str, note: str) -> Event:
    return Event(NODES, ObjectKey("", node.name), node.uid, type_, reason, note)


def _components(node: NodeView, context: Context[NodeConfig]) -> CriticalComponents | Plan:
    """All that is critical for a node; or the plan that asks for it, or fails since it cannot be known.

    Raises:
        UnreadableError: an object that was found has another shape than an API server stores.
    """
    answers, namespaces = context.answers, context.config.namespaces or ("",)
    on_node = field_query({"spec.nodeName": node.name})
    daemon_sets = [ListQuestion(DAEMON_SETS, Cluster.TARGET, each, _LABELLED) for each in namespaces]
    pods = [ListQuestion(PODS, Cluster.TARGET, each, _LABELLED, on_node) for each in namespaces]
    if obstacle := _obstacle((*daemon_sets, *pods), answers):
        return obstacle
    components = CriticalComponents(
        node, _views(daemon_sets, answers, daemon_set_view), _views(pods, answers, pod_view)
    )
    if not required_drivers(components.pods):
        return components
    csi_node = ObjectQuestion(CSI_NODES, ObjectKey("", node.name), Cluster.TARGET)
    if obstacle := _obstacle((csi_node,), answers):
        return obstacle
    return replace(components, drivers=frozenset().union(*_views((csi_node,), answers, csi_drivers)))


def _obstacle(questions: Sequence[Question], answers: Answers) -> Plan | None:
    """The plan that asks what is not known yet, or fails since it cannot be known; none if all of it is known.

    That there is no CSINode is known as well.
    """
    if any(question not in answers for question in questions):
        return Plan(questions=tuple(questions))
    for question in questions:
        answer = answers[question]
        if isinstance(answer, NotAnswered) and not (isinstance(question, ObjectQuestion) and answer.is_not_found):
            return Plan(failures=(_unknown(question, answer),))
    return None


def _unknown(question: Question, answer: NotAnswered) -> DomainFailure:
    problem = f"cannot be read: {answer.message}"
    key = question.key if isinstance(question, ObjectQuestion) else ObjectKey(question.namespace, "")
    return DomainFailure(question.resource, key, "", problem, retryable=True)


def _views(questions: Sequence[Question], answers: Answers, view: Callable[[Manifest], View]) -> tuple[View, ...]:
    """What is read of the objects that were found."""
    views: list[View] = []
    for question in questions:
        answer = answers[question]
        for manifest in answer.objects if isinstance(answer, Found) else ():
            try:
                views.append(view(manifest))
            except UnreadableError as error:
                raise error.below(f"{question.resource.kind} {key_of(manifest)}") from error
    return tuple(views)


def _pods_of_nameless_drivers(pods: Sequence[PodView]) -> list[PodView]:
    return [pod for pod in pods if "" in required_drivers((pod,))]


def _nameless_driver(pod: PodView) -> DomainFailure:
    problem = "names no CSI driver, so that its node waits for ever"
    return DomainFailure(PODS, pod.key, f"metadata.annotations[{WAIT_FOR_CSI_NODE}...]", problem)


def _is_new_and_waits(change: Change) -> bool:
    """Whether a node was created with the taint; one that gets it later is left to whoever gave it."""
    old, new = change.old, change.new
    return new is not None and waits(new) and (old is None or uid_of(old) != uid_of(new))
