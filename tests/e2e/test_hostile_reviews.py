"""Large reviews, many at a time, cost a process no more memory than it may have, and small ones no answer."""

import asyncio
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from hedgerow.api.kubernetes import DEPLOYMENTS
from tests.contract.webhook_server import ServingPair
from tests.e2e.admission import HIGH_AVAILABILITY, deployment, review
from tests.e2e.admission_server.clients import ask_once
from tests.e2e.resource_manager import ResourceManager, configuration
from tests.e2e.vital_signs import most_resident_kib, resident_kib

PATH: Final = f"{HIGH_AVAILABILITY}?timeout=6s"
WAITED: Final = "high-availability-config waited 5.4 s for its caches to be complete"
SIZE: Final = 6_900_000
MOST_RESIDENT: Final = 256 * 1024
LEFT_BEHIND: Final = 16 * 1024
"""KiB, both."""
OK, TOO_LARGE, TOO_MANY = 200, 413, 429


@pytest.fixture
def process(tmp_path: Path, serving_pair: ServingPair) -> Iterator[ResourceManager]:
    """A process that serves a webhook, and whose caches are never complete, as its API server never answers."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(yaml.safe_dump(leading_to(silent.getsockname()[1])), encoding="utf-8")
        kubeconfig.chmod(0o600)
        config = configuration(kubeconfig, webhooks={"highAvailabilityConfig": {"enabled": True}})
        with ResourceManager(tmp_path, config) as running:
            running.wait_for_line("Serving webhooks")
            yield running


def leading_to(port: int) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }


def about(filler: Any) -> bytes:
    manifest = {**deployment("shop", "cart"), "filler": filler}
    return json.dumps(review(DEPLOYMENTS, "CREATE", "shop", "cart", manifest), separators=(",", ":")).encode()


@pytest.mark.slow
async def test_reviews_that_wait_for_caches_take_a_bounded_amount_of_memory(process: ResourceManager) -> None:
    small = about("")
    texts = about(["x" * 1000] * (SIZE // 1003))
    lists = about([[[]]] * (2_400_000 // 6))
    hopeless = about([[[]]] * (SIZE // 6))
    port = process.webhook_port

    before = resident_kib(process)
    large, beside, refused = await asyncio.gather(
        asyncio.gather(*(ask_once(port, body, path=PATH) for body in [texts, lists] * 10)),
        asyncio.gather(*(ask_once(port, small, path=PATH) for _ in range(20))),
        ask_once(port, hopeless, path=PATH),
    )

    assert [(status, answer["response"]["status"]["message"]) for status, answer in beside] == [(OK, WAITED)] * 20
    # Which of them found room depends on what came first.
    assert TOO_MANY in {status for status, _ in large} <= {OK, TOO_MANY}
    assert refused[0] in {TOO_LARGE, TOO_MANY}
    late = await asyncio.gather(ask_once(port, small, path=PATH), ask_once(port, texts, path=PATH))
    assert [status for status, _ in late] == [OK, OK]
    assert most_resident_kib(process) <= MOST_RESIDENT
    assert process.log_lines("Too many reviews at once", level="warning")
    await asyncio.to_thread(
        process.wait_for, lambda: resident_kib(process) <= before + LEFT_BEHIND, "has not given its memory back"
    )
