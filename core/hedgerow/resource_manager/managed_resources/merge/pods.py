"""What of a Pod stays as it is in the cluster: all that its manifest does not mention.

Next to nothing of a Pod can be changed, and much is added to it: the scheduler binds it, admission gives it volumes,
tolerations and containers. A manifest that asked for all this to be gone again would be refused for ever.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import object_at

_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "containers": ("name",),
    "env": ("name",),
    "hostAliases": ("ip",),
    "imagePullSecrets": ("name",),
    "initContainers": ("name",),
    "tolerations": ("key", "effect"),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "volumeDevices": ("devicePath",),
    "volumeMounts": ("mountPath",),
    "volumes": ("name",),
}
"""Lists of objects that others add to, and by which members an item is told from the others."""

_GATES: Final = "schedulingGates"


def completed_pod(wanted: Manifest, live: Manifest) -> Manifest:
    """The Pod with what it has been given since it was created; a gate that somebody has opened stays open."""
    found = object_at(live, "spec")
    asked = {name: value for name, value in object_at(wanted, "spec").items() if value != "" and name != _GATES}
    return {**wanted, "spec": _completed(asked, found, "spec")}


def _completed(wanted: Any, found: Any, name: str) -> Any:
    """A member with what the live one has beyond it."""
    if wanted is None:
        return found
    if isinstance(wanted, (dict, Mapping)) and isinstance(found, (dict, Mapping)):
        return {**found, **{each: _completed(value, found.get(each), each) for each, value in wanted.items()}}
    if isinstance(wanted, list) and isinstance(found, list):
        return _completed_list(wanted, found, name)
    return wanted


def _completed_list(wanted: Sequence[Any], found: Sequence[Any], name: str) -> Sequence[Any]:
    """Items as they stand in the cluster, each completed, and after them those that are missing there."""
    asked, there = _by_key(wanted, name), _by_key(found, name)
    if asked is not None and there is not None:
        known = [_completed(asked.get(key), item, name) for key, item in there.items()]
        return [*known, *(item for key, item in asked.items() if key not in there)]
    if len(wanted) != len(found):
        return wanted
    return [_completed(one, other, name) for one, other in zip(wanted, found, strict=True)]


def _by_key(items: Sequence[Any], name: str) -> dict[tuple[str, ...], Any] | None:
    """The items of a list by what tells them apart; none if nothing does."""
    members = _KEYS.get(name)
    if members is None or not all(isinstance(item, (dict, Mapping)) for item in items):
        return None
    by_key = {tuple(str(item.get(member) or "") for member in members): item for item in items}
    return by_key if len(by_key) == len(items) else None
