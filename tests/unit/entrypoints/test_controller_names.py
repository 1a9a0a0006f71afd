"""A controller has one name in commands, logs and metrics; the command line accepts its former names as well."""

import click
import pytest
from click.testing import CliRunner

from hedgerow.resource_manager.configuration import ResourceManagerConfiguration
from hedgerow_entrypoints.cli.command import hedgerow
from hedgerow_entrypoints.cli.controllers import NAMES, ControllerName
from hedgerow_entrypoints.cli.plan import command as plan
from hedgerow_entrypoints.cli.simulate import command as simulate
from hedgerow_entrypoints.components import MODULES, component
from hedgerow_entrypoints.components.registry import ControllerEntry
from hedgerow_entrypoints.components.resource_manager import COMPONENT
from tests.unit.entrypoints.command_line import CART, NAMESPACE, Hedgerow

ALIASES = {
    "controller-installation": "controllerinstallation",
    "controller-registration": "controllerregistration-seed",
    "managed-resource": "managedresource",
    "network-policy": "networkpolicy",
    "namespace-network-policy": "operator/networkpolicy",
    "rsyslog-relp": "shoot_rsyslog_relp_lifecycle_controller",
}


@pytest.mark.parametrize("entry", COMPONENT.controllers, ids=[entry.name for entry in COMPONENT.controllers])
def test_a_controller_has_the_name_that_commands_show(entry: ControllerEntry[ResourceManagerConfiguration]) -> None:
    assert entry.build(ResourceManagerConfiguration(), "").name == entry.name


def test_no_two_controllers_share_a_name_or_an_alias() -> None:
    all_entries = [entry for name in MODULES for entry in component(name).controllers]
    entries = {entry.name: entry for entry in all_entries}
    aliases = [alias for entry in entries.values() for alias in entry.aliases]

    # A process of a seed may run the controllers of the garden as well.
    assert all(entries[entry.name] is entry for entry in all_entries)
    assert sorted(aliases) == sorted(ALIASES)
    assert len({*NAMES, *aliases}) == len(NAMES) + len(aliases)


@pytest.mark.parametrize(("alias", "name"), ALIASES.items())
def test_an_alias_stands_for_the_name(alias: str, name: str) -> None:
    assert ControllerName().convert(alias, None, None) == name


@pytest.mark.parametrize("name", ["networkpolicy", "network-policy"])
def test_a_plan_is_the_same_under_either_name(name: str, hedgerow: Hedgerow) -> None:
    planned = hedgerow("plan", name, "networkpolicy", "-f", "-", "-o", "table", stdin=NAMESPACE + CART)

    assert planned == hedgerow("plan", "networkpolicy", "-f", "-", "-o", "table", stdin=NAMESPACE + CART)
    assert planned.code == 2


@pytest.mark.parametrize("command", [plan, simulate])
def test_help_and_completion_show_names_and_aliases(command: click.Command) -> None:
    # The command keeps the help option that it is asked for first, and here it has the group's.
    helped = CliRunner().invoke(hedgerow, [str(command.name), "--help"]).output
    (argument,) = (each for each in command.params if each.name == "controllers")

    def completed(incomplete: str) -> list[str]:
        return [each.value for each in argument.shell_complete(click.Context(command), incomplete)]

    assert {*completed("")} == {*NAMES, *ALIASES}
    assert completed("controller-reg") == ["controller-registration"]
    assert {*NAMES, *ALIASES} <= {*helped.replace(",", "").split()}
    assert "  controllerinstallation, controller-installation\n" in helped


@pytest.mark.parametrize(
    ("wrong", "advice"),
    [
        ("controller-registratio", "; did you mean controller-registration?"),
        ("networkpolicies", "; did you mean networkpolicy?"),
        ("foo", ""),
    ],
)
def test_a_wrong_name_is_answered_with_the_one_that_is_meant(wrong: str, advice: str, hedgerow: Hedgerow) -> None:
    ended = hedgerow("plan", wrong, "-f", "-")

    assert ended.err == (
        f"error: Invalid value for 'CONTROLLER...': '{wrong}' is no controller{advice}\n"
        "Try 'hedgerow plan --help' for help.\n"
    )
