"""The control plane itself keeps what it promises to the tests that use it."""

import http.client
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.control_plane import ControlPlane, KubectlError, ServerError, wait_until

BUILD_SCRIPT = Path(__file__).parent / "servers" / "build.py"
REPOSITORY = Path(__file__).parents[2]


def eventually(condition: Callable[[], bool], what: str, timeout: float = 30.0) -> None:
    wait_until(condition, timeout=timeout, otherwise=lambda: AssertionError(f"not within {timeout} s: {what}"))


def named(name: str, **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, **metadata}}


def create_namespace(control_plane: ControlPlane, name: str) -> str:
    """The path of the configmaps in a new namespace."""
    status, answer = control_plane.request("POST", "/api/v1/namespaces", named(name))
    assert status == http.client.CREATED, answer
    return f"/api/v1/namespaces/{name}/configmaps"


def create(control_plane: ControlPlane, path: str, *names: str) -> list[dict[str, Any]]:
    answers = [control_plane.request("POST", path, named(name)) for name in names]
    assert [status for status, _ in answers] == [http.client.CREATED] * len(names), answers
    return [answer for _, answer in answers]


@pytest.fixture
def controller_manager(control_plane: ControlPlane) -> Iterator[None]:
    control_plane.start_controller_manager()
    yield
    control_plane.stop_controller_manager()


def test_the_api_server_is_ready_and_reports_the_pinned_version(control_plane: ControlPlane) -> None:
    pinned = re.search(r"k8s.io/kubernetes (v\S+)", (BUILD_SCRIPT.parent / "go.mod").read_text(encoding="utf-8"))
    assert pinned is not None
    assert control_plane.request("GET", "/readyz") == (http.client.OK, {"text": "ok"})
    assert control_plane.request("GET", "/version")[1]["gitVersion"] == pinned[1]


def test_a_kubeconfig_has_a_context_named_after_its_user(control_plane: ControlPlane) -> None:
    config = yaml.safe_load(control_plane.kubeconfig("hedgerow").read_text(encoding="utf-8"))
    assert config["current-context"] == "hedgerow"
    assert control_plane.kubectl("auth", "whoami", "-o", "jsonpath={.status.userInfo.username}") == "admin"
    assert "hedgerow" in control_plane.kubectl("auth", "whoami", user="hedgerow")


def test_kubectl_applies_what_it_is_given_and_says_why_it_fails(
    control_plane: ControlPlane, namespace_prefix: str
) -> None:
    create_namespace(control_plane, namespace_prefix)
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", **named("given", namespace=namespace_prefix)}
    assert "created" in control_plane.kubectl("apply", "-f", "-", input=yaml.safe_dump(manifest))
    with pytest.raises(KubectlError, match='namespaces "absent" not found'):
        control_plane.kubectl("get", "namespace", "absent")


def test_rbac_denies_a_user_what_no_role_grants(control_plane: ControlPlane) -> None:
    status, answer = control_plane.request("GET", "/api/v1/services", user="hedgerow")
    assert status == http.client.FORBIDDEN
    assert 'User "hedgerow" cannot list resource "services"' in answer["message"]


def test_a_user_added_later_is_known_with_their_groups(control_plane: ControlPlane) -> None:
    control_plane.add_user("late", "gardeners")
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    _, answer = control_plane.request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review, user="late")
    assert answer["status"]["userInfo"]["groups"] == ["gardeners", "system:authenticated"]


