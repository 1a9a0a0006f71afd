"""How planned actions are shown: as a diff, a table, YAML or JSON."""

import difflib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import click
from tabulate import tabulate

from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.json_patch import apply_json_patch
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.patches import apply_merge_patch
from hedgerow.machinery.plan import Action, Create, Delete, JsonPatch, MergePatch
from hedgerow_adapters.files import render_yaml

VERBS: Final = {Create: "create", MergePatch: "change", JsonPatch: "change", Delete: "delete"}
VERB_COLOURS: Final = {"create": "green", "change": "yellow", "delete": "red"}
COLOURS: Final = {"+": "green", "-": "red", "@": "cyan"}
_NOT_SHOWN: Final = frozenset({"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"})


@dataclass(frozen=True, slots=True)
class Planned:
    """An action beside the controller that asks for it and the object as it is."""

    controller: str
    action: Action
    live: Manifest | None

    @property
    def verb(self) -> str:
        """What is to be done, in a word."""
        return VERBS[type(self.action)]

    @property
    def after(self) -> Manifest | None:
        """The object as it will be; none once it is gone."""
        match self.action:
            case Create(_, manifest):
                return manifest
            case MergePatch(_, _, patch):
                return without_server_fields(apply_merge_patch(self.live or {}, patch))
            case JsonPatch(_, _, operations):
                return apply_json_patch(self.live, operations).map(without_server_fields).value_or(self.live)
            case Delete():
                return None


def styled_verb(action: Action) -> str:
    """What an action does, in a word in the colour of that word."""
    verb = VERBS[type(action)]
    return click.style(verb, fg=VERB_COLOURS[verb])


def summary(counts: Iterable[tuple[int, str]], problems: Sequence[object]) -> str:
    """All actions and problems in one line, such as `3 to create, 1 error`; `nothing to do` where there are none.

    Args:
        counts: how many actions there are of a sort, and its name.
        problems: what could not be done.
    """
    errors = (len(problems), "error" if len(problems) == 1 else "errors")
    return ", ".join(f"{count} {what}" for count, what in (*counts, errors) if count) or "nothing to do"


def without_server_fields(manifest: Manifest) -> Manifest:
    """The object without what only an API server knows, and without empty labels or annotations."""
    metadata = manifest.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        return manifest
    shown = {name: value for name, value in metadata.items() if name not in _NOT_SHOWN and value != {}}
    return {**manifest, "metadata": shown}


def as_diff(planned: Iterable[Planned], failures: Sequence[DomainFailure]) -> str:
    """A unified diff of all objects, in YAML, each under a line that says what is done and why."""
    del failures  # they are told on standard error
    return "".join(line for each in planned for line in _diff(each))


def _diff(planned: Planned) -> Iterator[str]:
    action = planned.action
    name = f"{action.resource.kind} {action.key}"
    yield click.style(f"# {planned.verb} {name} ({action.reason})", bold=True) + "\n"
    yield from differing_lines(planned.live, planned.after, f"live {name}", name)


def differing_lines(before: Manifest | None, after: Manifest | None, old_name: str, new_name: str) -> Iterator[str]:
    """The unified diff of an object's YAML.

    Args:
        before: the object as it was; none: it did not exist.
        after: the object as it is; none: it is gone.
        old_name: what the first is called in the diff.
        new_name: what the second is called there.
    """
    old, new = _yaml(before), _yaml(after)
    lines = difflib.unified_diff(old, new, old_name if old else "/dev/null", new_name if new else "/dev/null")
    yield from map(_coloured, lines)


def changed_lines(before: Manifest | None, after: Manifest | None, *, context: int = 1) -> Iterator[str]:
    """The lines of an object's YAML that differ, a few unchanged ones around them, and nothing else.

    Args:
        before: the object as it was; none: it did not exist.
        after: the object as it is; none: it is gone.
        context: how many unchanged lines are shown around a change.
    """
    headers = 2
    lines = difflib.unified_diff(_yaml(before), _yaml(after), n=context)
    for line in itertools.islice(lines, headers, None):
        if not line.startswith("@@"):
            yield _coloured(line)


def _coloured(line: str) -> str:
    colour = COLOURS.get(line[0])
    return click.style(line.rstrip("\n"), fg=colour) + "\n" if colour else line


def _yaml(manifest: Manifest | None) -> list[str]:
    return [] if manifest is None else render_yaml([without_server_fields(manifest)]).splitlines(keepends=True)


def as_table(planned: Iterable[Planned], failures: Sequence[DomainFailure]) -> str:
    """A line per action, in columns."""
    del failures  # as above
    rows = [
        (
            styled_verb(each.action),
            each.action.resource.kind,
            each.action.key.namespace,
            each.action.key.name,
            each.action.reason,
        )
        for each in planned
    ]
    if not rows:
        return ""
    return tabulate(rows, ("ACTION", "KIND", "NAMESPACE", "NAME", "REASON"), tablefmt="plain") + "\n"


def as_json(planned: Iterable[Planned], failures: Sequence[DomainFailure]) -> str:
    """One JSON object: the actions in order, and what could not be planned."""
    return json.dumps(_document(planned, failures), indent=2) + "\n"


def as_yaml(planned: Iterable[Planned], failures: Sequence[DomainFailure]) -> str:
    """As JSON, in YAML."""
    return render_yaml([_document(planned, failures)])


def _document(planned: Iterable[Planned], failures: Sequence[DomainFailure]) -> dict[str, Any]:
    return {
        "actions": [_entry(each) for each in planned],
        "failures": [
            {
                "kind": failure.resource.kind,
                "namespace": failure.key.namespace,
                "name": failure.key.name,
                "field": failure.field,
                "problem": failure.problem,
            }
            for failure in failures
        ],
    }


def _entry(planned: Planned) -> dict[str, Any]:
    action = planned.action
    entry: dict[str, Any] = {
        "action": planned.verb,
        "apiVersion": action.resource.api_version,
        "kind": action.resource.kind,
        "namespace": action.key.namespace,
        "name": action.key.name,
        "reason": action.reason,
        "controller": planned.controller,
    }
    match action:
        case Create(_, manifest):
            entry["object"] = manifest
        case MergePatch(_, _, patch):
            entry["patch"] = patch
        case JsonPatch(_, _, operations):
            entry["patch"] = list(operations)
    return entry


FORMATS: Final[dict[str, Callable[[Iterable[Planned], Sequence[DomainFailure]], str]]] = {
    "diff": as_diff,
    "table": as_table,
    "yaml": as_yaml,
    "json": as_json,
}
