"""The evidence about the Node that a request is for, and whether another Node lists one of its names.

A verdict is final, so none depends on a stale cache: the Node and its Machines are read live. If the cache shows one
Machine, that one is read, and the list only if it is no longer the Machine of the Node: a list takes an API server far
longer. A second Machine of one Node may thus be missed as long as the cache lacks it.

There is no verdict if the source cluster serves no Machines, or if an object cannot be read. A Node that is replaced
lists its addresses for a while after its successor does: the request waits until it no longer does.

Source: network-and-nodes §6.3; decision D-4.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from hedgerow.api.gardener import MACHINES
from hedgerow.api.kubernetes import NODES, SERVICES
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change
from hedgerow.machinery.names import dns_subdomain_problem, label_value_problem
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of, labels_of
from hedgerow.machinery.questions import Found, ListQuestion, NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import UnreadableError, keeping, list_at, text_at
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.machinery.steps import AtOnce
from hedgerow.resource_manager.kubelet_certificates.policy import (
    CertificateRequest,
    Evidence,
    NodeAddresses,
    canonical,
    comparable,
    names_of,
    node_name,
)

NODE_LABEL: Final = "node"
"""The label of a Machine that names its Node."""
API_SERVER: Final = ObjectQuestion(SERVICES, ObjectKey("default", "kubernetes"), Cluster.TARGET)
"""The Service by which pods reach the API server."""
NODES_BY_NAME: Final = Index("nodes by name or address", NODES, names_of)


transform_machine: Final = keeping("metadata.namespace", "metadata.name", f"metadata.labels.{NODE_LABEL}")


def _node_of(machine: Manifest) -> tuple[str, ...]:
    return (labels_of(machine).get(NODE_LABEL) or "",)


MACHINES_BY_NODE: Final = Index("machines by node", MACHINES, _node_of, Cluster.SOURCE)


async def with_node(evidence: Evidence, _snapshot: Snapshot) -> Evidence | str:
    """The evidence with the addresses of the Node and of the API server's Service, if they exist; or why not."""
    name = node_name(evidence.request)
    if dns_subdomain_problem(name) is not None:
        return evidence
    questions = (ObjectQuestion(NODES, ObjectKey("", name), Cluster.TARGET), API_SERVER)
    for question, answer in zip(questions, await AtOnce(questions), strict=True):
        described = f'{question.resource.kind} "{question.key}"'
        try:
            match answer:
                case Found((service, *_)) if question is API_SERVER:
                    addresses = {text_at(service, "spec", "clusterIP"), *list_at(service, "spec", "clusterIPs")}
                    evidence = replace(evidence, api_server_addresses=canonical(filter(None, addresses)))
                case Found((node, *_)):
                    evidence = replace(evidence, node=NodeAddresses.of(node))
                case NotAnswered() if not answer.is_not_found:
                    return f"{described} cannot be read: {answer.message}"
        except UnreadableError as error:
            return f"{described} cannot be understood: {error}"
    return evidence


async def with_machines(evidence: Evidence, snapshot: Snapshot) -> Evidence | str:
    """The evidence with the number of Machines that are the Node, terminating ones included; or why not.

    The longest names of Nodes fit into no label, and so are those of no Machine.
    """
    name = node_name(evidence.request)
    if label_value_problem(name) is not None:
        return evidence
    namespaces = (evidence.machine_namespace,) if evidence.machine_namespace else evidence.namespaces or ("",)
    at_hand = [key_of(machine) for machine in snapshot.by_index(MACHINES_BY_NODE, name)]
    match [key for key in at_hand if not {"", key.namespace}.isdisjoint(namespaces)]:
        case [key]:
            match await ObjectQuestion(MACHINES, key, Cluster.SOURCE):
                case Found((machine, *_)) if name in _node_of(machine):
                    return replace(evidence, machine_count=1)
    return await _with_listed_machines(evidence, name, namespaces)


async def _with_listed_machines(evidence: Evidence, node: str, namespaces: Sequence[str]) -> Evidence | str:
    count, selector = 0, f"{NODE_LABEL}={node}"
    questions = tuple(
        ListQuestion(MACHINES, Cluster.SOURCE, each, label_selector=selector, metadata_only=True) for each in namespaces
    )
    for question, answer in zip(questions, await AtOnce(questions), strict=True):
        if isinstance(answer, NotAnswered):
            where = f'namespace "{question.namespace}"' if question.namespace else "all namespaces"
            return f"Machines in {where} cannot be listed: {answer.message}"
        count += len(answer.objects)
    return replace(evidence, machine_count=count)


@dataclass(frozen=True, slots=True)
class Conflict:
    """A name in a request, and another Node that lists it."""

    name: str
    node: str

    def __str__(self) -> str:
        """As a sentence."""
        return f'Node "{self.node}" lists "{self.name}", too. The request waits until it no longer does.'


def conflict(request: CertificateRequest, snapshot: Snapshot) -> Conflict | None:
    """The first name that another Node lists, and the first such Node; none if the names are those of one Node."""
    own = node_name(request)
    for name in sorted(comparable(request.dns_names | request.ip_addresses)):
        others = {key_of(node).name for node in snapshot.by_index(NODES_BY_NAME, name)} - {own}
        if others:
            return Conflict(name, min(others))
    return None


transform_node: Final = keeping("metadata.name", "status.addresses")


def gives_a_name_up(change: Change) -> bool:
    """True if a Node is gone, or no longer lists a name that it did: only that can end a wait."""
    old, new = change.old, change.new
    return old is not None and (new is None or not names_of(old) <= names_of(new))
