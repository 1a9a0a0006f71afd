"""`hedgerow run`: one component as a process in a cluster."""

import click

from hedgerow_entrypoints.cli.process_command import ProcessCommand
from hedgerow_entrypoints.components import RUNNABLE
from hedgerow_entrypoints.errors import CommandError


@click.command(name="run", cls=ProcessCommand)
@click.argument("component", type=click.Choice(RUNNABLE), metavar="COMPONENT")
@click.option("--config", "config_file", metavar="FILE", help="Component configuration; required.")
@click.option(
    "--record", metavar="FILE", help="Append every decision to this file, for `hedgerow replay`; Secrets stay secret."
)
def command(component: str, config_file: str | None, record: str | None) -> None:
    """Run a component in a cluster until SIGTERM or Ctrl-C, which ends it in good order; a second one ends it at once.

    COMPONENT is: resource-manager, controller-manager, seed-extensions, rsyslog-relp.

    KUBECONFIG replaces the kubeconfig of the source cluster that the configuration names, TARGET_KUBECONFIG that of a
    separate target cluster; without a kubeconfig the credentials of the pod are used. Log lines on standard error, in
    the format of `logFormat`, say why a process ends. Exit code 1: it could not start, or lost its lease.
    """
    if not config_file:
        raise CommandError("missing config file: name it by --config", field="--config")
    # The process's parts are slow to import, and a wrong call should not wait for them.
    from hedgerow.machinery.configuration.section import Purpose  # noqa: PLC0415
    from hedgerow_entrypoints.components.running import run_component  # noqa: PLC0415
    from hedgerow_entrypoints.configuration import read_configuration  # noqa: PLC0415

    stated = read_configuration(config_file, Purpose.RUN, [component])
    flags = {"config": config_file, **({"record": record} if record is not None else {})}
    run_component(stated.component, flags, stated.decoded, record)
