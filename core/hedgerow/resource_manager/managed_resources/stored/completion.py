"""What an object would look like once the API server has stored it, as far as the live object shows that.

For people who want to see what a write changes: what the server has filled in before, it fills in again.

Source: managed-resources §8.6.
"""

from collections.abc import Mapping
from typing import Any

from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.managed_resources.stored.differences import differences
from hedgerow.resource_manager.managed_resources.stored.rules import AS_SENT, Stored


def completed(wanted: Manifest, live: Manifest, rule: Stored = AS_SENT) -> Manifest:
    """The object with everything that another write would not remove, its members in the order of the live ones.

    Args:
        wanted: the object to be written.
        live: the object as it is stored.
        rule: how the server stores objects of this kind.
    """
    result: dict[str, Any] = {}
    for name, found in live.items():
        if wanted.get(name) is not None:
            result[name] = _completed(wanted[name], found, rule.of(name))
        elif not differences(_without(live, name), live, rule):
            result[name] = found
    return {**result, **{name: value for name, value in wanted.items() if name not in live}}


def _completed(wanted: Any, found: Any, rule: Stored) -> Any:
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        return completed(wanted, found, rule)
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        return [_completed(one, other, rule) for one, other in zip(wanted, found, strict=True)]
    return wanted


def _without(live: Manifest, name: str) -> Manifest:
    return {other: value for other, value in live.items() if other != name}
