"""From nothing, and after crashes: the process brings the cluster to what the rules ask for, and leaves it so."""

from tests.e2e.landscapes import controller_settings, landscape, simulated
from tests.e2e.permissions import refusals_of
from tests.e2e.resource_manager import NETWORK_POLICIES, ResourceManager, errors_of
from tests.e2e.territory import Territory


def test_a_landscape_gets_the_policies_that_simulate_prints_for_it(territory: Territory) -> None:
    manifests = landscape(territory, shoots=4)
    territory.create(*manifests)

    with ResourceManager(territory.folder, territory.configuration(controller_settings(territory))) as process:
        expected = simulated(territory, manifests, process.config_file)
        territory.wait_for_policies(expected)

        assert territory.policies() == expected
        assert errors_of(process.log_lines()) == []
    assert refusals_of(territory.control_plane, territory.home) == []


def test_a_process_that_is_killed_again_and_again_ends_at_the_same_policies(territory: Territory) -> None:
    manifests = landscape(territory, shoots=10)
    territory.create(*manifests)
    slow = territory.configuration(controller_settings(territory), source={"qps": 60, "burst": 1})

    for attempt, enough in enumerate((1, 10, 50, 100, 150)):
        with ResourceManager(territory.folder, slow, name=f"crashing-{attempt}") as process:
            process.wait_for(
                lambda enough=enough: len(territory.policies()) >= enough, f"has not made {enough} policies"
            )
    half_done = len(territory.policies())
    quick = territory.configuration(controller_settings(territory))
    with ResourceManager(territory.folder, quick) as process:
        expected = simulated(territory, manifests, process.config_file)
        assert 150 <= half_done < len(expected)
        territory.wait_for_policies(expected)
        process.wait_until_idle()

        assert territory.policies() == expected
        assert errors_of(process.log_lines()) == []


def test_a_process_that_is_stopped_in_mid_work_ends_what_it_is_at_and_no_more(territory: Territory) -> None:
    manifests = landscape(territory, shoots=10)
    territory.create(*manifests)
    slow = territory.configuration(controller_settings(territory), source={"qps": 60, "burst": 1})

    with ResourceManager(territory.folder, slow) as process:
        process.wait_for(lambda: len(territory.policies()) >= 20, "has not begun")
        assert process.terminate() == 0
        expected = simulated(territory, manifests, process.config_file)

    assert errors_of(process.log_lines()) == []
    assert 20 <= len(territory.policies()) < len(expected)
    assert territory.policies().items() <= expected.items()


def test_a_restart_writes_nothing_where_everything_is_as_it_should_be(territory: Territory) -> None:
    manifests = landscape(territory, shoots=4)
    territory.create(*manifests)
    config = territory.configuration(controller_settings(territory))
    with ResourceManager(territory.folder, config) as process:
        territory.wait_for_policies(simulated(territory, manifests, process.config_file))
        process.wait_until_idle()
        assert process.terminate() == 0
    position = territory.control_plane.audit_position()

    with ResourceManager(territory.folder, config, name="restarted") as process:
        process.wait_until_idle()
        keys = process.keys_at_first()
        asked = process.metric("controller_runtime_reconcile_total", result="success", controller=NETWORK_POLICIES)
        assert asked == keys
        assert process.metric("hedgerow_plan_actions_total") == 0
        assert process.terminate() == 0

    assert territory.writes(position) == []
