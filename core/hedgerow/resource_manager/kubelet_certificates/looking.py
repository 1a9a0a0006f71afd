"""What the clusters tell of the Node that a request speaks for, and whether another Node lists one of its names.

A verdict is final, so none is given because a cache lags behind: the Node is asked for live, and so are its Machines.
If the cache shows exactly one, that one alone is asked for, and the list only if it is not the Machine of the Node any
more: a list takes an API server far longer than one object. A second Machine of one Node may thus be missed for as long
as the cache does not show it.

What cannot be found out is no verdict either: not where the source cluster serves no Machines, nor of a Node that
cannot be understood, as it may be this process that cannot read it. A Node that is replaced lists its addresses for a
while after its successor does; the request waits until the other Node is gone or has other addresses.

Source: network-and-nodes §6.3; decision D-4.
"""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from hedgerow.api.gardener import MACHINES
from hedgerow.api.kubernetes import NODES, SERVICES
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change
from hedgerow.machinery.names import dns_subdomain_problem, label_value_problem
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of, labels_of
from hedgerow.machinery.questions import Answer, Found, ListQuestion, NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import UnreadableError, list_at, text_at
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
"""By it a Machine names its Node."""
API_SERVER: Final = ObjectQuestion(SERVICES, ObjectKey("default", "kubernetes"), Cluster.TARGET)
"""Every API server keeps the Service by which pods reach it."""
NODES_BY_NAME: Final = Index("nodes by name or address", NODES, names_of)


def transform_machine(machine: Manifest) -> Manifest:
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


Seen: TypeAlias = Evidence | Unknown
"""The evidence with more in it, or why it cannot be found out."""
Look: TypeAlias = Callable[[Evidence, Snapshot], Coroutine[Any, Any, Seen]]


async def with_node(evidence: Evidence, _snapshot: Snapshot) -> Seen:
    """The evidence with the addresses of the Node, if there is one, and with those of the API server's Service.

    A name that no object can have is that of no Node.
    """
    name = node_name(evidence.request)
    if dns_subdomain_problem(name) is not None:
        return evidence
    node_answer, service_answer = await AtOnce((ObjectQuestion(NODES, ObjectKey("", name), Cluster.TARGET), API_SERVER))
    seen = _with_api_server(evidence, service_answer)
    if isinstance(seen, Unknown):
        return seen
    match node_answer:
        case Found((node, *_)):
            return _with_addresses(seen, node)
        case NotAnswered() as answer if not answer.is_not_found:
            return Unknown(f'Node "{name}" cannot be read: {answer.message}')
        case _:
            return seen


def _with_api_server(evidence: Evidence, answer: Answer) -> Evidence | Unknown:
    """The evidence with the cluster IPs of the API server's Service, of which manifests in files may lack."""
    match answer:
        case Found((service, *_)):
            try:
                addresses = {text_at(service, "spec", "clusterIP"), *list_at(service, "spec", "clusterIPs")}
            except UnreadableError as error:
                return Unknown(f'Service "{API_SERVER.key}" cannot be understood: {error}')
            return replace(evidence, api_server_addresses=canonical(each for each in addresses if each))
        case NotAnswered() as answer if not answer.is_not_found:
            return Unknown(f'Service "{API_SERVER.key}" cannot be read: {answer.message}')
        case _:
            return evidence


async def with_machines(evidence: Evidence, snapshot: Snapshot) -> Seen:
    """The evidence with the number of Machines that are the Node, those that are to go included.

    The longest names of Nodes fit into no label, and so into that of no Machine.
    """
    name, namespaces = node_name(evidence.request), _namespaces(evidence)
    if label_value_problem(name) is not None:
        return evidence
    at_hand = [key_of(machine) for machine in snapshot.by_index(MACHINES_BY_NODE, name)]
    match [key for key in at_hand if not {"", key.namespace}.isdisjoint(namespaces)]:
        case [key]:
            match await ObjectQuestion(MACHINES, key, Cluster.SOURCE):
                case Found((machine, *_)) if name in _node_of(machine):
                    return replace(evidence, machine_count=1)
    return await _with_listed_machines(evidence, name, namespaces)


async def _with_listed_machines(evidence: Evidence, node: str, namespaces: Sequence[str]) -> Seen:
    """The evidence with the number of Machines in some namespaces that are a Node."""
    count, selector = 0, f"{NODE_LABEL}={node}"
    questions = tuple(
        ListQuestion(MACHINES, Cluster.SOURCE, each, label_selector=selector, metadata_only=True) for each in namespaces
    )
    for question, answer in zip(questions, await AtOnce(questions), strict=True):
        if isinstance(answer, NotAnswered):
            where = f'namespace "{question.namespace}"' if question.namespace else "all namespaces"
            return Unknown(f"Machines in {where} cannot be listed: {answer.message}")
        count += len(answer.objects)
    return replace(evidence, machine_count=count)


def _namespaces(evidence: Evidence) -> tuple[str, ...]:
    """Where Machines are looked for, one list each; of all namespaces there is a single one."""
    return (evidence.machine_namespace,) if evidence.machine_namespace else evidence.namespaces or ("",)


def _with_addresses(evidence: Evidence, node: Manifest) -> Evidence | Unknown:
    try:
        return replace(evidence, node=NodeAddresses.of(node))
    except UnreadableError as error:
        return Unknown(f'Node "{node_name(evidence.request)}" cannot be understood: {error}')


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


def transform_node(node: Manifest) -> Manifest:
    """Which Node it is, and its addresses."""
    return {
        "metadata": {"name": key_of(node).name},
        "status": {"addresses": (node.get("status") or {}).get("addresses")},
    }


def gives_a_name_up(change: Change) -> bool:
    """True if a Node is gone, or no longer lists a name that it did: only that can end a wait."""
    old, new = change.old, change.new
    return old is not None and (new is None or not names_of(old) <= names_of(new))
