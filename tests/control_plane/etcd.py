"""The etcd server, and the little that tests ask of it directly."""

import base64
import http.client
import itertools
import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.control_plane.layout import Layout
from tests.control_plane.processes import PATIENCE, Server, wait_until

MARKER_KEY = "/hedgerow-tests/marker"
BATCH = 128
"""Operations of one transaction, etcd's own limit."""


class Etcd:
    """A single etcd member on loopback that never waits for the disk: its data live as long as the tests."""

    def __init__(self, binary: Path, layout: Layout, ports: Sequence[int]) -> None:
        self._port, peer_port = ports
        self._data = layout.folder / "etcd"
        peer = f"http://127.0.0.1:{peer_port}"
        self.url = f"http://127.0.0.1:{self._port}"
        flags = {
            "name": "default",
            "data-dir": str(self._data),
            "listen-client-urls": self.url,
            "advertise-client-urls": self.url,
            "listen-peer-urls": peer,
            "initial-advertise-peer-urls": peer,
            "initial-cluster": f"default={peer}",
            "unsafe-no-fsync": "true",
            "heartbeat-interval": "50",
            "election-timeout": "500",
            "watch-progress-notify-interval": "5s",
            "log-level": "warn",
        }
        command = [str(binary), *(f"--{name}={value}" for name, value in flags.items())]
        self.server = Server("etcd", command, layout.log("etcd"))

    def back_up(self, folder: Path) -> None:
        """Copies its data; it has to be stopped."""
        shutil.copytree(self._data, folder)

    def restore(self, folder: Path) -> None:
        """Replaces its data by a copy; it has to be stopped."""
        shutil.rmtree(self._data)
        shutil.copytree(folder, self._data)

    def start(self) -> None:
        """Starts the process without waiting for it."""
        self.server.start()

    def wait_until_healthy(self) -> None:
        """Returns once it answers, which is within some hundred milliseconds."""
        wait_until(self._healthy, timeout=PATIENCE, otherwise=lambda: self.server.error("is not healthy"))

    def compact(self) -> int:
        """Forgets all history before now, and returns the first revision that is still there.

        Two writes come first. A watch from resource version N begins at N + 1, so etcd refuses it only if
        the compacted revision is at least N + 2; this way that holds for every N handed out until now.
        """
        marker = {"key": _encoded(MARKER_KEY), "value": _encoded("compacted")}
        self._call("/v3/kv/put", marker)
        answer = self._call("/v3/kv/put", marker)
        revision = int(answer["header"]["revision"])
        self._call("/v3/kv/compaction", {"revision": str(revision), "physical": True})
        return revision

    def change(self, key: str, patch: Callable[[dict[str, Any]], None]) -> None:
        """Changes an object behind the API server's back, which has to store its objects as JSON."""
        (entry,) = self._call("/v3/kv/range", {"key": _encoded(key)})["kvs"]
        value = json.loads(base64.b64decode(entry["value"]))
        patch(value)
        self._call("/v3/kv/put", {"key": _encoded(key), "value": _encoded(json.dumps(value))})

    def store(self, entries: Iterable[tuple[str, dict[str, Any]]]) -> None:
        """Stores objects behind the API server's back, by key: many times as fast as it would."""
        left = iter(entries)
        while batch := list(itertools.islice(left, BATCH)):
            puts = [
                {"requestPut": {"key": _encoded(key), "value": _encoded(json.dumps(value))}} for key, value in batch
            ]
            self._call("/v3/kv/txn", {"success": puts})

    def _healthy(self) -> bool:
        self.server.require_running()
        try:
            return bool(self._call("/v3/maintenance/status", {}).get("leader", "0") != "0")
        except (OSError, http.client.HTTPException):
            return False

    def _call(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """One call to the JSON gateway."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        try:
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            response = connection.getresponse()
            content = response.read()
        finally:
            connection.close()
        if response.status != http.client.OK:
            raise http.client.HTTPException(f"etcd answered {response.status} to {path}: {content!r}")
        answer: dict[str, Any] = json.loads(content)
        return answer


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
