"""Kubelets of one cluster get certificates to serve with, if another cluster has the Machines that they run on."""

import http.client
from base64 import b64decode
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from cryptography import x509

from hedgerow.api.kubernetes import EVENTS
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.resource_manager.kubelet_certificates import KubeletCertificateConfig, kubelet_csr_approver
from hedgerow_adapters.certificate_requests import decoded_request
from tests.control_plane import ControlPlane
from tests.e2e.kubelets import Kubelet, kubelet_users, let_kubelets_ask, sign_approved_requests
from tests.e2e.machines import MACHINE_DEFINITION, define_machines, machine, machines_in
from tests.e2e.resource_manager import ResourceManager, errors_of

SHOOT: Final = "shoot--e2e--kubelets"
USER: Final = "hedgerow"
CONTROLLER: Final = kubelet_csr_approver(KubeletCertificateConfig(decoded_request, SHOOT))
ADDRESSES: Final = (
    ("Hostname", "host"),
    ("InternalIP", "10.1.2.3"),
    ("InternalIP", "fd00::1"),
    ("ExternalDNS", "h.example"),
)
OTHERS: Final = (("Hostname", "other"), ("InternalIP", "10.1.2.4"))
THIRD: Final = (("Hostname", "third"), ("InternalIP", "10.1.2.5"))
APPROVED: Final = "Approving kubelet server certificate CSR (all checks passed)"
OF_MANAGED_RESOURCES: Final = {
    "apiGroups": ["", "resources.gardener.cloud"],
    "resources": ["secrets", "managedresources"],
    "verbs": ["list", "watch"],
}
"""What every process reads in the source."""
_RBAC: Final = "/apis/rbac.authorization.k8s.io/v1"


@pytest.fixture(scope="module")
def source(control_plane: ControlPlane) -> Iterator[ControlPlane]:
    """The cluster with the Machines."""
    define_machines(control_plane)
    create(control_plane, "/api/v1/namespaces", {"metadata": {"name": SHOOT}})
    grant(control_plane, Cluster.SOURCE)
    yield control_plane
    control_plane.request("DELETE", MACHINE_DEFINITION)
    control_plane.request("DELETE", f"/api/v1/namespaces/{SHOOT}")