def test_service_account_tokens_are_issued_and_believed(control_plane: ControlPlane, namespace_prefix: str) -> None:
    create_namespace(control_plane, namespace_prefix)
    create(control_plane, f"/api/v1/namespaces/{namespace_prefix}/serviceaccounts", "robot")
    token = control_plane.kubectl("create", "token", "robot", "-n", namespace_prefix).strip()
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
    _, answer = control_plane.request("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review)
    assert answer["status"]["user"]["username"] == f"system:serviceaccount:{namespace_prefix}:robot"


def test_the_audit_log_tells_who_asked_what_and_what_was_answered(
    control_plane: ControlPlane, namespace_prefix: str
) -> None:
    position = control_plane.audit_position()
    control_plane.request("GET", f"/api/v1/namespaces/{namespace_prefix}", user="hedgerow")
    control_plane.request("GET", "/api/v1/namespaces", user="admin")

    def asked_by_hedgerow() -> list[dict[str, Any]]:
        return control_plane.audit_events("hedgerow", ["get"], since=position)

    eventually(lambda: len(asked_by_hedgerow()) == 1, "one audit event of hedgerow")
    (event,) = asked_by_hedgerow()
    assert event["objectRef"]["resource"] == "namespaces"
    assert event["objectRef"]["name"] == namespace_prefix
    assert event["responseStatus"]["code"] == http.client.FORBIDDEN


def test_a_watch_is_in_the_audit_log_once(control_plane: ControlPlane, namespace_prefix: str) -> None:
    configmaps = create_namespace(control_plane, namespace_prefix)
    position = control_plane.audit_position()
    control_plane.watch(configmaps, resource_version="0", seconds=1)

    def stages() -> list[str]:
        events = control_plane.audit_events(verbs=["watch"], since=position)
        return [event["stage"] for event in events if event["objectRef"].get("namespace") == namespace_prefix]

    eventually(lambda: stages() == ["ResponseComplete"], "one completed watch")


def test_a_restart_keeps_data_address_and_certificate(control_plane: ControlPlane, namespace_prefix: str) -> None:
    configmaps = create_namespace(control_plane, namespace_prefix)
    create(control_plane, configmaps, "kept")
    before = (control_plane.url, control_plane.ca_pem)
    control_plane.restart_api_server()
    assert control_plane.request("GET", f"{configmaps}/kept")[0] == http.client.OK
    assert (control_plane.url, control_plane.ca_pem) == before


def test_nobody_answers_while_the_api_server_is_stopped(control_plane: ControlPlane) -> None:
    control_plane.stop_api_server(grace=0)
    try:
        with pytest.raises(ConnectionRefusedError):
            control_plane.request("GET", "/readyz")
    finally:
        control_plane.start_api_server()


def test_expired_resource_versions_bring_410(control_plane: ControlPlane, namespace_prefix: str) -> None:
    configmaps = create_namespace(control_plane, namespace_prefix)
    create(control_plane, configmaps, "a", "b", "c")
    _, page = control_plane.request("GET", f"{configmaps}?limit=1")
    control_plane.expire_resource_versions()
    assert_410(control_plane, configmaps, page["metadata"])
    _, fresh = control_plane.request("GET", configmaps)
    assert control_plane.watch(configmaps, resource_version=fresh["metadata"]["resourceVersion"]) == []


def test_without_a_watch_cache_compaction_alone_brings_410(control_plane: ControlPlane, namespace_prefix: str) -> None:
    control_plane.restart_api_server("--watch-cache=false", grace=0)
    try:
        configmaps = create_namespace(control_plane, namespace_prefix)
        create(control_plane, configmaps, "a", "b", "c")
        _, page = control_plane.request("GET", f"{configmaps}?limit=1")
        control_plane.compact_etcd()
        assert_410(control_plane, configmaps, page["metadata"])
    finally:
        control_plane.restart_api_server(grace=0)


def assert_410(control_plane: ControlPlane, path: str, page: dict[str, Any]) -> None:
    status, answer = control_plane.request("GET", f"{path}?limit=1&continue={page['continue']}")
    assert (status, answer["reason"]) == (http.client.GONE, "Expired")
    (event,) = control_plane.watch(path, resource_version=page["resourceVersion"])
    assert (event["type"], event["object"]["code"], event["object"]["reason"]) == ("ERROR", http.client.GONE, "Expired")


def test_a_deleted_namespace_goes_away(
    control_plane: ControlPlane, controller_manager: None, namespace_prefix: str
) -> None:
    create(control_plane, create_namespace(control_plane, namespace_prefix), "inside")
    path = f"/api/v1/namespaces/{namespace_prefix}"
    control_plane.request("DELETE", path)
    eventually(lambda: control_plane.request("GET", path)[0] == http.client.NOT_FOUND, "the namespace is gone")


def test_an_object_goes_away_with_its_owner(
    control_plane: ControlPlane, controller_manager: None, namespace_prefix: str
) -> None:
    configmaps = create_namespace(control_plane, namespace_prefix)
    (owner,) = create(control_plane, configmaps, "owner")
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"]}
    control_plane.request("POST", configmaps, named("owned", ownerReferences=[reference]))
    control_plane.request("DELETE", f"{configmaps}/owner")
    eventually(
        lambda: control_plane.request("GET", f"{configmaps}/owned")[0] == http.client.NOT_FOUND, "the owned is gone"
    )


def test_a_server_that_does_not_start_says_why(servers: Path) -> None:
    control_plane = ControlPlane(api_server_flags=["--no-such-flag"])
    with pytest.raises(ServerError, match=r"(?s)kube-apiserver has ended.*unknown flag: --no-such-flag"):
        control_plane.start()


def test_servers_outlive_the_thread_but_not_the_process_that_started_them(servers: Path) -> None:
    owner = subprocess.Popen([sys.executable, "-c", STARTS_IN_A_THREAD], cwd=REPOSITORY, stdout=subprocess.PIPE)
    with owner:
        assert owner.stdout is not None
        folder, *processes = owner.stdout.readline().decode().split()
        try:
            assert len(processes) == 2
            assert all(is_alive(int(process)) for process in processes)
        finally:
            owner.send_signal(signal.SIGKILL)
    eventually(lambda: not any(is_alive(int(process)) for process in processes), "the servers have died")
    subprocess.run(["rm", "-r", folder], check=True)


STARTS_IN_A_THREAD = """
import threading
from tests.control_plane import ControlPlane
control_plane = ControlPlane()
starter = threading.Thread(target=control_plane.start)
starter.start()
starter.join()
assert control_plane.request("GET", "/readyz")[0] == 200
running = control_plane._now
print(running.layout.folder, *(server.pid for server in running.servers()), flush=True)
threading.Event().wait()
"""


def is_alive(process: int) -> bool:
    """Whether it runs: one that has ended but that nobody has waited for yet does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in {"Z", "X"}


def test_given_assets_are_taken_as_they_are(tmp_path: Path) -> None:
    for name in ("etcd", "kube-apiserver"):
        (tmp_path / name).touch(mode=0o755)
    assert run_build(KUBEBUILDER_ASSETS=str(tmp_path)) == (0, f"{tmp_path}\n", "")


def test_given_assets_without_a_server_are_refused(tmp_path: Path) -> None:
    (tmp_path / "etcd").touch(mode=0o755)
    code, output, problem = run_build(KUBEBUILDER_ASSETS=str(tmp_path))
    assert (code, output) == (1, "")
    assert f"KUBEBUILDER_ASSETS names {tmp_path}, which has no executable kube-apiserver" in problem


def run_build(**environment: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, str(BUILD_SCRIPT)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr
