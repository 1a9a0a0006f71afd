"""Plays scheduler and kubelet, which no test has: pods are bound, run and are ready, or end, as soon as they are there.

Nothing runs in these pods. What controllers of Kubernetes make of them is real: rollouts go on and Jobs complete.
"""

import contextlib
import http.client
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Final, Self

from tests.control_plane.api_client import Stream
from tests.control_plane.plane import ControlPlane

PODS: Final = "/api/v1/pods"
NODES: Final = "/api/v1/nodes"
ENDS: Final = "tests.hedgerow.dev/ends"
"""Label of a pod that ends at once, in the phase that it names; the pods of Jobs succeed without it."""
_NOW: Final = "2026-01-01T00:00:00Z"
"""When everything happened: nobody asks how long a pod has been ready."""
_STREAM_ENDED: Final = (OSError, http.client.HTTPException, ValueError, AttributeError)
"""What reading from a connection comes to that is closed meanwhile."""


class PodKeeper:
    """A context manager: while it is entered, pods of all namespaces are looked after, but those held back.

    Daemon sets run one pod each, as there is one node.
    """

    def __init__(self, control_plane: ControlPlane, *, node: str = "node") -> None:
        self._plane = control_plane
        self._node = node
        self._lock = threading.Lock()
        self._held: set[str] = set()
        self._stream: Stream | None = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._work, name="pod-keeper", daemon=True)

    def __enter__(self) -> Self:
        self._plane.request("POST", NODES, {"metadata": {"name": self._node}})
        # A node is born tainted, as nobody has said yet that it is ready.
        status, answer = self._plane.request("PATCH", f"{NODES}/{self._node}", {"spec": {"taints": None}})
        if status != http.client.OK:
            raise AssertionError(answer)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stopped.set()
        with self._lock:
            if self._stream is not None:
                self._stream.break_off()
        self._thread.join()

    def hold_back(self, namespace: str) -> None:
        """Let new pods of a namespace not become ready for now."""
        with self._lock:
            self._held.add(namespace)

    def let_go(self, namespace: str) -> None:
        """Let the pods of a namespace become ready again, those that were held back among them."""
        with self._lock:
            self._held.discard(namespace)
        for pod in self._plane.request("GET", f"/api/v1/namespaces/{namespace}/pods")[1]["items"]:
            self._look_after(pod)

    def _work(self) -> None:
        """Each pod there is, then each that changes; from the beginning again when the server goes away."""
        while not self._stopped.is_set():
            with contextlib.suppress(*_STREAM_ENDED):
                for pod in self._pods():
                    self._look_after(pod)

    def _pods(self) -> Iterator[dict[str, Any]]:
        _, pods = self._plane.request("GET", PODS)
        yield from pods["items"]
        with self._plane.stream(PODS, resource_version=pods["metadata"]["resourceVersion"]) as stream:
            with self._lock:
                self._stream = stream
            if self._stopped.is_set():
                return
            yield from (event["object"] for event in stream.events() if event["type"] in {"ADDED", "MODIFIED"})

    def _look_after(self, pod: dict[str, Any]) -> None:
        """The next step for a pod, which brings an event about it, and that the step after it."""
        metadata, path = pod["metadata"], _path(pod)
        if "deletionTimestamp" in metadata:
            options = {"gracePeriodSeconds": 0, "preconditions": {"uid": metadata["uid"]}}
            self._plane.request("DELETE", path, options)
        elif "nodeName" not in pod["spec"]:
            target = {"apiVersion": "v1", "kind": "Node", "name": self._node}
            binding = {"metadata": {"name": metadata["name"]}, "target": target}
            self._plane.request("POST", f"{path}/binding", binding)
        elif pod["status"].get("phase") == "Pending" and not self._is_held(metadata["namespace"]):
            self._plane.request("PATCH", f"{path}/status", {"status": _status(pod)})

    def _is_held(self, namespace: str) -> bool:
        with self._lock:
            return namespace in self._held


def _path(pod: dict[str, Any]) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"


def _status(pod: dict[str, Any]) -> dict[str, Any]:
    """What a kubelet says of a pod that runs and is ready, or has ended."""
    end = _end(pod)
    ready = "False" if end else "True"
    names = ("PodScheduled", "Initialized", "ContainersReady", "Ready")
    conditions = [{"type": name, "status": "True", "lastTransitionTime": _NOW} for name in names]
    for condition in conditions[2:]:
        condition["status"] = ready
    return {
        "phase": end or "Running",
        "startTime": _NOW,
        "podIP": "10.1.0.1",
        "conditions": conditions,
        "containerStatuses": [_container_status(container, end) for container in pod["spec"]["containers"]],
    }


def _end(pod: dict[str, Any]) -> str:
    metadata = pod["metadata"]
    if end := metadata.get("labels", {}).get(ENDS):
        return str(end)
    return "Succeeded" if any(owner["kind"] == "Job" for owner in metadata.get("ownerReferences", ())) else ""


def _container_status(container: dict[str, Any], end: str) -> dict[str, Any]:
    ended = {"terminated": {"exitCode": int(end != "Succeeded"), "startedAt": _NOW, "finishedAt": _NOW}}
    return {
        "name": container["name"],
        "image": container["image"],
        "imageID": "",
        "ready": not end,
        "started": not end,
        "restartCount": 0,
        "state": ended if end else {"running": {"startedAt": _NOW}},
    }
