"""The command of a program that brings its own controllers: `run`, `plan` and `simulate`, as `hedgerow` has them.

::

    if __name__ == "__main__":
        main(controller)
"""

from collections.abc import Sequence
from typing import Any

import click

from hedgerow.machinery.configuration.process import ClientConnection, LeaderElection, Server
from hedgerow.machinery.configuration.reading import Decoded
from hedgerow.machinery.controller import Controller
from hedgerow_entrypoints.cli.command import main as run_command
from hedgerow_entrypoints.components import bring
from hedgerow_entrypoints.components.registry import Component, ControllerEntry
from hedgerow_entrypoints.process.settings import ProcessSettings


def main(*controllers: Controller[Any], name: str = "", arguments: Sequence[str] | None = None) -> None:
    """Run the command, and end the process.

    Args:
        controllers: those of the program; more than one process runs them in this order.
        name: of the program, in logs and of its Lease; empty: that of the first controller.
        arguments: what follows the program's name; none: what the process was started with.
    """
    program = _component(name or controllers[0].name, controllers)
    bring(program)
    # They look up the controllers as they are imported.
    from hedgerow_entrypoints.cli import plan, simulate  # noqa: PLC0415
    from hedgerow_entrypoints.cli.controllers import LISTED, NAMES  # noqa: PLC0415

    group = click.Group(program.name, context_settings={"help_option_names": ["-h", "--help"]})
    for command in (plan.command, simulate.command):
        command.epilog = f"\b\nControllers, of which all are the default:\n{LISTED}"
        for parameter in command.params:
            if parameter.name == "controllers":
                parameter.required, parameter.default = False, NAMES
            elif parameter.name == "config_file":
                parameter.hidden = True  # type: ignore[attr-defined]  # an option
        group.add_command(command)
    group.add_command(_run(program))
    run_command(arguments, group)


def _component(name: str, controllers: Sequence[Controller[Any]]) -> Component[ProcessSettings]:
    def entry(controller: Controller[Any]) -> ControllerEntry[ProcessSettings]:
        return ControllerEntry(controller.name, lambda _settings, _cluster_id: controller)

    return Component(
        name=name,
        controllers=tuple(map(entry, controllers)),
        without_file=lambda _ask: _settings(name),
        settings=lambda settings: settings,
    )


def _settings(
    name: str, kubeconfig: str = "", namespaces: Sequence[str] = (), lease_namespace: str = "", log_format: str = "json"
) -> ProcessSettings:
    return ProcessSettings(
        source=ClientConnection(kubeconfig=kubeconfig, stated_namespaces=tuple(namespaces)),
        server=Server(),
        leader_election=LeaderElection(
            leader_elect=bool(lease_namespace), resource_name=name, resource_namespace=lease_namespace
        ),
        log_format=log_format,
    )


def _run(program: Component[ProcessSettings]) -> click.Command:
    @click.command(name="run")
    @click.option("--kubeconfig", default="", metavar="FILE", help="The cluster; without it that of the pod.")
    @click.option("--namespace", "namespaces", multiple=True, help="See only this namespace; may be given again.")
    @click.option(
        "--lease-namespace", default="", help="Elect a leader by a Lease there; without it all replicas work."
    )
    @click.option("--log-format", type=click.Choice(["json", "text"]), default="json", show_default=True)
    def command(kubeconfig: str, namespaces: tuple[str, ...], lease_namespace: str, log_format: str) -> None:
        """Run the controllers in a cluster until SIGTERM or Ctrl-C.

        It serves /healthz, /readyz and /metrics. KUBECONFIG replaces --kubeconfig.
        """
        # The process's parts are slow to import, and plans do without them.
        from hedgerow_entrypoints.components.running import run_component  # noqa: PLC0415

        settings = _settings(program.name, kubeconfig, namespaces, lease_namespace, log_format)
        run_component(program, [], Decoded(settings, ()), None)

    return command
