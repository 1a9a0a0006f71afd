"""How verdicts are shown: as a table, YAML or JSON."""

import json
from collections.abc import Callable
from typing import Any, Final

import click
from tabulate import tabulate

from hedgerow_adapters.files import render_yaml
from hedgerow_adapters.files.sources import printable
from hedgerow_entrypoints.cli.health.verdicts import Judgement, Verdict
from hedgerow_entrypoints.cli.rendering import summary

HEADERS: Final = ("KIND", "NAMESPACE", "NAME", "HEALTHY", "PROGRESSING", "WHY")
LONGEST_WHY: Final = 240
WORDS: Final = {True: "yes", False: "no", None: "-"}
_HEALTH_COLOURS: Final = {True: "green", False: "red", None: None}
_PROGRESS_COLOURS: Final = {True: "yellow", False: None, None: None}


def as_table(judgement: Judgement) -> str:
    """A line per object, in columns."""
    rows = [_row(verdict) for verdict in judgement.verdicts]
    return tabulate(rows, HEADERS, tablefmt="plain", disable_numparse=True) + "\n" if rows else ""


def _row(verdict: Verdict) -> tuple[str, ...]:
    kind, key = verdict.subject
    why = printable(" ".join(verdict.why.split()))
    return (
        *map(printable, (kind.kind, key.namespace, key.name)),
        click.style(WORDS[verdict.healthy], fg=_HEALTH_COLOURS[verdict.healthy]),
        click.style(WORDS[verdict.progressing], fg=_PROGRESS_COLOURS[verdict.progressing]),
        why if len(why) <= LONGEST_WHY else f"{why[: LONGEST_WHY - 3].rstrip()}...",  # programs get the whole
    )


def _document(judgement: Judgement) -> dict[str, Any]:
    return {"objects": [_entry(verdict) for verdict in judgement.verdicts], "problems": list(judgement.problems)}


def _entry(verdict: Verdict) -> dict[str, Any]:
    kind, key = verdict.subject
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "namespace": key.namespace,
        "name": key.name,
        "healthy": verdict.healthy,
        "progressing": verdict.progressing,
        "why": verdict.why,
    }


def in_one_line(judgement: Judgement) -> str:
    """How many objects are in which state."""
    unhealthy = sum(verdict.healthy is False for verdict in judgement.verdicts)
    progressing = sum(bool(verdict.progressing) for verdict in judgement.verdicts)
    counts = (
        (len(judgement.verdicts) - unhealthy, "healthy"),
        (unhealthy, "unhealthy"),
        (progressing, "progressing"),
    )
    return summary(counts, judgement.problems, none="nothing to judge")


FORMATS: Final[dict[str, Callable[[Judgement], str]]] = {
    "table": as_table,
    "yaml": lambda judgement: render_yaml([_document(judgement)]),
    "json": lambda judgement: json.dumps(_document(judgement), indent=2) + "\n",
}
