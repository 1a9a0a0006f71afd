"""Where a live object differs from the one that is to be written, apart from what the API server made of it.

Manifests omit fields that the server fills in, so two objects may differ and yet mean the same: to send the one would
not change the other. What remains is drift, and each difference is told with both values.

The rules for built-in kinds stand in this package, those for custom resources in the schema of their definition. What
neither knows, such as what a webhook adds to objects, shows when something is written: the differences between what was
sent and what the server answered are the settled ones. They are the same for as long as nobody changes anything, and an
object that shows just these needs no update.

Source: managed-resources §8.6; decision "steady state".
"""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from returns.result import Success

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.scalars import parse_quantity
from hedgerow.resource_manager.managed_resources.server_defaults.rules import AS_SENT, Stored

SCALARS: Final = frozenset({str, int, bool})
"""Types of single values that are the same if they are equal and of one type."""

_EQUAL_TO_BOOLEANS: Final = frozenset({0, 1})
"""What Python holds for equal to false and true."""

_LEVELS: Final = 3
"""How many levels of a value are looked at. More would seldom be of use, and each is seen again from every level."""


def are_evidently_the_same(one: Any, other: Any) -> bool:
    """Whether two values are equal and hold nothing that is taken for equal to something else, or for absent."""
    kind = type(one)
    if kind is not type(other):
        return False
    if kind is dict or kind is list:  # what is cheap to ask comes first, so that little is lost if the answer is no
        return 0 < len(one) == len(other) and _is_unmistakable(one, _LEVELS) and bool(one == other)
    return kind in SCALARS and bool(one == other)


def _is_unmistakable(value: Any, levels: int) -> bool:
    """Whether only the same is equal to an object or list: it holds no booleans, numbers like them, or empty values.

    An empty value may be as good as not sent. What reaches deeper than these levels is in doubt.
    """
    for each in value.values() if type(value) is dict else value:
        kind = type(each)
        if kind is str:
            continue
        if kind is dict or kind is list:
            if not each or levels == 1 or not _is_unmistakable(each, levels - 1):
                return False
        elif kind is not int or each in _EQUAL_TO_BOOLEANS:
            return False
    return True


_SELECTORS: Final = frozenset({"labelSelector", "namespaceSelector", "objectSelector", "podSelector", "selector"})
"""Members that select everything when they are empty and something else when they are absent."""


class Difference(NamedTuple):
    """One member that the live object has otherwise than it is to be; none stands for its absence."""

    path: str
    wanted: Any
    found: Any

    def below(self, parent: str) -> "Difference":
        """The same, seen from further out."""
        dot = "" if self.path.startswith("[") or not self.path else "."
        return self._replace(path=f"{parent}{dot}{self.path}")


def differences(wanted: Manifest, live: Manifest, rule: Stored = AS_SENT) -> tuple[Difference, ...]:
    """Every difference that another write could remove; none if the live object is what would be stored.

    Null and absent members are the same, and numbers are equal by value. Empty objects and lists are as good as absent,
    unless they are selectors or the rule says otherwise.

    Args:
        wanted: the object to be written.
        live: the object as it is stored.
        rule: how the server stores objects of this kind.
    """
    return tuple(_of_objects(wanted, live, rule))


def _of_objects(wanted: Mapping[str, Any], found: Mapping[str, Any], rule: Stored) -> list[Difference]:
    if wanted is found:
        return []
    result: list[Difference] = []
    for name, value in wanted.items():
        other = found.get(name)
        if value is other or (type(value) is str and value == other) or are_evidently_the_same(value, other):
            continue
        if value and type(value) is type(other) is dict and name not in rule.quantities:  # the usual way down is short
            nested = _of_objects(value, other, rule.of(name))
            result += nested and [each.below(name) for each in nested]
        else:
            result += _of_member(name, value, other, found, rule)
    for name, other in found.items():
        if name not in wanted and not are_evidently_the_same(rule.defaults.get(name), other):
            result += _of_member(name, None, other, found, rule)
    return result


def _of_member(name: str, wanted: Any, found: Any, around: Mapping[str, Any], rule: Stored) -> list[Difference]:
    """The differences of one member.

    Args:
        name: the member.
        wanted: what it is to be.
        found: what it is.
        around: the stored object that it is a member of.
        rule: how that is stored.
    """
    if _leaves_open(name, wanted, rule):
        if found is None or name in rule.assigned:
            return []
        default = rule.defaults.get(name)
        wanted = default(around) if callable(default) else default
    if wanted is None or found is None:
        present = found if wanted is None else wanted
        same = present is None or (not rule.verbatim and _is_nothing(name, present))
        return [] if same else [Difference(name, wanted, found)]
    if name in rule.quantities:
        return [] if _same_amounts(wanted, found) else [Difference(name, wanted, found)]
    nested = _of_values(wanted, found, rule.of(name))
    return nested and [each.below(name) for each in nested]


def _leaves_open(name: str, wanted: Any, rule: Stored) -> bool:
    """Whether what was sent lets the server decide about a member."""
    return wanted is None or (not wanted and name in rule.omitted)


def _is_nothing(name: str, value: Any) -> bool:
    """Whether a member may as well be absent."""
    return not value and (isinstance(value, list) or (isinstance(value, (dict, Mapping)) and name not in _SELECTORS))


def _of_values(wanted: Any, found: Any, rule: Stored) -> list[Difference]:
    if type(wanted) in SCALARS:  # before others, for to ask whether one of these is an abstract mapping takes long
        return [] if _same_scalars(wanted, found) else [Difference("", wanted, found)]
    if isinstance(wanted, (dict, Mapping)) and isinstance(found, (dict, Mapping)):
        return _of_objects(wanted, found, rule)
    if isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        pairs = enumerate(zip(wanted, found, strict=True))
        return [each.below(f"[{place}]") for place, (one, other) in pairs for each in _of_values(one, other, rule)]
    return [] if _same_scalars(wanted, found) else [Difference("", wanted, found)]


def _same_scalars(wanted: Any, found: Any) -> bool:
    """Whether two single values are equal; a boolean and a number never are."""
    return bool(wanted == found) and isinstance(wanted, bool) is isinstance(found, bool)


def _same_amounts(wanted: Any, found: Any) -> bool:
    """Whether two amounts, or all amounts of two objects, are equal by value."""
    if isinstance(wanted, (dict, Mapping)) and isinstance(found, (dict, Mapping)):
        return wanted.keys() == found.keys() and all(_same_amount(wanted[name], found[name]) for name in wanted)
    return _same_amount(wanted, found)


def _same_amount(wanted: Any, found: Any) -> bool:
    if wanted == found:
        return True
    one, other = parse_quantity(wanted), parse_quantity(found)
    return isinstance(one, Success) and isinstance(other, Success) and one.unwrap().equals(other.unwrap())


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
