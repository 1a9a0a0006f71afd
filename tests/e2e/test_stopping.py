"""A process that is told to end does so soon, in good order, whatever its API server does."""

import signal

from tests.e2e.faults import silent_api_server
from tests.e2e.hasty import HastyResourceManager
from tests.e2e.landscapes import landscape, offline_settings
from tests.e2e.sandbox import Sandbox, pair, service

UNBOUNDED = {"hedgerow_entrypoints.process.process.STOP_WITHIN": 3600.0}
"""No busy machine lets this process miss the deadline of its stop."""
_GRACES = [f"hedgerow_adapters.runtime.controller_set.{name}" for name in ("GRACE", "LAST_EVENTS")]
FOREVER = {**UNBOUNDED, **dict.fromkeys(_GRACES, 3600.0)}
"""A process with these times never ends where it waits for all of the time that work in progress may take."""


def test_an_idle_leader_that_is_told_to_end_waits_for_nothing(sandbox: Sandbox) -> None:
    sandbox.create(service(sandbox.namespace("shop"), "cart"))
    config = sandbox.configuration(leaderElection={"leaderElect": True, "resourceNamespace": sandbox.home})
    with HastyResourceManager(sandbox.folder, config, FOREVER) as process:
        sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))
        process.wait_until_idle()

        assert process.terminate() == 0


def test_work_that_nobody_answers_does_not_keep_a_process(sandbox: Sandbox) -> None:
    sandbox.create(*landscape(sandbox, shoots=10))
    config = sandbox.configuration(
        offline_settings(sandbox),
        source={"qps": 60, "burst": 1},
        leaderElection={"leaderElect": True, "resourceNamespace": sandbox.home},
    )
    with HastyResourceManager(sandbox.folder, config, UNBOUNDED) as process:
        process.wait_for(lambda: len(sandbox.policies()) >= 20, "has not begun")
        with silent_api_server(sandbox.control_plane):
            assert process.terminate() == 0
    assert [line["msg"] for line in process.log_lines("Stop")] == ["Stopping", "Stopped"]


def test_a_second_signal_ends_a_process_in_mid_work_at_once(sandbox: Sandbox) -> None:
    sandbox.create(*landscape(sandbox, shoots=10))
    slow = sandbox.configuration(offline_settings(sandbox), source={"qps": 10, "burst": 1})
    with HastyResourceManager(sandbox.folder, slow, FOREVER) as process:
        process.wait_for(lambda: len(sandbox.policies()) >= 4, "has not begun")
        with silent_api_server(sandbox.control_plane):
            process.send_signal(signal.SIGTERM)
            process.wait_for_line("Stopping")
            process.send_signal(signal.SIGINT)
            assert process.wait() == 1


def test_a_stop_that_hangs_is_ended_by_its_deadline(sandbox: Sandbox) -> None:
    never_ends = "import threading; threading.Thread(target=threading.Event().wait).start()\n"
    config = sandbox.configuration()
    short = {"hedgerow_entrypoints.process.process.STOP_WITHIN": 2.0}
    with HastyResourceManager(sandbox.folder, config, short, before=never_ends) as process:
        process.wait_ready()

        assert process.terminate() == 1
    last = process.log_lines()[-1]
    assert (last["msg"], last["error"]) == ("Process is stuck", "the process has not stopped within 2 s")
