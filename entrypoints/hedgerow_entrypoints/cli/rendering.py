"""How planned actions are shown: as a diff, a table, YAML or JSON."""

import difflib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import click
from tabulate import tabulate

from hedgerow.machinery.failures import Failure
from hedgerow.machinery.objects import Manifest, key_of
from hedgerow.machinery.patches import Operation, apply_merge_patch, json_patch_between, merge_patch
from hedgerow.machinery.plan import Action, Create, Delete, JsonPatch, MergePatch, Update, only_asks
from hedgerow.resource_manager.managed_resources.server_defaults.differences import as_readable, completed
from hedgerow.resource_manager.managed_resources.server_defaults.kinds import storage_rule
from hedgerow.resource_manager.secret_redaction import redacted
from hedgerow_adapters.files.writing import render_yaml
from hedgerow_adapters.protocol.json_patch import apply_json_patch

DONE: Final = {"create": "created", "request": "requested", "change": "changed", "delete": "deleted"}
"""Each verb in the past, in the order in which summaries have them."""
VERB_COLOURS: Final = {"create": "green", "request": "green", "change": "yellow", "delete": "red"}
COLOURS: Final = {"+": "green", "-": "red", "@": "cyan"}
_SORTED: Final = frozenset({"labels", "annotations"})
_NOT_SHOWN: Final = frozenset({"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"})


@dataclass(frozen=True, slots=True)
class Planned:
    """An action beside the controller that asks for it, the object as it is, and the object as it will be."""

    controller: str
    action: Action
    live: Manifest | None
    after: Manifest | None
    reason: str
    patch: Any = None
    """How it is changed, a merge patch or a JSON patch; none where it is created or deleted."""

    @classmethod
    def of(cls, controller: str, action: Action, live: Manifest | None) -> "Planned":
        """The plan to carry an action out, as the server words it; without what only that knows, unless created."""
        after: Manifest | None = None
        patch: Any = None
        match action:
            case Create(_, manifest):
                after = as_readable(manifest)
            case Update(_, manifest):
                after = without_server_fields(completed(as_readable(manifest), live or {}, storage_rule(manifest)))
                patch = _difference(live, after)
            case MergePatch(_, _, patch):
                after = without_server_fields(apply_merge_patch(live or {}, patch))
            case JsonPatch(_, _, operations):
                patch = [*operations]
                after = apply_json_patch(live, operations).map(without_server_fields).value_or(live)
        return cls(controller, action, None if only_asks(action) else live, after, action.reason, patch)

    def then(self, later: "Planned") -> "Planned":
        """What comes of this and a later change of the object: one that is created and changed is created."""
        if self.verb == "create":
            return replace(self, after=later.after)
        reason = ", ".join(dict.fromkeys((*self.reason.split(", "), later.reason)))
        return replace(later, live=self.live, reason=reason, patch=_difference(self.live, later.after))

    @property
    def verb(self) -> str:
        """What is to be done, in a word."""
        return verb_of(self.action)

    @property
    def without_secrets(self) -> "Planned":
        """The same, but of a Secret no value is told, only that it changes."""
        kind = self.action.resource.object_kind
        live, after = redacted(self.live, kind=kind), redacted(self.after, self.live, kind)
        if live is self.live and after is self.after:
            return replace(self, patch=redacted(self.patch))
        patch = None
        if self.patch is not None:
            between = merge_patch if isinstance(self.patch, Mapping) else json_patch_between
            patch = between(without_server_fields(live or {}), after or {})
        return replace(self, live=live, after=after, patch=patch)


def _difference(before: Manifest | None, after: Manifest | None) -> list[Operation]:
    return json_patch_between(without_server_fields(before or {}), without_server_fields(after or {}))


def verb_of(action: Action) -> str:
    """What an action does, in a word: to ask a subresource for something leaves the object as it is."""
    if only_asks(action):
        return "request"
    return {Create: "create", Delete: "delete"}.get(type(action), "change")


def styled_verb(action: Action) -> str:
    """What an action does, in a word in the colour of that word."""
    verb = verb_of(action)
    return click.style(verb, fg=VERB_COLOURS[verb])


def subject(action: Action) -> str:
    """What an action concerns: an object, or what a subresource of one makes."""
    if isinstance(action, Create) and action.subresource:
        return f"{action.subresource} of {action.resource.kind} {action.key}"
    return f"{action.resource.kind} {action.key}"


