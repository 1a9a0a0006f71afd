"""Connections that break, anywhere and again and again, and a history that is gone meanwhile: nothing is done twice."""

import http.client
import random
from collections import Counter
from collections.abc import Collection
from typing import Any

import pytest

from tests.control_plane.fault_proxy import Direction, FaultProxy
from tests.e2e.hasty import QUICK_TO_TRY_AGAIN, HastyResourceManager
from tests.e2e.landscapes import landscape, offline_settings, simulated
from tests.e2e.resource_manager import ResourceManager
from tests.e2e.sandbox import Sandbox, pair, service

WATCHES = 3
"""Services, Namespaces and NetworkPolicies; where nothing says who serves Ingresses, those matter not."""
HARD_TO_LOSE = {"leaseDuration": "600s", "renewDeadline": "590s"}
"""An election for a process whose renewals are interrupted again and again."""


def audited(sandbox: Sandbox, since: int, *verbs: str) -> list[dict[str, Any]]:
    """What the process has asked for, leases aside."""
    sandbox.writes(since)  # which waits until the log is complete
    events = sandbox.control_plane.audit_events(sandbox.user, verbs, since=since)
    return [event for event in events if event["objectRef"]["resource"] != "leases"]


def opened(names: Collection[str]) -> set[str]:
    """The policies of Services in the shop."""
    return {policy for name in names for policy in pair("shop", f"{name}-tcp-8080")}


def restarts(process: ResourceManager, cause: str) -> float:
    return process.metric("hedgerow_watch_restarts_total", cause=cause)


def test_what_a_paused_watch_misses_while_history_is_forgotten_is_seen_by_one_fresh_list(
    sandbox: Sandbox, proxy: FaultProxy
) -> None:
    shop = sandbox.namespace("shop")
    stay, go, come = (frozenset(f"{word}-{number}" for number in range(5)) for word in ("stay", "go", "come"))
    sandbox.create(*(service(shop, name) for name in stay | go))
    with ResourceManager(sandbox.folder, sandbox.configuration()) as process:
        sandbox.wait_for_policies(opened(stay | go))
        process.wait_until_idle()
        before = sandbox.objects("NetworkPolicy")
        position = sandbox.control_plane.audit_position()

        with proxy.black_hole(frozenset({Direction.TO_CLIENT})):
            for name in go:
                sandbox.delete("Service", shop, name)
            sandbox.create(*(service(shop, name) for name in come))
            sandbox.control_plane.expire_resource_versions()
            assert sandbox.policies().keys() == opened(stay | go), "the watches are not paused"
            proxy.reset_all()

        sandbox.wait_for_policies(opened(stay | come))
        process.wait_for(lambda: restarts(process, "expired") >= WATCHES, "has not been told that history is gone")
        assert process.log_lines("Held deletions back") == []

    after = sandbox.objects("NetworkPolicy")
    kept = {f"{sandbox.prefix}-{name}" for name in opened(stay)}
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    deletes = audited(sandbox, position, "delete")
    assert len(deletes) == len(opened(go))
    assert {event["objectRef"]["name"] for event in deletes} == {name.partition("/")[2] for name in opened(go)}


def test_a_hundred_reconnects_with_nothing_changed_write_nothing_and_list_nothing(
    sandbox: Sandbox, proxy: FaultProxy
) -> None:
    shop = sandbox.namespace("shop")
    sandbox.create(service(shop, "cart"))
    election = {"leaderElect": True, "resourceNamespace": sandbox.home, **HARD_TO_LOSE}
    config = sandbox.configuration(leaderElection=election)
    with HastyResourceManager(sandbox.folder, config, QUICK_TO_TRY_AGAIN) as process:
        sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))
        process.wait_until_idle()
        process.wait_ready()
        sandbox.wait_for_the_audit_log()
        position = sandbox.control_plane.audit_position()

        while restarts(process, "disconnected") < 100 * WATCHES:
            process.wait_for(lambda: proxy.open_connections >= WATCHES, "has not connected again")
            proxy.reset_all()
        sandbox.create(service(shop, "till"))
        sandbox.wait_for_policies(pair("shop", "cart-tcp-8080") | pair("shop", "till-tcp-8080"))

        assert Counter(sandbox.writes(position)) == {"create networkpolicies": 2}
        lists = sandbox.control_plane.lists(sandbox.user, since=position)
        # What the API server does not know is asked for now and then.
        assert [
            event["requestURI"] for event in lists if event["responseStatus"]["code"] != http.client.NOT_FOUND
        ] == []


@pytest.mark.slow
def test_connections_that_break_anywhere_in_mid_work_lead_to_the_same_policies(
    sandbox: Sandbox, proxy: FaultProxy
) -> None:
    seed = random.randrange(2**32)  # noqa: S311 -- shown where the test fails
    print(f"{seed=}")  # noqa: T201 -- as above
    sizes = random.Random(seed)  # noqa: S311 -- sizes, no secrets
    manifests = landscape(sandbox, shoots=60)
    sandbox.create(*manifests)
    config = sandbox.configuration(offline_settings(sandbox))
    position = sandbox.control_plane.audit_position()

    # From within the first handshake up to more than all that there is to list.
    with (
        proxy.cutting(lambda: int(2 ** sizes.uniform(9, 22))),
        HastyResourceManager(sandbox.folder, config, QUICK_TO_TRY_AGAIN) as process,
    ):
        expected = simulated(sandbox, manifests, process.config_file)
        sandbox.wait_for_policies(expected)
        assert sandbox.policies() == expected
        process.wait_until_idle()
        cuts = restarts(process, "disconnected") + process.failed_requests()

    assert cuts >= 20
    writes = audited(sandbox, position, "create", "update", "patch", "delete")
    stored = [event for event in writes if event["responseStatus"]["code"] == 201]
    assert {event["verb"] for event in writes} == {"create"}
    assert len(stored) == len(expected)
