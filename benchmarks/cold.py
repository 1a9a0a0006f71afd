"""Cold convergence on a real API server: from the start of the process to the last policy stored.

Beside it, in the same run and on the same server, a bare client that posts the same objects with 32 in flight and does
nothing else: what the server and the machine allow.
"""

import asyncio
import json
import os
import signal
import ssl
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import aiohttp
import yaml

from hedgerow.resource_manager.network_policies import desired_network_policies
from tests.control_plane import ControlPlane

NAMESPACES = 10
IN_FLIGHT = 32
POLICIES = "/apis/networking.k8s.io/v1/networkpolicies"


def measure(service_count: int = 1000) -> list[str]:
    """Seconds for the bare client and for the process, and the process's peak memory."""
    with ControlPlane() as plane, tempfile.TemporaryDirectory() as folder:
        services = [_service(number) for number in range(service_count)]
        for number in range(NAMESPACES):
            plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": f"ns-{number}"}})
        asyncio.run(_post(plane, [("/api/v1/namespaces/{namespace}/services", service) for service in services]))
        policies = [
            policy.manifest()
            for service in services
            for policy in desired_network_policies(service, ()).unwrap().policies
        ]
        targets = [("/apis/networking.k8s.io/v1/namespaces/{namespace}/networkpolicies", policy) for policy in policies]
        bare = asyncio.run(_post(plane, targets))
        _delete_policies(plane)
        seconds, peak = _converge(plane, Path(folder), len(policies))
    return [
        f"bare client, {len(policies)} policies: {bare:.2f} s",
        f"hedgerow run, {service_count} Services to {len(policies)} policies, from process start: {seconds:.2f} s",
        f"peak memory of the process: {peak:.0f} MiB",
    ]


def _service(number: int) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": f"svc-{number}", "namespace": f"ns-{number % NAMESPACES}"},
        "spec": {
            "clusterIP": "None",
            "selector": {"app": f"app-{number}"},
            "ports": [{"protocol": "TCP", "port": 80, "targetPort": 8080}],
        },
    }


async def _post(plane: ControlPlane, objects: list[tuple[str, dict[str, Any]]]) -> float:
    """Seconds that it takes to create prepared objects."""
    prepared = [
        (plane.url + path.format(namespace=manifest["metadata"]["namespace"]), json.dumps(manifest).encode())
        for path, manifest in objects
    ]
    places = asyncio.Semaphore(IN_FLIGHT)
    tls = ssl.create_default_context(cadata=plane.ca_pem)
    headers = {"Authorization": f"Bearer {plane.token()}", "Content-Type": "application/json"}
    connector = aiohttp.TCPConnector(limit=IN_FLIGHT, ssl=tls)
    async with aiohttp.ClientSession(headers=headers, connector=connector) as session:

        async def create(url: str, body: bytes) -> None:
            async with places, session.post(url, data=body) as response:
                await response.read()
                response.raise_for_status()

        began = time.perf_counter()
        await asyncio.gather(*(create(url, body) for url, body in prepared))
        return time.perf_counter() - began


def _delete_policies(plane: ControlPlane) -> None:
    for number in range(NAMESPACES):
        plane.request("DELETE", f"/apis/networking.k8s.io/v1/namespaces/ns-{number}/networkpolicies")


def _converge(plane: ControlPlane, folder: Path, expected: int) -> tuple[float, float]:
    """Seconds until as many policies exist, and the peak of resident memory in MiB."""
    config = folder / "config.yaml"
    config.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "resourcemanager.config.gardener.cloud/v1alpha1",
                "kind": "ResourceManagerConfiguration",
                "sourceClientConnection": {"kubeconfig": str(plane.kubeconfig())},
                "leaderElection": {"resourceNamespace": "default"},
                "controllers": {"networkPolicy": {"enabled": True}},
            }
        )
    )
    command = [str(Path(sys.executable).with_name("hedgerow")), "run", "resource-manager", "--config", str(config)]
    environment = {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}
    with (folder / "log").open("w") as log:
        began = time.perf_counter()
        process = subprocess.Popen(command, env=environment, stderr=log)
        while _count(plane) < expected:
            if process.poll() is not None:
                raise RuntimeError((folder / "log").read_text()[-2000:])
            time.sleep(0.02)
        seconds = time.perf_counter() - began
        status = Path(f"/proc/{process.pid}/status").read_text()
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=15)
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    return seconds, peak / 1024


def _count(plane: ControlPlane) -> int:
    _, body = plane.request("GET", f"{POLICIES}?limit=1")
    return len(body["items"]) + int(body["metadata"].get("remainingItemCount", 0))
