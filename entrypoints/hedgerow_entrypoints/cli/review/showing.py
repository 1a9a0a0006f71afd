"""How reviews are shown: as a diff, a table, YAML or JSON. What a Secret holds is never shown."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import click

from hedgerow.admission.webhook import OK, Denied, Mutated
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.patches import Operation, json_patch_between
from hedgerow.resource_manager.secret_redaction import redacted
from hedgerow_adapters.files.sources import printable
from hedgerow_adapters.files.writing import render_yaml
from hedgerow_entrypoints.cli.rendering import differing_lines, in_columns
from hedgerow_entrypoints.cli.review.course import Reviewed
from hedgerow_entrypoints.cli.review.panels import readable
from hedgerow_entrypoints.cli.review.requests import shown_name, without_default

VERDICT_COLOURS: Final = {"unchanged": "green", "changed": "yellow", "denied": "red"}


def as_diff(reviews: Iterable[Reviewed]) -> str:
    """Each decision in a line, which rule changed what, and a unified diff of the object in YAML."""
    return "".join(line for each in reviews for line in _diff(each))


def _diff(reviewed: Reviewed) -> Iterator[str]:
    name = str(reviewed.candidate)
    heading = click.style(f"# {reviewed.verdict} {name} by {reviewed.webhook}", bold=True)
    saying = _saying(reviewed)
    yield f"{heading}: {saying}\n" if saying else f"{heading}\n"
    yield from (f"#   {warning}\n" for warning in _warnings(reviewed))
    for mutation in reviewed.mutations:
        paths = dict.fromkeys(printable(each["path"]) for each in _patch(mutation.before, mutation.after))
        yield f"#   {mutation.rule}: {', '.join(paths)}\n"
    if isinstance(reviewed.decision, Mutated):
        before, after = reviewed.request.object, reviewed.decision.object
        if field := reviewed.candidate.filled_in:  # by an API server alone, and nobody could take it back
            before, after = without_default(before, field), without_default(after, field)
        old, new = (readable(each, reviewed.webhook) for each in (redacted(before), redacted(after, before)))
        yield from differing_lines(old, new, f"sent {name}", f"admitted {name}")


def as_table(reviews: Iterable[Reviewed]) -> str:
    """A line per decision, in columns."""
    rows = [
        (
            click.style(each.verdict, fg=VERDICT_COLOURS[each.verdict]),
            printable(each.request.kind.kind),
            printable(each.request.namespace),
            printable(shown_name(each.candidate.request)),
            each.webhook,
            "; ".join(
                filter(None, (", ".join(mutation.rule for mutation in each.mutations), _saying(each), *_warnings(each)))
            ),
        )
        for each in reviews
    ]
    return in_columns(rows, ("DECISION", "KIND", "NAMESPACE", "NAME", "WEBHOOK", "RULES"))


def _entry(reviewed: Reviewed) -> dict[str, Any]:
    request, decision, mutations = reviewed.request, reviewed.decision, reviewed.mutations
    return {
        "object": {
            "apiVersion": request.kind.api_version,
            "kind": request.kind.kind,
            "namespace": request.namespace,
            "name": shown_name(reviewed.candidate.request),
        },
        "source": str(reviewed.candidate.source),
        "operation": request.operation,
        "uid": request.uid,
        "webhook": reviewed.webhook,
        "decision": reviewed.verdict,
        "allowed": not isinstance(decision, Denied),
        "code": decision.code if isinstance(decision, Denied) else OK,
        "message": reviewed.message,
        "warnings": [*reviewed.warnings],
        "rules": [{"rule": each.rule, "patch": _patch(each.before, each.after)} for each in mutations],
        "patch": _patch(mutations[0].before, mutations[-1].after) if mutations else [],
    }


def _patch(before: Manifest, after: Manifest) -> list[Operation]:
    return json_patch_between(redacted(before), redacted(after, before))


def _saying(reviewed: Reviewed) -> str:
    decision, message = reviewed.decision, printable(reviewed.message)
    return " ".join(filter(None, (str(decision.code), message))) if isinstance(decision, Denied) else message


def _warnings(reviewed: Reviewed) -> Iterator[str]:
    yield from (f"warning: {printable(each)}" for each in reviewed.warnings)


FORMATS: Final[dict[str, Callable[[Iterable[Reviewed]], str]]] = {
    "diff": as_diff,
    "table": as_table,
    "json": lambda reviews: json.dumps([_entry(each) for each in reviews], indent=2) + "\n",
    "yaml": lambda reviews: render_yaml([_entry(each) for each in reviews]),
}