@pytest.fixture(scope="module")
def target(servers: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """The cluster with the kubelets."""
    with ControlPlane(users=kubelet_users(*(f"worker-{number}" for number in range(1, 7)))) as running:
        let_kubelets_ask(running)
        sign_approved_requests(running, tmp_path_factory.mktemp("signer"))
        grant(running, Cluster.TARGET)
        yield running


@pytest.fixture
def approver(source: ControlPlane, target: ControlPlane, tmp_path: Path) -> Iterator[ResourceManager]:
    """A process that may do what the controller declares, and nothing else."""
    config = {
        "apiVersion": "resourcemanager.config.gardener.cloud/v1alpha1",
        "kind": "ResourceManagerConfiguration",
        "sourceClientConnection": {"kubeconfig": str(source.kubeconfig(USER)), "namespaces": [SHOOT]},
        "targetClientConnection": {"kubeconfig": str(target.kubeconfig(USER))},
        "leaderElection": {"leaderElect": False},
        "controllers": {"kubeletCSRApprover": {"enabled": True, "machineNamespace": SHOOT}},
    }
    with ResourceManager(tmp_path, config) as running:
        running.wait_ready()
        yield running


def create(plane: ControlPlane, path: str, manifest: Mapping[str, Any]) -> None:
    status, answer = plane.request("POST", path, manifest)
    assert status == http.client.CREATED, answer


def grant(plane: ControlPlane, cluster: Cluster) -> None:
    """Let the process do what the controller declares to do in a cluster; in the source within a namespace."""
    watched = [Permission.of(each.resource, "list", "watch") for each in CONTROLLER.watches if each.cluster is cluster]
    told = [Permission.of(EVENTS, "create")] if cluster is Cluster.TARGET else []
    needed = [*watched, *told, *(each for each in CONTROLLER.permissions if each.cluster is cluster)]
    rules = [*map(rule, needed), *([OF_MANAGED_RESOURCES] if cluster is Cluster.SOURCE else [])]
    scope, within = ("ClusterRole", "") if cluster is Cluster.TARGET else ("Role", f"/namespaces/{SHOOT}")
    group, plural = "rbac.authorization.k8s.io", f"{scope.lower()}s"
    create(plane, f"{_RBAC}{within}/{plural}", {"metadata": {"name": "approver"}, "rules": rules})
    create(
        plane,
        f"{_RBAC}{within}/{scope.lower()}bindings",
        {
            "metadata": {"name": "approver"},
            "roleRef": {"apiGroup": group, "kind": scope, "name": "approver"},
            "subjects": [{"apiGroup": group, "kind": "User", "name": USER}],
        },
    )


def rule(permission: Permission) -> dict[str, list[str]]:
    """A permission as a role spells it."""
    of = {"apiGroups": [permission.group], "resources": [permission.plural], "verbs": list(permission.verbs)}
    return {**of, "resourceNames": list(permission.names)} if permission.names else of


def verdict_on(approver: ResourceManager, kubelet: Kubelet, name: str) -> str:
    """The message of the condition of a request, once it has one."""
    approver.wait_for(lambda: kubelet.status_of(name).get("conditions"), f"has decided nothing about {name}")
    (condition,) = kubelet.status_of(name)["conditions"]
    return str(condition["message"])


def test_a_kubelet_gets_the_certificate_of_its_node_and_no_other(
    approver: ResourceManager, source: ControlPlane, target: ControlPlane
) -> None:
    since = target.audit_position()
    kubelet = Kubelet(target, "worker-1")
    kubelet.register(ADDRESSES)
    create(source, machines_in(SHOOT), machine(SHOOT, "m-1", node="worker-1"))

    kubelet.ask("right", ["h.example", "host"], ["fd00::1", "10.1.2.3"])
    kubelet.ask("wrong", ["host", "evil.example.com"], ["10.1.2.3", "fd00::1"])

    assert verdict_on(approver, kubelet, "right") == APPROVED
    assert "(DNS names in CSR do not match addresses of type 'Hostname'" in verdict_on(approver, kubelet, "wrong")
    approver.wait_for(lambda: kubelet.status_of("right").get("certificate"), "has approved what nobody signs")
    certificate = x509.load_pem_x509_certificate(b64decode(kubelet.status_of("right")["certificate"]))
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert set(names.get_values_for_type(x509.DNSName)) == {"h.example", "host"}
    assert "certificate" not in kubelet.status_of("wrong")
    assert errors_of(approver.log_lines()) == []
    written = [
        (event["objectRef"]["name"], event["objectRef"].get("subresource"))
        for event in target.audit_events(USER, {"create", "update", "patch", "delete"}, since=since)
        if event["objectRef"]["resource"] == "certificatesigningrequests"
    ]
    assert sorted(written) == [("right", "approval"), ("wrong", "approval")]


def test_a_node_that_nobody_ordered_is_denied_and_may_ask_again(
    approver: ResourceManager, source: ControlPlane, target: ControlPlane
) -> None:
    kubelet = Kubelet(target, "worker-2")
    kubelet.register(OTHERS)

    kubelet.ask("early", ["other"], ["10.1.2.4"])
    assert f'machine in namespace "{SHOOT}" for node "worker-2" but found 0' in verdict_on(approver, kubelet, "early")

    create(source, machines_in(SHOOT), machine(SHOOT, "m-2", node="worker-2"))
    kubelet.ask("later", ["other"], ["10.1.2.4"])
    assert verdict_on(approver, kubelet, "later") == APPROVED


def test_a_kubelet_gets_no_certificate_for_the_addresses_of_the_api_server(
    approver: ResourceManager, source: ControlPlane, target: ControlPlane
) -> None:
    _, service = target.request("GET", "/api/v1/namespaces/default/services/kubernetes")
    address = service["spec"]["clusterIP"]
    kubelet = Kubelet(target, "worker-4")
    kubelet.register([("Hostname", "kubernetes.default.svc"), ("InternalIP", address)])
    create(source, machines_in(SHOOT), machine(SHOOT, "m-4", node="worker-4"))

    kubelet.ask("by-name", ["kubernetes.default.svc"], [address])
    kubelet.ask("by-address", [], [address])

    assert '"kubernetes.default.svc" in CSR is a name of Services' in verdict_on(approver, kubelet, "by-name")
    assert f'"{address}" in CSR is an address of the Service' in verdict_on(approver, kubelet, "by-address")


def test_a_replaced_node_keeps_its_successor_waiting_until_it_is_gone(
    approver: ResourceManager, source: ControlPlane, target: ControlPlane
) -> None:
    predecessor, successor = Kubelet(target, "worker-5"), Kubelet(target, "worker-6")
    predecessor.register([("Hostname", "worker-5"), ("InternalIP", "10.1.2.6")])
    successor.register([("Hostname", "worker-6"), ("InternalIP", "10.1.2.6")])
    create(source, machines_in(SHOOT), machine(SHOOT, "m-6", node="worker-6"))

    successor.ask("early-bird", ["worker-6"], ["10.1.2.6"])

    note = 'Node "worker-5" lists "10.1.2.6", too. The request waits until it no longer does.'
    approver.wait_for(lambda: note in notes_about(target, "early-bird"), "has not said why the request waits")
    assert "conditions" not in successor.status_of("early-bird")
    assert target.request("DELETE", "/api/v1/nodes/worker-5")[0] == http.client.OK
    assert verdict_on(approver, successor, "early-bird") == APPROVED


def notes_about(target: ControlPlane, name: str) -> list[str]:
    """What Warning events tell of a request."""
    _, events = target.request("GET", "/apis/events.k8s.io/v1/namespaces/default/events")
    return [
        event["note"] for event in events["items"] if event["regarding"]["name"] == name and event["type"] == "Warning"
    ]


def test_nobody_is_denied_while_machines_cannot_be_listed(
    approver: ResourceManager, source: ControlPlane, target: ControlPlane
) -> None:
    kubelet = Kubelet(target, "worker-3")
    kubelet.register(THIRD)
    binding = f"{_RBAC}/namespaces/{SHOOT}/rolebindings/approver"
    _, granted = source.request("GET", binding)
    source.request("DELETE", binding)
    approver.wait_for(lambda: may_list(source) == http.client.FORBIDDEN, "may list Machines for ever")

    kubelet.ask("patient", ["third"], ["10.1.2.5"])

    approver.wait_for(lambda: said(approver, "cannot be listed"), "has not said that it cannot tell")
    assert "conditions" not in kubelet.status_of("patient")
    create(source, machines_in(SHOOT), machine(SHOOT, "m-3", node="worker-3"))
    create(source, binding.removesuffix("/approver"), {**granted, "metadata": {"name": "approver"}})
    assert verdict_on(approver, kubelet, "patient") == APPROVED


def may_list(source: ControlPlane) -> int:
    """What the API server says to the process about Machines: it learns of roles a moment later."""
    return source.request("GET", machines_in(SHOOT), user=USER)[0]


def said(approver: ResourceManager, what: str) -> bool:
    return any(what in str(line) for line in approver.log_lines())
