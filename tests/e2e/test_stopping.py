"""A process that is told to end does so soon, in good order, whatever its API server does."""

import signal
import time

from tests.e2e.faults import silent_api_server
from tests.e2e.landscapes import controller_settings, landscape
from tests.e2e.resource_manager import ResourceManager
from tests.e2e.territory import Territory, pair, service

AT_ONCE = 1.0
GRACE = 5.0
"""Seconds that work in progress gets, and after that the lease."""
LAST_EVENTS = 1.0


def test_an_idle_leader_that_is_told_to_end_has_ended_within_a_second(territory: Territory) -> None:
    territory.create(service(territory.namespace("shop"), "cart"))
    config = territory.configuration(leaderElection={"leaderElect": True, "resourceNamespace": territory.home})
    with ResourceManager(territory.folder, config) as process:
        territory.wait_for_policies(pair("shop", "cart-tcp-8080"))
        process.wait_until_idle()

        told_at = time.monotonic()
        assert process.terminate() == 0
        assert time.monotonic() - told_at < AT_ONCE


def test_work_that_nobody_answers_does_not_keep_a_process_for_longer_than_its_grace(territory: Territory) -> None:
    territory.create(*landscape(territory, shoots=10))
    config = territory.configuration(
        controller_settings(territory),
        source={"qps": 60, "burst": 1},
        leaderElection={"leaderElect": True, "resourceNamespace": territory.home},
    )
    with ResourceManager(territory.folder, config) as process:
        process.wait_for(lambda: len(territory.policies()) >= 20, "has not begun")
        with silent_api_server(territory.control_plane):
            assert process.terminate(timeout=GRACE + LAST_EVENTS + GRACE + AT_ONCE) == 0
    assert [line["msg"] for line in process.log_lines("Stop")] == ["Stopping", "Stopped"]


def test_a_second_signal_ends_a_process_in_mid_work_at_once(territory: Territory) -> None:
    territory.create(*landscape(territory, shoots=10))
    slow = territory.configuration(controller_settings(territory), source={"qps": 10, "burst": 1})
    with ResourceManager(territory.folder, slow) as process:
        process.wait_for(lambda: len(territory.policies()) >= 4, "has not begun")
        with silent_api_server(territory.control_plane):
            process.send_signal(signal.SIGTERM)
            process.wait_for_line("Stopping")
            told_at = time.monotonic()
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=GRACE) == 1
            assert time.monotonic() - told_at < AT_ONCE
