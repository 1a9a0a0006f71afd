"""What the clusters tell of the Node that a request speaks for.

A verdict is final, so none is given because a cache lags behind, or is no longer kept in step: the Node is asked for
live, and so are its Machines. If the cache shows exactly one, that one alone is asked for, and the list only if it is
not the Machine of the Node any more. To ask for a list takes far longer than to ask for one object, as an API server
first finds out whether it has missed a change; who has a Machine is not to wait for that. A second Machine of one Node
may thus be missed for as long as the cache does not show it.

What cannot be found out is no verdict either. That holds for a source cluster that does not serve Machines, too: there
nobody can tell which Nodes were ordered. It also holds for a Node that cannot be understood, as it may be this process
that cannot read it.

Source: network-and-nodes §6.3.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.names import dns_subdomain_problem, label_value_problem
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of, labels_of
from hedgerow.machinery.questions import Answers, Found, ListQuestion, NotAnswered, ObjectQuestion, Question
from hedgerow.machinery.reading import UnreadableError
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.resource_manager.kubelet_certificates.addresses import NodeAddresses
from hedgerow.resource_manager.kubelet_certificates.policy import Evidence, node_name
from hedgerow.resource_manager.kubelet_certificates.resources import MACHINES, NODES

NODE_LABEL: Final = "node"
"""By it a Machine names its Node."""


def kept_of_machine(machine: Manifest) -> Manifest:
    """Which Machine it is, and of which Node."""
    key, node = key_of(machine), labels_of(machine).get(NODE_LABEL)
    return {"metadata": {"namespace": key.namespace, "name": key.name, "labels": {NODE_LABEL: node}}}


def _node_of(machine: Manifest) -> tuple[str, ...]:
    return (labels_of(machine).get(NODE_LABEL) or "",)


MACHINES_BY_NODE: Final = Index("machines by node", MACHINES, _node_of, Cluster.SOURCE)


@dataclass(frozen=True, slots=True)
class Unknown:
    """Why something that a verdict depends on cannot be found out now."""

    problem: str


Seen: TypeAlias = Evidence | tuple[Question, ...] | Unknown
"""The evidence with more in it, or what has to be asked first, or why nobody can tell."""
Look: TypeAlias = Callable[[Evidence, Snapshot, Answers], Seen]


def as_it_is(evidence: Evidence, _snapshot: Snapshot, _answers: Answers) -> Evidence:
    """Nothing more has to be known."""
    return evidence


def with_node(evidence: Evidence, _snapshot: Snapshot, answers: Answers) -> Seen:
    """The evidence with the addresses of the Node, if there is one; what is no name of an object is that of none."""
    name = node_name(evidence.request)
    if dns_subdomain_problem(name) is not None:
        return evidence
    question = ObjectQuestion(NODES, ObjectKey("", name), Cluster.TARGET)
    match answers.get(question):
        case None:
            return (question,)
        case Found((node, *_)):
            return _with_addresses(evidence, node)
        case NotAnswered() as answer if not answer.is_not_found:
            return Unknown(f'Node "{name}" cannot be read: {answer.message}')
        case _:
            return evidence


def with_machines(evidence: Evidence, snapshot: Snapshot, answers: Answers) -> Seen:
    """The evidence with the number of Machines that are the Node, those that are to go included.

    The longest names of Nodes fit into no label, and so into that of no Machine.
    """
    name, namespaces = node_name(evidence.request), _namespaces(evidence)
    if label_value_problem(name) is not None:
        return evidence
    at_hand = [key_of(machine) for machine in snapshot.by_index(MACHINES_BY_NODE, name)]
    match [key for key in at_hand if not {"", key.namespace}.isdisjoint(namespaces)]:
        case [key]:
            question = ObjectQuestion(MACHINES, key, Cluster.SOURCE)
            match answers.get(question):
                case None:
                    return (question,)
                case Found((machine, *_)) if name in _node_of(machine):
                    return replace(evidence, machine_count=1)
    return _with_listed_machines(evidence, name, namespaces, answers)


def _with_listed_machines(evidence: Evidence, node: str, namespaces: Sequence[str], answers: Answers) -> Seen:
    """The evidence with the number of Machines in some namespaces that are a Node, once all are known."""
    count, selector = 0, f"{NODE_LABEL}={node}"
    questions = tuple(
        ListQuestion(MACHINES, Cluster.SOURCE, each, label_selector=selector, metadata_only=True) for each in namespaces
    )
    if any(question not in answers for question in questions):
        return questions
    for question in questions:
        match answers[question]:
            case Found(machines):
                count += len(machines)
            case NotAnswered(message=message):
                where = f'namespace "{question.namespace}"' if question.namespace else "all namespaces"
                return Unknown(f"Machines in {where} cannot be listed: {message}")
    return replace(evidence, machine_count=count)


def _namespaces(evidence: Evidence) -> tuple[str, ...]:
    """Where Machines are looked for, one list each; of all namespaces there is a single one."""
    return (evidence.machine_namespace,) if evidence.machine_namespace else evidence.namespaces or ("",)


def _with_addresses(evidence: Evidence, node: Manifest) -> Evidence | Unknown:
    try:
        return replace(evidence, node=NodeAddresses.of(node))
    except UnreadableError as error:
        return Unknown(f'Node "{node_name(evidence.request)}" cannot be understood: {error}')
