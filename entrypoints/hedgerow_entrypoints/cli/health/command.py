"""`hedgerow health`: the verdict per object, for files or a live cluster."""

import asyncio
import json
import sys
from collections.abc import Callable
from typing import Any, Final

import click

from hedgerow.api.managed_resources import ClassFilter
from hedgerow.machinery.configuration.section import Purpose
from hedgerow_adapters.files.sources import printable
from hedgerow_adapters.files.writing import render_yaml
from hedgerow_entrypoints.cli.health.verdicts import Judgement, Verdict, judgement_of_files
from hedgerow_entrypoints.cli.options import config_file, filenames, live_cluster, output_format
from hedgerow_entrypoints.cli.rendering import in_columns, summary
from hedgerow_entrypoints.cli.worlds import connected, objects_in_files, tell_placed
from hedgerow_entrypoints.components import RESOURCE_MANAGER
from hedgerow_entrypoints.configuration import read_configuration
from hedgerow_entrypoints.errors import note

UNHEALTHY: Final = 2
HEADERS: Final = ("KIND", "NAMESPACE", "NAME", "HEALTHY", "PROGRESSING", "WHY")
LONGEST_WHY: Final = 240
WORDS: Final = {True: "yes", False: "no", None: "-"}
_HEALTH_COLOURS: Final = {True: "green", False: "red", None: None}
_PROGRESS_COLOURS: Final = {True: "yellow", False: None, None: None}
EXAMPLES: Final = """\b
Examples:
  hedgerow health -f manifests/
  kubectl get mr,deploy,sts,ds,pods -A -o yaml | hedgerow health -f -
  hedgerow health --context seed --namespace garden -o json"""


def _row(verdict: Verdict) -> tuple[str, ...]:
    kind, key = verdict.subject
    why = printable(" ".join(verdict.why.split()))
    return (
        *map(printable, (kind.kind, key.namespace, key.name)),
        click.style(WORDS[verdict.healthy], fg=_HEALTH_COLOURS[verdict.healthy]),
        click.style(WORDS[verdict.progressing], fg=_PROGRESS_COLOURS[verdict.progressing]),
        why if len(why) <= LONGEST_WHY else f"{why[: LONGEST_WHY - 3].rstrip()}...",  # programs get the whole
    )


def as_table(judgement: Judgement) -> str:
    """A line per object, in columns."""
    return in_columns([*map(_row, judgement.verdicts)], HEADERS)


def _document(judgement: Judgement) -> dict[str, Any]:
    objects = []
    for verdict in judgement.verdicts:
        kind, key = verdict.subject
        subject = {"apiVersion": kind.api_version, "kind": kind.kind, **key._asdict()}
        told = {"healthy": verdict.healthy, "progressing": verdict.progressing, "why": verdict.why}
        objects.append(subject | told)
    return {"objects": objects, "problems": list(judgement.problems)}


def in_one_line(judgement: Judgement) -> str:
    """How many objects are in which state."""
    unhealthy = sum(verdict.healthy is False for verdict in judgement.verdicts)
    progressing = sum(bool(verdict.progressing) for verdict in judgement.verdicts)
    counts = ((len(judgement.verdicts) - unhealthy, "healthy"), (unhealthy, "unhealthy"), (progressing, "progressing"))
    return summary(counts, judgement.problems, none="nothing to judge")


FORMATS: Final[dict[str, Callable[[Judgement], str]]] = {
    "table": as_table,
    "yaml": lambda judgement: render_yaml([_document(judgement)]),
    "json": lambda judgement: json.dumps(_document(judgement), indent=2) + "\n",
}


@click.command(name="health", epilog=EXAMPLES)
@filenames()
@live_cluster("Judge what is in this cluster instead")
@click.option(
    "-n",
    "--namespace",
    metavar="NAME",
    help="Judge this namespace alone, and what its ManagedResources have applied anywhere.",
)
@config_file(
    "Component configuration of the resource manager: of which class the ManagedResources of its instance are."
)
@output_format(FORMATS, "How to show verdicts.")
def command(
    paths: tuple[str, ...],
    kubeconfig: str | None,
    context: str | None,
    *,
    namespace: str | None,
    config_file: str | None = None,
    output: str,
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
    own_class = None if config_file is None else _class_in(config_file)
    if live:
        judgement = asyncio.run(_of_cluster(kubeconfig, context, namespace or "", own_class))
    else:
        objects = objects_in_files(paths)
        tell_placed(objects)
        judgement = judgement_of_files([each.manifest for each in objects], namespace, own_class)
    click.echo(FORMATS[output](judgement), nl=False)
    for problem in judgement.problems:
        note(f"error: {problem}")
    if not judgement.verdicts and not judgement.problems:
        what, where = ("ManagedResources", "the cluster") if live else ("objects", "the files")
        note(f"note: there are no {what} in {f'namespace {printable(namespace)} of ' if namespace else ''}{where}")
    note(in_one_line(judgement))
    if judgement.problems:
        sys.exit(1)
    if any(verdict.healthy is False for verdict in judgement.verdicts):  # that one rolls out is no fault
        sys.exit(UNHEALTHY)


def _class_in(config_file: str) -> ClassFilter:
    """The class that an instance with this configuration handles."""
    stated = read_configuration(config_file, Purpose.OFFLINE, (RESOURCE_MANAGER,))
    for warning in stated.decoded.warnings:
        note(f"warning: {config_file}: {warning}")
    return ClassFilter(stated.decoded.configuration.controllers.resource_class)


async def _of_cluster(
    kubeconfig: str | None, context: str | None, namespace: str, own_class: ClassFilter | None
) -> Judgement:
    # The HTTP client is slow to import, and files need none.
    from hedgerow_adapters.kubernetes.discovery import Discovery  # noqa: PLC0415
    from hedgerow_entrypoints.cli.health import live  # noqa: PLC0415

    async with connected(kubeconfig, context) as transport:
        return await live.judgement_of(transport, Discovery(transport).look_up, namespace, own_class)
