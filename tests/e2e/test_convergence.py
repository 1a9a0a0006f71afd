"""From nothing, and after crashes: the process brings the cluster to what the rules ask for, and leaves it so."""

from tests.e2e.landscapes import landscape, offline_settings, simulated
from tests.e2e.permissions import refusals_of
from tests.e2e.resource_manager import NETWORK_POLICIES, ResourceManager, errors_of
from tests.e2e.sandbox import Sandbox


def test_a_landscape_gets_the_policies_that_simulate_prints_for_it(sandbox: Sandbox) -> None:
    manifests = landscape(sandbox, shoots=4)
    sandbox.create(*manifests)

    with ResourceManager(sandbox.folder, sandbox.configuration(offline_settings(sandbox))) as process:
        expected = simulated(sandbox, manifests, process.config_file)
        sandbox.wait_for_policies(expected)

        assert sandbox.policies() == expected
        assert errors_of(process.log_lines()) == []
    assert refusals_of(sandbox.control_plane, sandbox.home) == []


def test_a_process_that_is_killed_again_and_again_ends_at_the_same_policies(sandbox: Sandbox) -> None:
    manifests = landscape(sandbox, shoots=10)
    sandbox.create(*manifests)
    slow = sandbox.configuration(offline_settings(sandbox), source={"qps": 60, "burst": 1})

    for attempt, enough in enumerate((1, 10, 50, 100, 150)):
        with ResourceManager(sandbox.folder, slow, name=f"crashing-{attempt}") as process:
            process.wait_for(lambda enough=enough: len(sandbox.policies()) >= enough, f"has not made {enough} policies")
    half_done = len(sandbox.policies())
    quick = sandbox.configuration(offline_settings(sandbox))
    with ResourceManager(sandbox.folder, quick) as process:
        expected = simulated(sandbox, manifests, process.config_file)
        assert 150 <= half_done < len(expected)
        sandbox.wait_for_policies(expected)
        process.wait_until_idle()

        assert sandbox.policies() == expected
        assert errors_of(process.log_lines()) == []


def test_a_process_that_is_stopped_in_mid_work_ends_what_it_is_at_and_no_more(sandbox: Sandbox) -> None:
    manifests = landscape(sandbox, shoots=10)
    sandbox.create(*manifests)
    slow = sandbox.configuration(offline_settings(sandbox), source={"qps": 60, "burst": 1})

    with ResourceManager(sandbox.folder, slow) as process:
        process.wait_for(lambda: len(sandbox.policies()) >= 20, "has not begun")
        assert process.terminate() == 0
        expected = simulated(sandbox, manifests, process.config_file)

    assert errors_of(process.log_lines()) == []
    assert 20 <= len(sandbox.policies()) < len(expected)
    assert sandbox.policies().items() <= expected.items()


def test_a_restart_writes_nothing_where_everything_is_as_it_should_be(sandbox: Sandbox) -> None:
    manifests = landscape(sandbox, shoots=4)
    sandbox.create(*manifests)
    config = sandbox.configuration(offline_settings(sandbox))
    with ResourceManager(sandbox.folder, config) as process:
        sandbox.wait_for_policies(simulated(sandbox, manifests, process.config_file))
        process.wait_until_idle()
        assert process.terminate() == 0
    position = sandbox.control_plane.audit_position()

    with ResourceManager(sandbox.folder, config, name="restarted") as process:
        process.wait_until_idle()
        keys = process.keys_at_first()
        asked = process.metric("controller_runtime_reconcile_total", result="success", controller=NETWORK_POLICIES)
        assert asked == keys
        assert process.metric("hedgerow_plan_actions_total") == 0
        assert process.terminate() == 0

    assert sandbox.writes(position) == []
