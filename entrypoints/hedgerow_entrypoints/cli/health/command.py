"""`hedgerow health`: the verdict per object, for files or a live cluster."""

import asyncio
import sys
from typing import Final

import click

from hedgerow_adapters.files.sources import printable
from hedgerow_entrypoints.cli.health import files
from hedgerow_entrypoints.cli.health.showing import FORMATS, in_one_line
from hedgerow_entrypoints.cli.health.verdicts import Judgement
from hedgerow_entrypoints.cli.options import filenames, live_cluster
from hedgerow_entrypoints.cli.worlds import connected, objects_in_files, tell_placed
from hedgerow_entrypoints.errors import note

UNHEALTHY: Final = 2
EXAMPLES: Final = """\b
Examples:
  hedgerow health -f manifests/
  kubectl get mr,deploy,sts,ds,pods -A -o yaml | hedgerow health -f -
  hedgerow health --context seed --namespace garden -o json"""


@click.command(name="health", epilog=EXAMPLES)
@filenames()
@live_cluster("Judge what is in this cluster instead")
@click.option(
    "-n",
    "--namespace",
    metavar="NAME",
    help="Judge this namespace alone, and what its ManagedResources have applied anywhere.",
)
@click.option(
    "-o", "--output", type=click.Choice(list(FORMATS)), default="table", show_default=True, help="How to show verdicts."
)
def command(
    paths: tuple[str, ...], kubeconfig: str | None, context: str | None, *, namespace: str | None, output: str
) -> None:
    """Show which objects are healthy, which still roll out, and what is wrong with the others.

    Of files every object is judged; of a cluster its ManagedResources, by what their conditions say, and the objects
    that these have applied. A dash stands where there is no rule for a kind: then it is enough that the object exists.

    Exit code 0: all healthy; 2: something is unhealthy; 1: an error, or an object that cannot be judged. The others
    are judged and shown all the same.
    """
    live = kubeconfig is not None or context is not None
    if live == bool(paths):
        raise click.UsageError("give the objects either by -f or by --kubeconfig/--context")
    if namespace == "":
        raise click.UsageError("--namespace needs a name")
    judgement = asyncio.run(_of_cluster(kubeconfig, context, namespace)) if live else _of_files(paths, namespace)
    click.echo(FORMATS[output](judgement), nl=False)
    for problem in judgement.problems:
        note(f"error: {problem}")
    if not judgement.verdicts and not judgement.problems:
        what, where = ("ManagedResources", "the cluster") if live else ("objects", "the files")
        note(f"note: there are no {what} in {f'namespace {printable(namespace)} of ' if namespace else ''}{where}")
    note(in_one_line(judgement))
    if judgement.problems:
        sys.exit(1)
    if judgement.is_unhealthy:
        sys.exit(UNHEALTHY)


def _of_files(paths: tuple[str, ...], namespace: str | None) -> Judgement:
    objects = objects_in_files(paths)
    tell_placed(objects)
    return files.judgement_of([each.manifest for each in objects], namespace)


async def _of_cluster(kubeconfig: str | None, context: str | None, namespace: str | None) -> Judgement:
    # The HTTP client is slow to import, and files need none.
    from hedgerow_adapters.kubernetes.discovery import Discovery  # noqa: PLC0415
    from hedgerow_entrypoints.cli.health import live  # noqa: PLC0415

    async with connected(kubeconfig, context) as transport:
        return await live.judgement_of(transport, Discovery(transport).look_up, namespace or "")
