"""Whether another Node lists a name or an address that a request is for.

A Node that is replaced lists its addresses for a while after its successor does. A denial would be final, so that the
request waits until the other Node is gone or has other addresses.

Source: decision D-4.
"""

from dataclasses import dataclass
from typing import Final

from hedgerow.api.kubernetes import NODES
from hedgerow.machinery.controller import Change
from hedgerow.machinery.objects import Manifest, key_of
from hedgerow.machinery.snapshot import Index, Snapshot
from hedgerow.resource_manager.kubelet_certificates.addresses import comparable, names_of
from hedgerow.resource_manager.kubelet_certificates.policy import node_name
from hedgerow.resource_manager.kubelet_certificates.request import CertificateRequest

NODES_BY_NAME: Final = Index("nodes by name or address", NODES, names_of)


@dataclass(frozen=True, slots=True)
class Conflict:
    """A name in a request, and another Node that lists it."""

    name: str
    node: str

    def __str__(self) -> str:
        """As a sentence."""
        return f'Node "{self.node}" lists "{self.name}", too. The request waits until it no longer does.'


def conflict(request: CertificateRequest, snapshot: Snapshot) -> Conflict | None:
    """The first name that another Node lists, and the first such Node; none if the names are those of one Node.

    Args:
        request: its common name says which Node it is for.
        snapshot: shows the Nodes. A Node that it does not show yet is overlooked.
    """
    own = node_name(request)
    for name in sorted(comparable(request.dns_names | request.ip_addresses)):
        others = {key_of(node).name for node in snapshot.by_index(NODES_BY_NAME, name)} - {own}
        if others:
            return Conflict(name, min(others))
    return None


def kept_of_node(node: Manifest) -> Manifest:
    """Which Node it is, and its addresses."""
    return {
        "metadata": {"name": key_of(node).name},
        "status": {"addresses": (node.get("status") or {}).get("addresses")},
    }


def gives_a_name_up(change: Change) -> bool:
    """True if a Node is gone, or no longer lists a name that it did: only that can end a wait."""
    old, new = change.old, change.new
    return old is not None and (new is None or not names_of(old) <= names_of(new))
