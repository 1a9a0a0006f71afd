"""Plays scheduler and kubelet, and runs the processes of the resource manager as its pods say.

What a pod needs, it gets as on a real node: its configuration from its ConfigMap, its certificate from its Secret, and
a token of its ServiceAccount. All other pods run without a process.
"""

import base64
import http.client
import itertools
import signal
import threading
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any, Final, Self

import yaml

from tests.control_plane import PATIENCE, ControlPlane, wait_until
from tests.e2e.permissions import account_kubeconfig
from tests.e2e.resource_manager import ResourceManager

NODE: Final = "node-1"
PERIOD: Final = 0.1
CONTAINER: Final = "gardener-resource-manager"
_NOW: Final = "2026-01-01T00:00:00Z"
_SLICES: Final = "/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices?labelSelector=kubernetes.io/service-name={}"


class Node:
    """A context manager: while it is entered, pods of all namespaces run."""

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        self._plane = plane
        self._folder = folder
        self._lock = threading.RLock()
        self._addresses: dict[str, str] = {}
        self._processes: dict[str, ResourceManager] = {}
        self._said: dict[str, bool] = {}
        self._told: set[str] = set()
        self._calls = itertools.count()
        self._stopped = threading.Event()
        self._problem: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="node", daemon=True)

    def __enter__(self) -> Self:
        self._plane.request("POST", "/api/v1/nodes", {"metadata": {"name": NODE}})
        self._plane.request("PATCH", f"/api/v1/nodes/{NODE}", {"spec": {"taints": None}})
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stopped.set()
        self._thread.join()
        for process in self._processes.values():
            process.__exit__(kind, error, traceback)
        if self._problem is not None:
            raise self._problem

    def kill(self) -> int:
        """End all processes as crashes would; how many there were. Only new pods get a process."""
        with self._lock:
            running = [process for process in self._processes.values() if process.running]
            for process in running:
                process.kill()
        return len(running)

    def port_of(self, address: str) -> int | None:
        """Where a ready pod of the Service at an address answers webhooks; none: there is no such pod."""
        address = address.rpartition(":")[0]
        for service in self._plane.request("GET", "/api/v1/services")[1]["items"]:
            if service["spec"].get("clusterIP") == address:
                metadata = service["metadata"]
                slices = self._plane.request("GET", _SLICES.format(metadata["namespace"], metadata["name"]))[1]["items"]
                ready = [
                    endpoint["targetRef"]["uid"]
                    for each in slices
                    for endpoint in each["endpoints"] or ()
                    if endpoint["conditions"]["ready"]
                ]
                return self._processes[ready[next(self._calls) % len(ready)]].webhook_port if ready else None
        return None

    def _work(self) -> None:
        try:
            while not self._stopped.wait(PERIOD):
                with self._lock:
                    for pod in self._plane.request("GET", "/api/v1/pods")[1]["items"]:
                        self._look_after(pod)
        except BaseException as error:  # noqa: BLE001 -- the test is to fail with it
            self._problem = error

    def _look_after(self, pod: dict[str, Any]) -> None:
        """The next step for a pod."""
        metadata = pod["metadata"]
        uid, path = metadata["uid"], f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"
        process = self._processes.get(uid)
        if "deletionTimestamp" in metadata:
            if process is not None and process.running:
                if uid not in self._told:
                    self._told.add(uid)
                    process.send_signal(signal.SIGTERM)
                return
            options = {"gracePeriodSeconds": 0, "preconditions": {"uid": uid}}
            self._plane.request("DELETE", path, options)
        elif "nodeName" not in pod["spec"]:
            target = {"apiVersion": "v1", "kind": "Node", "name": NODE}
            status, answer = self._plane.request(
                "POST", f"{path}/binding", {"metadata": {"name": metadata["name"]}, "target": target}
            )
            assert status in {http.client.CREATED, http.client.CONFLICT, http.client.NOT_FOUND}, answer
        else:
            if process is None and pod["spec"]["containers"][0]["name"] == CONTAINER:
                process = self._processes[uid] = self._process(pod)
            self._report(pod, path, is_ready=process is None or self._is_ready(process))

    def _is_ready(self, process: ResourceManager) -> bool:
        return process.running and process.probe("/readyz")[0] == http.client.OK

    def _process(self, pod: dict[str, Any]) -> ResourceManager:
        """The process of a pod, started."""
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        folder = self._folder / name
        folder.mkdir()
        volumes = {each["name"]: each for each in pod["spec"]["volumes"]}
        config_map = self._get("configmaps", namespace, volumes["config"]["configMap"]["name"])
        for file, text in config_map["data"].items():
            (folder / file).write_text(text, encoding="utf-8")
        config = yaml.safe_load(config_map["data"]["config.yaml"])
        if "certificates" in volumes:
            pair = self._get("secrets", namespace, volumes["certificates"]["secret"]["secretName"])["data"]
            for file in ("tls.crt", "tls.key"):
                (folder / file).write_bytes(base64.b64decode(pair[file]))
        account = pod["spec"]["serviceAccountName"]
        config["sourceClientConnection"] = {
            "kubeconfig": str(account_kubeconfig(self._plane, namespace, folder, account))
        }
        served = config["server"]["webhooks"]
        tls = {**served["tls"], "serverCertDir": str(folder)}
        if tls["provision"] == "self":
            file = PurePosixPath(tls["self"]["registrations"]).name
            tls["self"] = {**tls["self"], "registrations": str(folder / file)}
        return ResourceManager(folder, config, name=name, shutdown_delay=served["shutdownDelay"], tls=tls).__enter__()

    def _get(self, plural: str, namespace: str, name: str) -> dict[str, Any]:
        status, answer = self._plane.request("GET", f"/api/v1/namespaces/{namespace}/{plural}/{name}")
        assert status == http.client.OK, answer
        return answer

    def _report(self, pod: dict[str, Any], path: str, *, is_ready: bool) -> None:
        """Say what has become of a pod, if that is news."""
        uid = pod["metadata"]["uid"]
        if self._said.get(uid) is is_ready:
            return
        address = self._addresses.setdefault(uid, f"10.1.0.{len(self._addresses) + 1}")
        names = ("PodScheduled", "Initialized", "ContainersReady", "Ready")
        of_readiness = str(is_ready)
        conditions = [{"type": name, "status": "True", "lastTransitionTime": _NOW} for name in names[:2]]
        conditions += [{"type": name, "status": of_readiness, "lastTransitionTime": _NOW} for name in names[2:]]
        containers = [
            {
                "name": each["name"],
                "image": each["image"],
                "imageID": "",
                "ready": is_ready,
                "started": True,
                "restartCount": 0,
                "state": {"running": {"startedAt": _NOW}},
            }
            for each in pod["spec"]["containers"]
        ]
        status = {"phase": "Running", "startTime": _NOW, "podIP": address, "podIPs": [{"ip": address}]}
        said = {**status, "conditions": conditions, "containerStatuses": containers}
        if self._plane.request("PATCH", f"{path}/status", {"status": said})[0] == http.client.OK:
            self._said[uid] = is_ready

    def wait_until(self, condition: Any, problem: str) -> None:
        """Return when a condition holds; fails at once if the node cannot go on."""

        def holds() -> bool:
            if self._problem is not None:
                raise self._problem
            return bool(condition())

        wait_until(holds, timeout=PATIENCE, otherwise=lambda: AssertionError(problem))