def summary(counts: Iterable[tuple[int, str]], problems: Sequence[object], *, none: str = "nothing to do") -> str:
    """How many actions there are of each sort, and how many problems, in a line such as `3 to create, 1 error`."""
    errors = (len(problems), "error" if len(problems) == 1 else "errors")
    return ", ".join(f"{count} {sort}" for count, sort in (*counts, errors) if count) or none


def without_server_fields(manifest: Manifest) -> Manifest:
    """The object without what only an API server knows, and without empty labels or annotations."""
    metadata = manifest.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        return manifest
    shown = {name: value for name, value in metadata.items() if name not in _NOT_SHOWN and value != {}}
    return {**manifest, "metadata": shown}


def as_diff(planned: Iterable[Planned], _failures: Sequence[Failure]) -> str:
    """A unified diff of all objects, in YAML, each under a line that says what is done and why."""
    lines: list[str] = []
    for each in planned:
        name = subject(each.action)
        lines.append(click.style(f"# {each.verb} {name} ({each.reason})", bold=True) + "\n")
        lines += differing_lines(each.live, each.after, _before(each), name)
    return "".join(lines)


def _before(planned: Planned) -> str:
    """Of what the diff shows the object in comparison: of itself as it is, or of the one that it takes the place of."""
    key = key_of(planned.live) if planned.live is not None else planned.action.key
    if key == planned.action.key:
        return f"live {subject(planned.action)}"
    return f"last {planned.action.resource.kind} {key}"


def differing_lines(before: Manifest | None, after: Manifest | None, old_name: str, new_name: str) -> Iterator[str]:
    """The unified diff of an object's YAML, which has a name on each side; none: it does not exist there."""
    old, new = _yaml(before), _yaml(after)
    lines = difflib.unified_diff(old, new, old_name if old else "/dev/null", new_name if new else "/dev/null")
    return map(_coloured, lines)


def changed_lines(before: Manifest | None, after: Manifest | None) -> Iterator[str]:
    """The lines of an object's YAML that differ, an unchanged one around them, and nothing else."""
    headers = 2
    lines = itertools.islice(difflib.unified_diff(_yaml(before), _yaml(after), n=1), headers, None)
    return (_coloured(line) for line in lines if not line.startswith("@@"))


def _coloured(line: str) -> str:
    colour = COLOURS.get(line[0])
    return click.style(line.rstrip("\n"), fg=colour) + "\n" if colour else line


def _yaml(manifest: Manifest | None) -> list[str]:
    if manifest is None:
        return []
    return render_yaml([_with_sorted_labels(without_server_fields(manifest))]).splitlines(keepends=True)


def _with_sorted_labels(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_sorted_labels(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    members = {name: _with_sorted_labels(member) for name, member in value.items()}
    labels = {name: dict(sorted(members[name].items())) for name in _SORTED if isinstance(members.get(name), dict)}
    return members | labels


def as_table(planned: Iterable[Planned], _failures: Sequence[Failure]) -> str:
    """A line per action, in columns."""
    rows = [(styled_verb(each.action), each.action.resource.kind, *each.action.key, each.reason) for each in planned]
    return in_columns(rows, ("ACTION", "KIND", "NAMESPACE", "NAME", "REASON"))


def in_columns(rows: Sequence[Sequence[object]], headers: Sequence[str]) -> str:
    """A line per row, under headers; nothing without a row."""
    return tabulate(rows, headers, tablefmt="plain", disable_numparse=True) + "\n" if rows else ""


def _document(planned: Iterable[Planned], failures: Sequence[Failure]) -> dict[str, Any]:
    failed = [
        {"kind": each.resource.kind, **each.key._asdict(), "field": each.problem.path, "problem": each.problem.text}
        for each in failures
    ]
    return {"actions": [_entry(each) for each in planned], "failures": failed}


def _entry(planned: Planned) -> dict[str, Any]:
    action = planned.action
    entry: dict[str, Any] = {
        "action": planned.verb,
        "apiVersion": action.resource.api_version,
        "kind": action.resource.kind,
        **action.key._asdict(),
        "reason": planned.reason,
        "controller": planned.controller,
    }
    if isinstance(action, Create):
        entry["object"] = planned.after
        if action.subresource:
            entry["subresource"] = action.subresource
    if planned.patch is not None:
        entry["patch"] = planned.patch
    return entry


FORMATS: Final[dict[str, Callable[[Iterable[Planned], Sequence[Failure]], str]]] = {
    "diff": as_diff,
    "table": as_table,
    "yaml": lambda planned, failures: render_yaml([_document(planned, failures)]),
    "json": lambda planned, failures: json.dumps(_document(planned, failures), indent=2) + "\n",
}
