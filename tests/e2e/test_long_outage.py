"""An API server that is away for a while: those who wait for it do little and say little, and catch up."""

import contextlib
import time

import pytest

from tests.e2e.faults import no_api_server
from tests.e2e.resource_manager import ResourceManager
from tests.e2e.sandbox import Manifest, Sandbox, pair, service
from tests.e2e.vital_signs import cpu_seconds

OUTAGE = 12.0
"""Seconds: those at its beginning cost most, as the pauses between attempts grow."""
PATIENT = {"leaseDuration": "150s", "renewDeadline": "120s", "retryPeriod": "2s"}
"""An election whose leader may be cut off for longer than that."""


@pytest.mark.slow
def test_a_while_without_api_server_costs_little_and_is_caught_up(sandbox: Sandbox) -> None:
    shop = sandbox.namespace("shop")
    sandbox.create(service(shop, "cart"))
    with contextlib.ExitStack() as stack:
        # Both look after the same, so that one outage serves for two: who is second finds it done.
        alone = stack.enter_context(ResourceManager(sandbox.folder, sandbox.configuration(), name="alone"))
        leader = stack.enter_context(ResourceManager(sandbox.folder, elected(sandbox), name="leader"))
        for process in (alone, leader):
            process.wait_until_idle()
        sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))
        observations = [Observation(alone), Observation(leader)]

        with no_api_server(sandbox.control_plane):
            for seen in observations:
                seen.begin()
            time.sleep(OUTAGE)  # how long it is away is what matters here
            shares = [seen.share_of_a_processor() for seen in observations]
            lines = [seen.new_lines() for seen in observations]
        sandbox.create(service(shop, "till"))
        sandbox.delete("Service", shop, "cart")
        sandbox.wait_for_policies(pair("shop", "till-tcp-8080"))
        for seen in observations:
            seen.process.wait_for(lambda seen=seen: seen.reconciled() >= 2, "has not seen both changes")

    assert max(shares) < 0.05
    assert [each for each in lines if len(each) > 10] == []


def elected(sandbox: Sandbox) -> Manifest:
    return sandbox.configuration(leaderElection={"leaderElect": True, "resourceNamespace": sandbox.home, **PATIENT})


class Observation:
    """What a process does from a moment on."""

    def __init__(self, process: ResourceManager) -> None:
        self.process = process
        self.begin()

    def begin(self) -> None:
        self._began = time.monotonic()
        self._cpu = cpu_seconds(self.process)
        self._lines = len(self.process.log_lines())
        self._reconciled = self._reconciliations()

    def share_of_a_processor(self) -> float:
        return (cpu_seconds(self.process) - self._cpu) / (time.monotonic() - self._began)

    def new_lines(self) -> list[Manifest]:
        return self.process.log_lines()[self._lines :]

    def reconciled(self) -> float:
        """How many turns keys have had."""
        return self._reconciliations() - self._reconciled

    def _reconciliations(self) -> float:
        return self.process.metric("controller_runtime_reconcile_total")
