"""The command of a program that brings its own controllers: `run`, `plan` and `simulate`, as `hedgerow` has them.

::

    if __name__ == "__main__":
        main(controller)
"""

from collections.abc import Sequence
from typing import Any, Final

import click

from hedgerow.machinery.configuration.process import ClientConnection, Endpoint, LeaderElection, Server
from hedgerow.machinery.configuration.reading import Decoded
from hedgerow.machinery.controller import Controller
from hedgerow_entrypoints.cli.command import CommandGroup
from hedgerow_entrypoints.cli.command import main as run_command
from hedgerow_entrypoints.cli.process_command import ProcessCommand
from hedgerow_entrypoints.components import bring
from hedgerow_entrypoints.components.registry import OFFLINE, Component, ControllerEntry
from hedgerow_entrypoints.process.settings import ProcessSettings

_PORT: Final = click.IntRange(1, 65535)


def main(
    controller: Controller[Any], *others: Controller[Any], name: str = "", arguments: Sequence[str] | None = None
) -> None:
    """Run the command, and end the process.

    Args:
        controller: the one that a process starts first.
        others: those that follow.
        name: of the program, in logs and of its Lease; empty: that of the controller.
        arguments: what follows the program's name; none: what the process was started with.
    """
    program = _component(name or controller.name, (controller, *others))
    bring(program)
    # They look up the controllers as they are imported.
    from hedgerow_entrypoints.cli import plan, simulate  # noqa: PLC0415
    from hedgerow_entrypoints.cli.controllers import LISTED, NAMES  # noqa: PLC0415

    group = CommandGroup(program.name, context_settings={"help_option_names": ["-h", "--help"]})
    for command in (plan.command, simulate.command):
        command.epilog = f"\b\nControllers, of which all are the default:\n{LISTED}"
        command.params = [parameter for parameter in command.params if parameter.name != "config_file"]
        names = next(parameter for parameter in command.params if parameter.name == "controllers")
        names.required, names.default = False, NAMES
        group.add_command(command)
    group.add_command(_run(program))
    run_command(arguments, group)


def _component(name: str, controllers: Sequence[Controller[Any]]) -> Component[ProcessSettings]:
    def entry(controller: Controller[Any]) -> ControllerEntry[ProcessSettings]:
        return ControllerEntry(controller.name, lambda _settings, _cluster_id: controller)

    return Component(
        name=name,
        controllers=tuple(map(entry, controllers)),
        without_file=lambda _ask: OFFLINE,
        settings=lambda settings: settings,
    )


def _run(program: Component[ProcessSettings]) -> click.Command:
    @click.command(name="run", cls=ProcessCommand)
    @click.option("--kubeconfig", default="", metavar="FILE", help="The cluster; without it that of the pod.")
    @click.option("--namespace", "namespaces", multiple=True, help="See only this namespace; may be given again.")
    @click.option(
        "--lease-namespace", default="", help="Elect a leader by a Lease there; without it all replicas work."
    )
    @click.option("--health-port", type=_PORT, default=8081, show_default=True, help="For /healthz and /readyz.")
    @click.option("--metrics-port", type=_PORT, default=8080, show_default=True, help="For /metrics.")
    @click.option("--log-format", type=click.Choice(["json", "text"]), default="json", show_default=True)
    def command(  # noqa: PLR0917 -- options
        kubeconfig: str,
        namespaces: tuple[str, ...],
        lease_namespace: str,
        health_port: int,
        metrics_port: int,
        log_format: str,
    ) -> None:
        """Run the controllers in a cluster until SIGTERM or Ctrl-C.

        KUBECONFIG replaces --kubeconfig. Exit code 1: it could not start, or lost its lease.
        """
        # The process's parts are slow to import, and plans do without them.
        from hedgerow_entrypoints.components.running import run_component  # noqa: PLC0415

        settings = ProcessSettings(
            source=ClientConnection(kubeconfig=kubeconfig, stated_namespaces=namespaces),
            source_field="--kubeconfig",
            server=Server(health_probes=Endpoint(port=health_port), metrics=Endpoint(port=metrics_port)),
            leader_election=LeaderElection(
                leader_elect=bool(lease_namespace), resource_name=program.name, resource_namespace=lease_namespace
            ),
            log_format=log_format,
        )
        run_component(program, {}, Decoded(settings, ()), None)

    return command
