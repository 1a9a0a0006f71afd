"""How verdicts are shown: as a table, YAML or JSON."""

import json
from collections.abc import Callable
from typing import Any, Final

import click
from tabulate import tabulate

from hedgerow_adapters.files import render_yaml
from hedgerow_adapters.files.sources import printable
from hedgerow_entrypoints.cli.health.judgement import Judgement
from hedgerow_entrypoints.cli.health.verdicts import Verdict
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
    return (
        *map(printable, (kind.kind, key.namespace, key.name)),
        click.style(WORDS[verdict.healthy], fg=_HEALTH_COLOURS[verdict.healthy]),
        click.style(WORDS[verdict.progressing], fg=_PROGRESS_COLOURS[verdict.progressing]),
        _shortened(printable(" ".join(verdict.why.split()))),
    )


def _shortened(why: str) -> str:
    """What fits into a row; programs get the whole."""
    return why if len(why) <= LONGEST_WHY else f"{why[: LONGEST_WHY - 3].rstrip()}..."


def as_json(judgement: Judgement) -> str:
    """One JSON object: the verdicts in order, and what could not be judged."""
    return json.dumps(_document(judgement), indent=2) + "\n"


def as_yaml(judgement: Judgement) -> str:
    """As JSON, in YAML."""
    return render_yaml([_document(judgement)])


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


FORMATS: Final[dict[str, Callable[[Judgement], str]]] = {"table": as_table, "yaml": as_yaml, "json": as_json}
