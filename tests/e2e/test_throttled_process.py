"""A process that may send little holds back its work, never the question whether its API server is well."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import yaml
from aiohttp import web

from hedgerow.machinery.clusters import Cluster
from hedgerow.resource_manager.configuration import decode
from hedgerow_adapters.protocol.transport import Request, TransportError
from hedgerow_entrypoints.components.resource_manager import COMPONENT
from hedgerow_entrypoints.process.process import Process
from tests.e2e.loopback_servers import http_server
from tests.e2e.resource_manager import ResourceManager, configuration
from tests.e2e.sandbox import Sandbox, service

QUEUED = 160
"""Requests: as many as five workers send at once. They take half a minute."""
WORK = Request("GET", "/work")
QUESTION = Request("GET", "/readyz")
THROTTLE = {"qps": 5, "burst": 1}


async def well(_request: web.Request) -> web.Response:
    return web.json_response({})


@pytest.mark.parametrize("cluster", Cluster)
async def test_each_of_two_clusters_answers_a_question_past_what_is_queued_for_it(
    cluster: Cluster, tmp_path: Path
) -> None:
    async with http_server(well) as source, http_server(well) as target, AsyncExitStack() as stack:
        connections = {
            f"{role}ClientConnection": {"kubeconfig": kubeconfig(tmp_path / role, url), **THROTTLE}
            for role, url in {"source": source, "target": target}.items()
        }
        settings = decode({**configuration(""), **connections}).unwrap().configuration
        process = Process("resource-manager", COMPONENT.settings(settings), lambda _cluster_id: [], [])
        clusters = await process._clusters(stack)
        access = clusters.access(cluster)
        queue = [asyncio.create_task(access.transport.send(WORK)) for _ in range(QUEUED)]
        try:
            await queue[0]
            with pytest.raises(TransportError, match="would wait behind other requests"):
                await access.transport.send(QUESTION, timeout=4)
            assert (await access.urgent.send(QUESTION, timeout=20)).is_success
        finally:
            for task in queue:
                task.cancel()
            await asyncio.gather(*queue, return_exceptions=True)


def kubeconfig(path: Path, server: str) -> str:
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "only",
        "contexts": [{"name": "only", "context": {"cluster": "only", "user": "nobody"}}],
        "clusters": [{"name": "only", "cluster": {"server": server}}],
        "users": [{"name": "nobody", "user": {}}],
    }
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return str(path)


def test_a_process_that_is_busy_and_throttled_is_healthy(sandbox: Sandbox) -> None:
    shop = sandbox.namespace("shop")
    ports = [{"name": f"p{port}", "port": port, "targetPort": port, "protocol": "TCP"} for port in range(8000, 8020)]
    sandbox.create(*(service(shop, f"s{number}", *ports) for number in range(5)))

    with ResourceManager(sandbox.folder, sandbox.configuration(source=THROTTLE)) as process:
        process.wait_for(lambda: len(sandbox.policies()) >= 1, "has not begun")
        assert process.probe("/healthz") == (200, "ok")
        assert process.metric("controller_runtime_active_workers") == 5
        assert len(sandbox.policies()) < 100, "half of the work is still queued"
