"""The lines of which the tables of all kinds are made: a field with its type and its rules.

A check looks at an object, or at an item inside of one; a change check looks at what an update makes of an object. Both
rely on the types of the fields, which are checked before.

Source: webhooks-and-tokens §9.2, §9.3.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from hedgerow.admission.extension_validation.values import JsonType, is_confidential, same
from hedgerow.machinery.failures import Problem, invalid, invalid_unshown, unsupported
from hedgerow.machinery.failures import required as missing
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import object_at

Check: TypeAlias = Callable[[Manifest, str], Iterator[Problem]]
"""What is wrong with an object that stands at a path; the whole object stands at the empty one."""
ChangeCheck: TypeAlias = Callable[[Manifest, Manifest], Iterator[Problem]]
"""What is wrong with the change to the first object from the second."""
FieldRule: TypeAlias = Callable[[str], Check]
"""The check of the value at a path."""

FIELD_IS_REQUIRED: Final = "field is required"
FIELD_IS_IMMUTABLE: Final = "field is immutable"
_NO_TEXT: Final = (None, "")


class Line(NamedTuple):
    """One line of a table."""

    types: Mapping[str, JsonType] = {}
    checks: tuple[Check, ...] = ()
    change_checks: tuple[ChangeCheck, ...] = ()


def value_at(manifest: Manifest, path: str) -> Any:
    """What stands at a dotted path; none if nothing does or something on the way is absent."""
    *parents, name = path.split(".")
    return object_at(manifest, *parents).get(name)


def below(where: str, path: str) -> str:
    """A path inside of an object, from the top of the whole object."""
    return f"{where}.{path}" if where else path


def all_of(checks: Iterable[Check], manifest: Manifest, where: str = "") -> Iterator[Problem]:
    """What several checks find, in their order."""
    for check in checks:
        yield from check(manifest, where)


def field(path: str, json_type: JsonType, *rules: FieldRule, is_immutable: bool = False) -> Line:
    """A field, or the items or members of one whose path ends with `[]` or `{}`; the rules are for the field itself."""
    of_field = path.removesuffix("[]").removesuffix("{}")
    return Line(
        {path: json_type},
        tuple(rule(of_field) for rule in rules),
        (immutable(of_field),) if is_immutable else (),
    )


def each(path: str, *lines: Line) -> Line:
    """Every object of a list, whose fields have paths that start at the object."""
    checks = [check for line in lines for check in line.checks]

    def check(manifest: Manifest, where: str) -> Iterator[Problem]:
        for index, item in enumerate(value_at(manifest, path) or ()):
            yield from all_of(checks, item or {}, f"{below(where, path)}[{index}]")

    return Line({f"{path}[].{name}": json_type for line in lines for name, json_type in line.types.items()}, (check,))


def _rule(is_violated: Callable[[Any], bool], problem: Callable[[str, Any], Problem]) -> FieldRule:
    def rule(path: str) -> Check:
        def check(manifest: Manifest, where: str) -> Iterator[Problem]:
            value = value_at(manifest, path)
            if is_violated(value):
                yield problem(below(where, path), value)

        return check

    return rule


required: Final = _rule(lambda value: not value, lambda path, _: missing(path, FIELD_IS_REQUIRED))
"""A text or list is there, and not empty."""
present: Final = _rule(lambda value: value is None, lambda path, _: missing(path, FIELD_IS_REQUIRED))
"""A field is there, and not null; it may be empty."""
not_empty_if_present: Final = _rule(
    lambda value: value == "", lambda path, _: invalid(path, "", "field cannot be empty if specified")
)
not_negative_if_present: Final = _rule(
    lambda value: value is not None and value < 0,
    lambda path, value: invalid(path, value, "must be greater than or equal to 0"),
)


def one_of(supported: Sequence[str], *, unless: Sequence[str | None] = ()) -> FieldRule:
    """A text is one of the supported ones, unless it is one that is not checked; an absent one counts as empty."""
    return _rule(
        lambda value: value not in unless and (value or "") not in supported,
        lambda path, value: unsupported(path, value or "", supported),
    )


def immutable(path: str, *, empty_is_absent: bool = True) -> ChangeCheck:
    """A field stays as it is. The empty value may mean the same as none; then it stands for it in messages."""

    def check(new: Manifest, old: Manifest) -> Iterator[Problem]:
        value, before = value_at(new, path), value_at(old, path)
        both_empty = empty_is_absent and value in _NO_TEXT and before in _NO_TEXT
        if both_empty or same(value, before):
            return
        if value is None and empty_is_absent:
            value = type(before)()
        if is_confidential(path):
            yield invalid_unshown(path, FIELD_IS_IMMUTABLE)
        else:
            yield invalid(path, value, FIELD_IS_IMMUTABLE)

    return check
