"""How two plans or steps are told apart, and how people are told what is in one.

What a plan remembers is no part of it here: that saves work, and decides nothing. Nor is the order of what is
independent of each other.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import unified_diff
from typing import Any, Final

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.plan import Action, Plan, actions_in, is_dry_run
from hedgerow.machinery.recording.codec import Json, canonical, encoded
from hedgerow.machinery.steps import Step

_VERBS: Final = {
    "Create": "create",
    "Update": "update",
    "MergePatch": "patch",
    "JsonPatch": "patch",
    "Delete": "delete",
}
_CONTEXT: Final = 3
"""Lines around a difference."""


def comparable(plan: Plan) -> Json:
    """A plan as a record holds it: equal for plans that ask for the same.

    Raises:
        UnrecordableError: something in it is of a type that no record can hold.
    """
    value: dict[str, Any] = encoded(replace(plan, state=None))
    for name, items in (("actions", not plan.in_order), ("events", True)):
        if items:
            value[name] = {**value[name], "of": sorted(value[name]["of"], key=canonical)}
    return value


def outline(state: Step[Any] | Plan) -> list[str]:
    """What a step or a plan asks for, a line each, without a word of what is written."""
    actions = [_outlined(action) for action in actions_in(state)]
    if not isinstance(state, Plan):
        return actions or [f"awaits {type(state).__name__}"]
    return [
        *actions,
        *(f"{event.type} event {event.reason} about {event.resource.kind} {event.key}" for event in state.events),
        *(
            f"failure: {failure.resource.kind} {failure.key}{f': {failure.field}' if failure.field else ''}"
            for failure in state.failures
        ),
        *_conclusion(state),
    ]


def _outlined(action: Action) -> str:
    part = getattr(action, "subresource", "")
    subresource = f"/{part}" if part else ""
    where = "" if action.cluster is Cluster.TARGET else f" in the {action.cluster.value} cluster"
    verb = "dry-run update of" if is_dry_run(action) else _VERBS[type(action).__name__]
    return f"{verb} {action.resource.kind}{subresource} {action.key}{where} ({action.reason})"


def _conclusion(plan: Plan) -> Iterator[str]:
    if plan.requeue_after is not None:
        yield f"again in {plan.requeue_after:g} s"


def differences(recorded: Json, repeated: Json) -> list[str]:
    """What is different in two plans or steps, as a unified diff; nothing where they are the same.

    Args:
        recorded: as the record holds it; none: there was none.
        repeated: as above.
    """
    if recorded == repeated:
        return []
    return list(
        unified_diff(_lines(recorded), _lines(repeated), "recorded", "repeated", lineterm="", n=_CONTEXT),
    )


def _lines(plan: Json) -> list[str]:
    """A plan or a step as text: its actions, events, failures and steps one by one, and how it ends."""
    if not isinstance(plan, Mapping):
        return []
    if not str(plan.get("$")).endswith((".Plan", ".AtOnce", ".InOrder", ".RecordEvents")):
        return _described("step", plan)
    lines: list[str] = []
    for name, value in plan.items():
        items = value.get("of") if isinstance(value, Mapping) else None
        if isinstance(items, Sequence):
            for item in items:
                lines += _described(name, item)
        elif name != "$" and value not in (None, False):
            lines.append(f"{name}: {value}")
    return lines


def _described(name: str, item: Json) -> list[str]:
    kind = str(item.get("$", "")).rpartition(".")[2] if isinstance(item, Mapping) else ""
    members = {each: value for each, value in item.items() if each != "$"} if isinstance(item, Mapping) else item
    return [f"{name}: {kind}", *json.dumps(members, indent=2, sort_keys=True, ensure_ascii=False).splitlines()]
