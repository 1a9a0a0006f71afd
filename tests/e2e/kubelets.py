"""Kubelets that ask for certificates to serve with, and the authority that signs what is approved."""

import http.client
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from hedgerow.admission.certificates import certificate_authority, certificate_pem, key_pem
from hedgerow_adapters.clock import utc_now
from hedgerow_entrypoints.cli.webhooks import generate_key, new_issue
from tests.control_plane import ControlPlane
from tests.control_plane.credentials import write_private
from tests.kubelet_requests import NODES_GROUP, csr_manifest, kubelet_request

CSRS: Final = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
SIGNING: Final = "certificatesigningrequest-signing-controller"
_ROLES: Final = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
_BINDINGS: Final = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"


def kubelet_users(*nodes: str) -> dict[str, list[str]]:
    """The users as which the kubelets of Nodes speak to an API server, as a control plane is told of them."""
    return {_user(node): [NODES_GROUP] for node in nodes}


def let_kubelets_ask(control_plane: ControlPlane) -> None:
    """Let kubelets ask for certificates."""
    rule = {"apiGroups": ["certificates.k8s.io"], "resources": ["certificatesigningrequests"], "verbs": ["create"]}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": NODES_GROUP}
    role = {"apiGroup": subject["apiGroup"], "kind": "ClusterRole", "name": "kubelets"}
    _create(control_plane, _ROLES, {"metadata": {"name": "kubelets"}, "rules": [rule]})
    _create(control_plane, _BINDINGS, {"metadata": {"name": "kubelets"}, "roleRef": role, "subjects": [subject]})


def sign_approved_requests(control_plane: ControlPlane, folder: Path, *, beside: Collection[str] = ()) -> None:
    """Have an authority of this control plane sign what is approved.

    Args:
        control_plane: whose controller manager does so; it is not running yet.
        folder: where the authority is kept.
        beside: what other controllers it runs.
    """
    authority = certificate_authority(generate_key(), new_issue(utc_now(), timedelta(days=1)))
    certificate, key = folder / "signer.crt", folder / "signer.key"
    certificate.write_bytes(certificate_pem(authority.certificate))
    write_private(key, key_pem(authority.key).decode())
    files = (f"--cluster-signing-cert-file={certificate}", f"--cluster-signing-key-file={key}")
    control_plane.start_controller_manager([SIGNING, *beside], *files)


@dataclass(frozen=True)
class Kubelet:
    """That of one Node, which is one of the users of its control plane."""

    control_plane: ControlPlane
    node: str

    def register(self, addresses: Iterable[tuple[str, str]]) -> None:
        """Create the Node with these addresses, each with its type."""
        reported = [{"type": address_type, "address": address} for address_type, address in addresses]
        _create(
            self.control_plane, "/api/v1/nodes", {"metadata": {"name": self.node}, "status": {"addresses": reported}}
        )

    def ask(self, name: str, dns: Iterable[str], ips: Iterable[str]) -> None:
        """Create a request for a certificate with these names."""
        manifest = csr_manifest(name, kubelet_request(self.node, dns, ips))
        _create(self.control_plane, CSRS, manifest, user=_user(self.node))

    def status_of(self, name: str) -> Mapping[str, Any]:
        """What has become of a request."""
        status, answer = self.control_plane.request("GET", f"{CSRS}/{name}")
        assert status == http.client.OK, answer
        found: Mapping[str, Any] = answer["status"]
        return found


def _user(node: str) -> str:
    return f"system:node:{node}"


def _create(control_plane: ControlPlane, path: str, manifest: Mapping[str, Any], *, user: str = "admin") -> None:
    status, answer = control_plane.request("POST", path, manifest, user=user)
    assert status == http.client.CREATED, answer
