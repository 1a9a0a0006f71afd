"""A replica that is told to end under live traffic loses no request, however late clients learn of it."""

import http.client
import signal
import time
from contextlib import ExitStack

from hedgerow.api.kubernetes import PODS
from tests.contract.webhook_server import ServingPair
from tests.e2e.admission import review
from tests.e2e.admission_server.test_stopping import can_connect
from tests.e2e.resource_manager import ResourceManager
from tests.e2e.sandbox import Sandbox
from tests.e2e.traffic import Traffic

DELAY = 6
LAG = 3.0
"""Seconds after which clients know that a replica is not ready."""
GRACE = 30.0
"""Of the chart, `terminationGracePeriodSeconds`."""
WEBHOOKS = {"seccompProfile": {"enabled": True}}
PATH = "/webhooks/seccomp-profile"
POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "cart", "namespace": "shop"}, "spec": {"containers": []}}
ENOUGH = 300


def test_no_request_is_lost_while_one_of_two_replicas_is_told_to_end(
    sandbox: Sandbox, serving_pair: ServingPair
) -> None:
    with ExitStack() as stack:
        config = sandbox.configuration(webhooks=WEBHOOKS)
        leaving, staying = (
            stack.enter_context(ResourceManager(sandbox.folder, config, name=name, shutdown_delay=f"{DELAY}s"))
            for name in ("leaving", "staying")
        )
        for process in (leaving, staying):
            process.wait_ready()
        left = leaving.webhook_port
        endpoints = [left, staying.webhook_port]
        with Traffic(endpoints, PATH, review(PODS, "CREATE", "shop", "cart", POD)) as traffic:
            leaving.wait_for(lambda: min(traffic.answers[port] for port in endpoints) >= ENOUGH, "is hardly asked")
            told_at = time.monotonic()
            leaving.send_signal(signal.SIGTERM)
            leaving.wait_for(
                lambda: leaving.probe("/readyz")[0] == http.client.INTERNAL_SERVER_ERROR, "still says that it is ready"
            )
            noticed_at, before = time.monotonic(), traffic.answers[left]
            leaving.wait_for(lambda: time.monotonic() - noticed_at >= LAG, "has not outlasted the lag")
            assert can_connect(left)
            answered_meanwhile = traffic.answers[left] - before
            endpoints.remove(left)
            assert leaving.wait() == 0
            took = time.monotonic() - told_at
            after = traffic.answers[staying.webhook_port]
            staying.wait_for(lambda: traffic.answers[staying.webhook_port] >= after + ENOUGH, "is hardly asked")

    assert traffic.failures == []
    assert answered_meanwhile > 0
    assert traffic.farewells[left] > 0
    assert traffic.farewells[staying.webhook_port] == 0
    assert DELAY <= took < GRACE
    print(f"{traffic.rate:.0f} requests a second, {traffic.answers.total()} in all, stopped in {took:.1f} s")  # noqa: T201 -- pytest shows it on demand
