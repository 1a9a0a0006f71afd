"""Secrets of a few hundred bytes that stand for very much cost neither the lease nor probes nor other deliveries."""

import asyncio
from base64 import b64encode
from collections.abc import Callable

import aiohttp
import brotli
import pytest

from hedgerow.machinery.documents.budget import MOST_BYTES, MOST_NODES
from tests.e2e.managed_resources.manager import CONTROLLER, Manager
from tests.e2e.managed_resources.manifests import config_map, managed_resource, named
from tests.e2e.managed_resources.sandbox import ManagedResourceSandbox
from tests.e2e.managed_resources.urls import Manifest

HOSTILE = 10
LEASE = "gardener-resource-manager"
ANSWERED_WITHIN = 10.0
"""Seconds for a probe: a kubelet is less patient, and a busy machine slower."""
TOLD_WITHIN = 300.0


def packed(text: bytes) -> str:
    return b64encode(brotli.compress(text, quality=5)).decode()


def hostile_secret(sandbox: ManagedResourceSandbox, name: str) -> Manifest:
    """Values of which each alone is within the limits, or just beyond."""
    documents = {f"values-{number}.yaml.br": packed(b"[" + b"1," * 90_000 + b"1]\n") for number in range(6)}
    lines = {f"lines-{number}.yaml.br": packed(b"\n" * (MOST_BYTES // 2)) for number in range(3)}
    data = documents if int(name.rpartition("-")[2]) % 2 else lines
    return named("v1", "Secret", sandbox.namespace, name, type="Opaque", data=data)


@pytest.mark.slow
async def test_ten_hostile_secrets_at_once_cost_neither_lease_nor_probes_nor_other_deliveries(
    sandbox: ManagedResourceSandbox,
) -> None:
    election = {"leaderElect": True, "resourceNamespace": sandbox.namespace}
    lease = named("coordination.k8s.io/v1", "Lease", sandbox.namespace, LEASE)
    failed: list[str] = []
    answered = 0

    with Manager(sandbox.folder, sandbox.configuration(leaderElection=election)) as process:
        await asyncio.to_thread(process.wait_until_working, CONTROLLER)
        before = sandbox.get(lease)["spec"]
        names = [f"hostile-{number}" for number in range(HOSTILE)]
        secrets = [hostile_secret(sandbox, name) for name in names]
        hostile = [managed_resource(sandbox.namespace, name, name, class_name=sandbox.class_name) for name in names]

        async def ask(session: aiohttp.ClientSession) -> None:
            nonlocal answered
            url = f"http://127.0.0.1:{process.health_port}/healthz"
            while True:
                try:
                    async with asyncio.timeout(ANSWERED_WITHIN), session.get(url) as response:
                        assert response.status == 200
                        answered += 1
                except (AssertionError, TimeoutError, aiohttp.ClientError) as error:
                    failed.append(repr(error))
                await asyncio.sleep(0.05)

        async with aiohttp.ClientSession() as session:
            asking = asyncio.create_task(ask(session))
            await asyncio.to_thread(sandbox.create, *secrets, *hostile)
            await asyncio.to_thread(sandbox.deliver, "well", config_map(sandbox.namespace, "well"))
            await wait(
                sandbox, lambda: sandbox.find(config_map(sandbox.namespace, "well")) is not None, "it is applied"
            )
            await wait(
                sandbox, lambda: all(sandbox.condition(each)[1] for each in hostile), "all hostile ones are told of"
            )
            asking.cancel()

        told = {each["metadata"]["name"]: sandbox.condition(each) for each in hostile}
        limits = [
            ("lines-2.yaml.br", f"more than {MOST_BYTES} bytes once decompressed"),
            ("values-5.yaml.br", f"more than {MOST_NODES} values"),
        ]
        assert {each[:2] for each in told.values()} == {("False", "DecodingFailed")}
        for n, name in enumerate(names):
            key, limit = limits[n % 2]
            place = f"at index 0 in '{key}' in secret '{sandbox.namespace}/{name}'"
            assert f"Could not decode resource {place}: the secrets hold {limit}" in told[name][2]
        assert (failed, answered > 0) == ([], True)
        after = sandbox.get(lease)["spec"]
        assert (after["holderIdentity"], after["leaseTransitions"]) == (
            before["holderIdentity"],
            before["leaseTransitions"],
        )
        assert process.log_lines("Leader election", level="error") == []


async def wait(sandbox: ManagedResourceSandbox, condition: Callable[[], bool], what: str) -> None:
    await asyncio.to_thread(sandbox.wait_for, condition, what, TOLD_WITHIN)
