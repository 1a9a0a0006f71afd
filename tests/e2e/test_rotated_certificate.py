"""A client certificate or an authority that is replaced on disk: open watches go over to it, without a list."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.control_plane import ControlPlane, wait_until
from tests.control_plane.credentials import write_private
from tests.e2e.hasty import HastyResourceManager
from tests.e2e.sandbox import Sandbox, pair, service
from tests.e2e.test_http_transport_tls import NEW_KEY, Certificates, openssl, pair_of

OLD, NEW = "rotated-old", "rotated-new"
QUICK_TO_RENEW = {"hedgerow_adapters.kubernetes.http_transport.RENEWAL_CHECKED_EVERY": 0.5}
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"


@pytest.fixture
def certificates(control_plane: ControlPlane, tmp_path: Path) -> Iterator[Certificates]:
    """Client certificates of two users who may do everything, signed by an authority that the API server trusts."""
    if shutil.which("openssl") is None:
        pytest.skip("needs the openssl command, which makes the certificates")
    made = Certificates(tmp_path)
    openssl("req", "-x509", *NEW_KEY, "-keyout", tmp_path / "ca.key", "-out", made.authority, "-subj", "/CN=clients")
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": OLD},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name} for name in (OLD, NEW)],
    }
    control_plane.request("POST", BINDINGS, binding)
    control_plane.restart_api_server(f"--client-ca-file={made.authority}")
    yield made
    control_plane.restart_api_server()
    control_plane.request("DELETE", f"{BINDINGS}/{OLD}")


def show(sandbox: Sandbox, certificates: Certificates, name: str) -> None:
    """Replace the client certificate in the kubeconfig of the process."""
    document = yaml.safe_load(sandbox.kubeconfig.read_text(encoding="utf-8"))
    document["users"][0]["user"] = pair_of(*certificates.sign(name, "extendedKeyUsage=clientAuth"))
    write_private(sandbox.kubeconfig, yaml.safe_dump(document))


def wait_for_watches(process: HastyResourceManager, plane: ControlPlane, user: str, since: int) -> None:
    """Return when a user has opened all watches since a position of the audit log."""

    def watched() -> set[str]:
        return {event["objectRef"]["resource"] for event in plane.audit_events(user, {"watch"}, since=since)}

    wait_until(
        lambda: watched() >= {"services", "namespaces", "networkpolicies"},
        timeout=60,
        otherwise=lambda: process.error(f"watches only {watched()} since the rotation"),
    )


def test_open_watches_are_opened_anew_with_a_client_certificate_that_was_replaced(
    sandbox: Sandbox, certificates: Certificates
) -> None:
    shop = sandbox.namespace("shop")
    sandbox.create(service(shop, "cart"))
    show(sandbox, certificates, OLD)
    plane = sandbox.control_plane
    with HastyResourceManager(sandbox.folder, sandbox.configuration(), QUICK_TO_RENEW) as process:
        sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))
        process.wait_until_idle()
        position = plane.audit_position()

        show(sandbox, certificates, NEW)

        wait_for_watches(process, plane, NEW, position)
        sandbox.create(service(shop, "till"))
        sandbox.wait_for_policies(pair("shop", "cart-tcp-8080") | pair("shop", "till-tcp-8080"))
        assert process.log_lines("Watch interrupted") == []

    sandbox.wait_for_the_audit_log()
    assert plane.lists(NEW, since=position) == []
    assert plane.audit_events(OLD, {"create"}, since=position) == []


def test_open_watches_are_opened_anew_with_an_authority_that_was_replaced(sandbox: Sandbox) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("needs the openssl command, which makes the certificates")
    shop, plane = sandbox.namespace("shop"), sandbox.control_plane
    sandbox.create(service(shop, "cart"))
    authority, other = sandbox.folder / "trusted.crt", sandbox.folder / "other.crt"
    openssl("req", "-x509", *NEW_KEY, "-keyout", sandbox.folder / "other.key", "-out", other, "-subj", "/CN=other")
    authority.write_text(plane.ca_pem, encoding="utf-8")
    document = yaml.safe_load(sandbox.kubeconfig.read_text(encoding="utf-8"))
    document["clusters"][0]["cluster"] = {"server": plane.url, "certificate-authority": authority.name}
    write_private(sandbox.kubeconfig, yaml.safe_dump(document))
    with HastyResourceManager(sandbox.folder, sandbox.configuration(), QUICK_TO_RENEW) as process:
        sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))
        process.wait_until_idle()
        position = plane.audit_position()

        bundle = sandbox.folder / "bundle.crt"
        bundle.write_text(other.read_text(encoding="utf-8") + plane.ca_pem, encoding="utf-8")
        bundle.rename(authority)

        wait_for_watches(process, plane, sandbox.user, position)
        sandbox.create(service(shop, "till"))
        sandbox.wait_for_policies(pair("shop", "cart-tcp-8080") | pair("shop", "till-tcp-8080"))
        assert process.log_lines("Watch interrupted") == []

    sandbox.wait_for_the_audit_log()
    assert plane.lists(sandbox.user, since=position) == []
