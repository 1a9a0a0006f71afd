"""The objects that ManagedResources deliver, in place of the Secrets that hold them, beside those of the last Secrets.

Source: managed-resources §1; controller-registration §8.9.
"""

import binascii
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.api.references import readable_names
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.documents.streams import stream_documents
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.plan import Create
from hedgerow.machinery.questions import Found, ObjectQuestion
from hedgerow.resource_manager.secret_redaction import redacted
from hedgerow_entrypoints.cli.rendering import Planned
from hedgerow_entrypoints.components.registry import Ask


def with_objects(planned: Sequence[Planned], ask: Ask, *, show_secrets: bool) -> list[Planned]:
    """The plan as it is shown: Secrets that a ManagedResource delivers next have objects in place of their data.

    Unless `show_secrets`, no value of a Secret is shown.
    """
    last = dict(_successions(planned))
    return [_with_objects(each, last, ask, show_secrets=show_secrets) for each in planned]


def delivered(planned: Sequence[Planned]) -> Iterator[Manifest]:
    """The objects that ManagedResources deliver next, out of the Secrets that are created for them."""
    next_secrets = {place for place, _ in _successions(planned)}
    for each in planned:
        if isinstance(each.action, Create) and (each.action.key, each.action.cluster) in next_secrets:
            yield from chain.from_iterable(_objects(each.after).values())


def _successions(planned: Iterable[Planned]) -> Iterator[tuple[tuple[ObjectKey, Cluster], str]]:
    """Each Secret that a ManagedResource refers to next, and the name of the one in its place before; empty: none."""
    for each in planned:
        action = each.action
        if action.resource != MANAGED_RESOURCES or each.after is None:
            continue
        before = readable_names(each.live or {})
        for place, name in enumerate(readable_names(each.after)):
            last = before[place] if place < len(before) else ""
            yield (ObjectKey(action.key.namespace, name), action.cluster), last


def _with_objects(
    planned: Planned, last: Mapping[tuple[ObjectKey, Cluster], str], ask: Ask, *, show_secrets: bool
) -> Planned:
    action, after = planned.action, planned.after
    name = last.get((action.key, action.cluster)) if action.resource == SECRETS else None
    if not isinstance(action, Create) or name is None or after is None:
        return planned if show_secrets else planned.without_secrets
    answer = ask(ObjectQuestion(SECRETS, ObjectKey(action.key.namespace, name), action.cluster)) if name else None
    before = _in_order_of(after, answer.objects[0]) if isinstance(answer, Found) else None
    old, new = _objects(before), _objects(after)
    if not show_secrets:
        old, new = redacted(old), redacted(new, old)
    return replace(planned, live=before and {**before, "data": old}, after={**after, "data": new})


def _in_order_of(other: Manifest, manifest: Manifest) -> Manifest:
    """The object with its fields in the order of another one, so that a diff shows no more than differs."""
    return {**{name: manifest[name] for name in other if name in manifest}, **manifest}


def _objects(secret: Manifest | None) -> Mapping[str, Any]:
    """The objects in a Secret by the keys of its data; what is no text with objects is a Secret to whoever shows it."""
    data = (secret or {}).get("data")
    return {name: _documents(value) for name, value in data.items()} if isinstance(data, Mapping) else {}


def _documents(value: Any) -> list[Any]:
    try:
        documents = stream_documents(b64decode(value, validate=True).decode())
    except (binascii.Error, TypeError, UnicodeDecodeError, ValueError):
        return [_hidden(value)]
    if any(document.problems for document in documents):
        return [_hidden(value)]
    return [document.value for document in documents if document.value is not None]


def _hidden(value: Any) -> Manifest:
    return {"kind": SECRETS.kind, "metadata": {}, "data": {"value": value}}
