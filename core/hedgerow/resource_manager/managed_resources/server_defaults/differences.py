"""Drift: where a live object differs from the object to write, apart from what the API server made of it.

Manifests omit fields that the server fills in. `storage_rule` knows the defaults of built-in kinds, the schema of a
definition those of custom resources. Neither knows what a webhook adds: that shows when the object is written. The
differences between what was sent and what the server answered are then settled, and an object with only these needs no
update.

Source: managed-resources §8.6; decision "steady state"; Kubernetes API, version 1.36.
"""

import base64
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from returns.result import Success

from hedgerow.api.references import group_kind_of
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import UnreadableError, object_at, with_each, with_value
from hedgerow.machinery.scalars import parse_quantity
from hedgerow.resource_manager.managed_resources.server_defaults.kinds import storage_rule
from hedgerow.resource_manager.managed_resources.server_defaults.rules import AS_SENT, StorageRule

_SCALARS: Final = frozenset({str, int, bool})
_ZERO_AND_ONE: Final = frozenset({0, 1})
"""Numbers that equal a boolean in Python."""
_LEVELS: Final = 3
"""Levels of a value that `evidently_equal` compares: every level above compares the deeper ones again."""
_SELECTORS: Final = frozenset({"labelSelector", "namespaceSelector", "objectSelector", "podSelector", "selector"})
"""Members that select everything if they are empty, and something else if they are absent."""


class Difference(NamedTuple):
    """A member whose live value differs from the wanted one; `None` is an absent member."""

    path: str
    wanted: Any
    found: Any

    def below(self, parent: str) -> "Difference":
        """The same difference with a path that begins further up."""
        dot = "" if self.path.startswith("[") or not self.path else "."
        return self._replace(path=f"{parent}{dot}{self.path}")


def left_by_the_server(sent: Manifest, answered: Manifest, rule: StorageRule | None = None) -> tuple[Difference, ...]:
    """The differences between an object as it was sent and as the server stored it, apart from known defaults.

    Only custom resources need a rule.
    """
    return differences(as_readable(sent), answered, rule or storage_rule(sent))


def differences(wanted: Manifest, live: Manifest, rule: StorageRule = AS_SENT) -> tuple[Difference, ...]:
    """The differences that another write could remove; none if the live object is what the server would store.

    Null equals absent, and numbers are compared by value. An empty object or list equals an absent one unless it is a
    selector or the rule is verbatim.
    """
    return tuple(_of_objects(wanted, live, rule))


def evidently_equal(one: Any, other: Any) -> bool:
    """True if two values are equal beyond doubt; a fast path, so false only says that a closer look is needed.

    In doubt are booleans inside of objects and lists, numbers that equal one, and empty values, which may mean the same
    as no value.
    """
    kind = type(one)
    if kind is not type(other):
        return False
    if kind is dict or kind is list:  # cheap checks first
        return 0 < len(one) == len(other) and _is_unambiguous(one, _LEVELS) and bool(one == other)
    return kind in _SCALARS and bool(one == other)


def _is_unambiguous(value: Any, levels: int) -> bool:
    """True if nothing in so many levels of an object or list is in doubt."""
    for member in value.values() if type(value) is dict else value:
        kind = type(member)
        if kind is str:
            continue
        if kind is dict or kind is list:
            if not member or levels == 1 or not _is_unambiguous(member, levels - 1):
                return False
        elif kind is not int or member in _ZERO_AND_ONE:
            return False
    return True


def _of_objects(wanted: Mapping[str, Any], found: Mapping[str, Any], rule: StorageRule) -> list[Difference]:
    if wanted is found:
        return []
    result: list[Difference] = []
    for name, value in wanted.items():
        other = found.get(name)
        if value is other or (type(value) is str and value == other) or evidently_equal(value, other):
            continue
        if value and type(value) is type(other) is dict and name not in rule.quantities:  # the usual way down is short
            nested = _of_objects(value, other, rule.of(name))
            result += nested and [each.below(name) for each in nested]
        else:
            result += _of_member(name, value, other, found, rule)
    for name, other in found.items():
        if name not in wanted and not evidently_equal(rule.defaults.get(name), other):
            result += _of_member(name, None, other, found, rule)
    return result


def _of_member(name: str, wanted: Any, found: Any, parent: Mapping[str, Any], rule: StorageRule) -> list[Difference]:
    if wanted is None or (not wanted and name in rule.omitted):  # not sent: the server decides
        if found is None or name in rule.assigned:
            return []
        default = rule.defaults.get(name)
        wanted = default(parent) if callable(default) else default
    if wanted is None or found is None:
        present = found if wanted is None else wanted
        same = present is None or (not rule.verbatim and _is_nothing(name, present))
        return [] if same else [Difference(name, wanted, found)]
    if name in rule.quantities:
        return [] if _same_quantities(wanted, found) else [Difference(name, wanted, found)]
    nested = _of_values(wanted, found, rule.of(name))
    return nested and [each.below(name) for each in nested]


def _is_nothing(name: str, value: Any) -> bool:
    return not value and (isinstance(value, list) or (isinstance(value, (dict, Mapping)) and name not in _SELECTORS))


