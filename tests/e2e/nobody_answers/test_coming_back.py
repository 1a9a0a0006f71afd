"""While nobody answers webhooks that pods wait for, the cluster and the process go on, and come back by themselves."""

import http.client
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.nobody_answers.cluster import Cluster, Release, new_cluster, new_release
from tests.kubelet_requests import csr_manifest, kubelet_request

LEASES = "/apis/coordination.k8s.io/v1/namespaces/{}/leases"
ENOUGH = 100
CONSIDERED = "high-availability-config.resources.gardener.cloud/consider=true"


@pytest.fixture(scope="module")
def cluster(servers: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with new_cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(
    params=[
        pytest.param(("garden", {}), id="outside Gardener"),
        pytest.param(("default", {"registers_itself": True}), id="that registers itself"),
        pytest.param(("kube-system", {"has_helm": True}), id="in kube-system, by Helm"),
        pytest.param(
            ("seed", {"prefix": "a-", "inGardener": True, "has_helm": True, "registers_itself": True}),
            id="in a seed, by Helm",
        ),
        pytest.param(("runtime", {"prefix": "virtual-garden-", "inGardener": True}), id="in a garden"),
    ]
)
def release(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[Release]:
    namespace, options = request.param
    installed = new_release(cluster, namespace, **options)
    if namespace != "kube-system":
        cluster.kubectl("label", "namespace", namespace, CONSIDERED)
    installed.install()
    yield installed
    installed.remove()


def created(cluster: Cluster, path: str, body: dict[str, Any]) -> None:
    status, answer = cluster.plane.request("POST", path, body)
    assert status == http.client.CREATED, answer


def changed(cluster: Cluster, path: str, body: dict[str, Any]) -> None:
    status, answer = cluster.plane.request("PATCH", path, body)
    assert status == http.client.OK, answer


def test_after_all_replicas_were_killed_nodes_and_leases_go_on_and_the_process_comes_back(
    cluster: Cluster, release: Release
) -> None:
    namespace, name = release.namespace, release.name

    assert cluster.node.kill() == 2
    cluster.node.wait_until(cluster.is_blocked, "the API server needs no answer")

    of_nodes, of_masters = LEASES.format("kube-node-lease"), LEASES.format("kube-system")
    for path in {of_nodes, of_masters, LEASES.format(namespace)}:
        created(cluster, path, {"metadata": {"name": f"{namespace}-new"}, "spec": {"holderIdentity": "one"}})
        changed(cluster, f"{path}/{namespace}-new", {"spec": {"holderIdentity": "two"}})
    node = f"node-of-{namespace}"
    request = csr_manifest(f"{namespace}-csr", kubelet_request(node, [node], []))
    created(cluster, "/apis/certificates.k8s.io/v1/certificatesigningrequests", request)
    created(cluster, "/api/v1/nodes", {"metadata": {"name": node, "labels": {"app": name}}})
    heartbeat = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}
    changed(cluster, f"/api/v1/nodes/{node}/status", {"status": {"conditions": [heartbeat]}})
    dns = f"dns-{namespace}"
    cluster.kubectl("create", "deployment", dns, "-n", "kube-system", "--image=dns:1", "--replicas=2")
    cluster.kubectl("rollout", "restart", "deployment", name, "-n", namespace)
    cluster.kubectl("delete", "pods", "-n", namespace, "--selector", f"app={name}", "--wait=false")

    cluster.kubectl("rollout", "status", "deployment", dns, "-n", "kube-system", "--timeout=250s")
    release.wait_until_available()
    cluster.node.wait_until(cluster.is_mutated, "pods are not changed any more")


def test_two_resource_managers_that_are_killed_together_both_come_back(cluster: Cluster) -> None:
    releases = [new_release(cluster, name, prefix=f"{name}-") for name in ("one", "two")]
    for each in releases:
        each.install()
    try:
        assert cluster.node.kill() == 4
        cluster.node.wait_until(cluster.is_blocked, "the API server needs no answer")
        for each in releases:
            cluster.kubectl("delete", "pods", "-n", each.namespace, "--selector", f"app={each.name}", "--wait=false")
        for each in releases:
            each.wait_until_available()
        cluster.node.wait_until(cluster.is_mutated, "pods are not changed any more")
    finally:
        for each in releases:
            each.remove()


def test_an_api_server_refuses_no_pod_while_replicas_are_replaced_one_by_one_and_removed(cluster: Cluster) -> None:
    release = new_release(cluster, "rolling")
    release.install()
    answers: list[tuple[int, Any]] = []
    is_over = threading.Event()

    def ask() -> None:
        while not is_over.is_set():
            answers.append(cluster.try_pod())

    try:
        # One after the other, so that no connection of the API server is idle when a replica ends: to take up an idle
        # one at the very moment in which a server closes it fails, whatever the server does.
        with ThreadPoolExecutor(max_workers=1) as client:
            client.submit(ask)
            try:
                cluster.kubectl("rollout", "restart", "deployment", release.name, "-n", release.namespace)
                release.wait_until_available()
                cluster.node.wait_until(release.is_settled, "stopping pods stay")
                mutated = len(answers)
                release.remove_part("registrations")
                cluster.node.wait_until(lambda: not cluster.is_mutated(), "the API server still asks")
                release.remove()
            finally:
                is_over.set()
    finally:
        release.remove()

    assert [answer["message"] for status, answer in answers if status != http.client.CREATED] == []
    assert mutated >= ENOUGH
    assert all("seccompProfile" in answer["spec"]["securityContext"] for _, answer in answers[:mutated])
