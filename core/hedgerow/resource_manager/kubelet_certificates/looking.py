"""What the clusters tell of the Node that a request speaks for.

A verdict is final, so nobody is denied because a cache lags behind: the Node is asked for live, and so are its Machines
unless the cache shows exactly one. To ask for a list takes far longer than to ask for one object, as an API server
first finds out whether it has missed a change; who has a Machine is not to wait for that.

What cannot be found out is no verdict either. That holds for a source cluster that does not serve Machines, too: there
nobody can tell which Nodes were ordered.

Source: network-and-nodes §6.3.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.names import dns_subdomain_problem, label_value_problem
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of, labels_of
from hedgerow.machinery.questions import Answers, Found, ListQuestion, NotAnswered, ObjectQuestion, Question
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


Look: TypeAlias = Callable[[Evidence, Snapshot, Answers], Evidence | Question | Unknown]
"""The evidence with more in it, or what has to be asked first, or why nobody can tell."""


def as_it_is(evidence: Evidence, _snapshot: Snapshot, _answers: Answers) -> Evidence:
    """Nothing more has to be known."""
    return evidence


def with_node(evidence: Evidence, _snapshot: Snapshot, answers: Answers) -> Evidence | Question | Unknown:
    """The evidence with the addresses of the Node, if there is one; none can have a name that is no name of an object.

    Raises:
        UnreadableError: the Node has a shape that no API server stores.
    """
    name = node_name(evidence.request)
    if dns_subdomain_problem(name) is not None:
        return evidence
    question = ObjectQuestion(NODES, ObjectKey("", name), Cluster.TARGET)
    match answers.get(question):
        case None:
            return question
        case Found((node, *_)):
            return replace(evidence, node=NodeAddresses.of(node))
        case NotAnswered() as answer if not answer.is_not_found:
            return Unknown(f'Node "{name}" cannot be read: {answer.message}')
        case _:
            return evidence


def with_machines(evidence: Evidence, snapshot: Snapshot, answers: Answers) -> Evidence | Question | Unknown:
    """The evidence with the number of Machines that are the Node, those that are to go included.

    The longest names of Nodes fit into no label, and so into that of no Machine.
    """
    name, namespace = node_name(evidence.request), evidence.machine_namespace
    if label_value_problem(name) is not None:
        return evidence
    at_hand = snapshot.by_index(MACHINES_BY_NODE, name)
    if sum(namespace in {"", key_of(machine).namespace} for machine in at_hand) == 1:
        return replace(evidence, machine_count=1)
    selector = f"{NODE_LABEL}={name}"
    question = ListQuestion(MACHINES, Cluster.SOURCE, namespace, label_selector=selector, metadata_only=True)
    match answers.get(question):
        case None:
            return question
        case Found(machines):
            return replace(evidence, machine_count=len(machines))
        case NotAnswered(message=message):
            where = f'namespace "{namespace}"' if namespace else "all namespaces"
            return Unknown(f"Machines in {where} cannot be listed: {message}")