def _of_values(wanted: Any, found: Any, rule: StorageRule) -> list[Difference]:
    if type(wanted) not in _SCALARS:  # first, as instance checks against Mapping are slow
        if isinstance(wanted, (dict, Mapping)) and isinstance(found, (dict, Mapping)):
            return _of_objects(wanted, found, rule)
        if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
            pairs = enumerate(zip(wanted, found, strict=True))
            return [each.below(f"[{index}]") for index, (one, other) in pairs for each in _of_values(one, other, rule)]
    same = bool(wanted == found) and isinstance(wanted, bool) is isinstance(found, bool)
    return [] if same else [Difference("", wanted, found)]


def _same_quantities(wanted: Any, found: Any) -> bool:
    """True if two quantities, or all quantities of two objects, are equal by value."""
    if isinstance(wanted, (dict, Mapping)) and isinstance(found, (dict, Mapping)):
        return wanted.keys() == found.keys() and all(_same_quantities(wanted[name], found[name]) for name in wanted)
    if wanted == found:
        return True
    one, other = parse_quantity(wanted), parse_quantity(found)
    return isinstance(one, Success) and isinstance(other, Success) and one.unwrap().equals(other.unwrap())


def completed(wanted: Manifest, live: Manifest, rule: StorageRule = AS_SENT) -> Manifest:
    """The wanted object with the server's part of the live one, its members in the order of the live ones."""
    result: dict[str, Any] = {}
    for name, found in live.items():
        if wanted.get(name) is not None:
            result[name] = _completed(wanted[name], found, rule.of(name))
        elif not differences({other: value for other, value in live.items() if other != name}, live, rule):
            result[name] = found
    return {**result, **{name: value for name, value in wanted.items() if name not in live}}


def _completed(wanted: Any, found: Any, rule: StorageRule) -> Any:
    if isinstance(wanted, Mapping) and isinstance(found, Mapping):
        return completed(wanted, found, rule)
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        return [_completed(one, other, rule) for one, other in zip(wanted, found, strict=True)]
    return wanted


def as_readable(manifest: Manifest) -> Manifest:
    """The object as the server returns it where that differs from how it is sent.

    Null texts become empty, a Secret's `stringData` becomes `data`, base64 stands in one line, and the limits of
    containers are completed. An object that the server would refuse is returned as it is.
    """
    reading = _READINGS.get(group_kind_of(manifest))
    try:
        return manifest if reading is None else reading(manifest)
    except UnreadableError:
        return manifest


def _readable_config_map(manifest: Manifest) -> Manifest:
    return _with_texts(_with_texts(manifest, "data", str), "binaryData", _in_one_line)


def _readable_secret(manifest: Manifest) -> Manifest:
    readable = _with_texts(_with_texts(manifest, "data", _in_one_line), "stringData", _encoded)
    texts, data = readable.get("stringData"), readable.get("data")
    if not isinstance(texts, (dict, Mapping)):
        return readable
    merged = {**data, **texts} if isinstance(data, (dict, Mapping)) else texts
    return {name: value for name, value in {**readable, "data": merged}.items() if name != "stringData"}


def _with_texts(manifest: Manifest, name: str, reading: Callable[[str], str]) -> Manifest:
    texts = manifest.get(name)
    if not isinstance(texts, (dict, Mapping)):
        return manifest
    read = {key: reading(text or "") if isinstance(text, str | None) else text for key, text in texts.items()}
    return {**manifest, name: read}


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode(errors="surrogatepass")).decode()


def _in_one_line(encoded: str) -> str:
    return encoded.replace("\n", "").replace("\r", "")


def _readable_limit(limit: Manifest) -> Manifest:
    """A container's default limit is the maximum; its default request is the default limit, or else the minimum."""
    if limit.get("type") != "Container":
        return limit
    least, most, limits, requests = (object_at(limit, name) for name in ("min", "max", "default", "defaultRequest"))
    usable = {**most, **limits}
    requested = {**least, **usable, **requests}
    return {**limit, **({"default": usable} if usable else {}), **({"defaultRequest": requested} if requested else {})}


def _with_bundle(*path: str) -> Callable[[Manifest], Manifest]:
    """The reading of an object that has a CA bundle in the object at a path."""

    def reading(manifest: Manifest) -> Manifest:
        bundle = object_at(manifest, *path).get("caBundle")
        return with_value(manifest, (*path, "caBundle"), _in_one_line(bundle)) if isinstance(bundle, str) else manifest

    return reading


def _readable_webhooks(manifest: Manifest) -> Manifest:
    return with_each(manifest, ("webhooks",), _with_bundle("clientConfig"))


_READINGS: Final[Mapping[tuple[str, str], Callable[[Manifest], Manifest]]] = {
    ("", "ConfigMap"): _readable_config_map,
    ("", "LimitRange"): lambda manifest: with_each(manifest, ("spec", "limits"), _readable_limit),
    ("", "Secret"): _readable_secret,
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): _readable_webhooks,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): _readable_webhooks,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _with_bundle("spec", "conversion", "webhook", "clientConfig"),
    ("apiregistration.k8s.io", "APIService"): _with_bundle("spec"),
}
