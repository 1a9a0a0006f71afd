"""Plans and steps, compared for a replay, and told to people.

The order of what is independent of each other does not count, nor does the state for the next turn.
"""

import json
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


def comparable(wants: Step[Any] | Plan) -> Json:
    """A step or a plan as JSON: equal for those that ask for the same.

    Raises:
        UnrecordableError: something in it has a type that no record can hold.
    """
    if not isinstance(wants, Plan):
        return encoded(wants)
    value: dict[str, Any] = encoded(replace(wants, state=None))
    for name, is_independent in (("actions", not wants.in_order), ("events", True)):
        if is_independent and name in value:
            value[name] = sorted(value[name], key=canonical)
    return value


def outline(state: Step[Any] | Plan | None) -> list[str]:
    """What a step or a plan asks for, a line each, without a word of what is written; none: the decision raised."""
    if state is None:
        return ["raised"]
    actions = [_outlined(action) for action in actions_in(state)]
    if not isinstance(state, Plan):
        return actions or [f"awaits {type(state).__name__}"]
    return [
        *actions,
        *(f"{event.type} event {event.reason} about {event.resource.kind} {event.key}" for event in state.events),
        *(
            f"failure: {failure.resource.kind} {failure.key}{f': {path}' if (path := failure.problem.path) else ''}"
            for failure in state.failures
        ),
        *([] if state.requeue_after is None else [f"again in {state.requeue_after:g} s"]),
    ]


def _outlined(action: Action) -> str:
    part = getattr(action, "subresource", "")
    subresource = f"/{part}" if part else ""
    where = "" if action.cluster is Cluster.TARGET else f" in the {action.cluster.value} cluster"
    verb = "dry-run update of" if is_dry_run(action) else _VERBS[type(action).__name__]
    return f"{verb} {action.resource.kind}{subresource} {action.key}{where} ({action.reason})"


def differences(recorded: Json, repeated: Json) -> list[str]:
    """What is different in two plans or steps, as a unified diff; nothing where they are the same.

    Args:
        recorded: as `comparable` says it; none: there was none.
        repeated: the same.
    """
    return list(unified_diff(_lines(recorded), _lines(repeated), "recorded", "repeated", lineterm="", n=_CONTEXT))


def _lines(wants: Json) -> list[str]:
    text = json.dumps(wants, indent=2, sort_keys=True, ensure_ascii=False)
    # A comma says only that something follows.
    return [line.removesuffix(",") for line in text.splitlines()] if wants is not None else []
