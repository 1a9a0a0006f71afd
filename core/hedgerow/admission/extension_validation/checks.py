"""The few kinds of rules of which the tables of all kinds are made.

A check looks at an object, or at an item inside of one; a change check looks at what an update makes of an object. Both
rely on the shape of the object having been checked.

Source: webhooks-and-tokens §9.2, §9.3.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from hedgerow.admission.extension_validation.comparison import is_confidential, same
from hedgerow.machinery.failures import Problem, invalid, invalid_unshown, unsupported
from hedgerow.machinery.failures import required as missing
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import object_at

Check: TypeAlias = Callable[[Manifest, str], Iterator[Problem]]
"""What is wrong with an object that stands at a path; the whole object stands at the empty one."""
ChangeCheck: TypeAlias = Callable[[Manifest, Manifest], Iterator[Problem]]
"""What is wrong with the change to the first object from the second."""

FIELD_IS_REQUIRED: Final = "field is required"
FIELD_IS_IMMUTABLE: Final = "field is immutable"
_NO_TEXT: Final = (None, "")


def value_at(manifest: Manifest, path: str) -> Any:
    """What stands at a dotted path; none if nothing does or something on the way is absent."""
    *parents, name = path.split(".")
    return object_at(manifest, *parents).get(name)


def below(where: str, path: str) -> str:
    """A path inside of an object, from the top of the whole object."""
    return f"{where}.{path}" if where else path


def required(path: str) -> Check:
    """A text or list must be there, and not empty."""

    def check(manifest: Manifest, where: str) -> Iterator[Problem]:
        if not value_at(manifest, path):
            yield missing(below(where, path), FIELD_IS_REQUIRED)

    return check


def present(path: str) -> Check:
    """A field must be there, and not null; it may be empty."""

    def check(manifest: Manifest, where: str) -> Iterator[Problem]:
        if value_at(manifest, path) is None:
            yield missing(below(where, path), FIELD_IS_REQUIRED)

    return check


def not_empty_if_present(path: str) -> Check:
    """A text that is there must not be empty."""

    def check(manifest: Manifest, where: str) -> Iterator[Problem]:
        if value_at(manifest, path) == "":
            yield invalid(below(where, path), "", "field cannot be empty if specified")

    return check


def one_of(path: str, supported: Sequence[str]) -> Check:
    """A text must be one of the supported ones; absent, it is the empty text."""

    def check(manifest: Manifest, where: str) -> Iterator[Problem]:
        value = value_at(manifest, path) or ""
        if value not in supported:
            yield unsupported(below(where, path), value, supported)

    return check


def one_of_if_present(path: str, supported: Sequence[str]) -> Check:
    """A text that is there must be one of the supported ones; an empty text is there."""
    check_value = one_of(path, supported)

    def check(manifest: Manifest, where: str) -> Iterator[Problem]:
        if value_at(manifest, path) is not None:
            yield from check_value(manifest, where)

    return check


def required_one_of(path: str, supported: Sequence[str]) -> Check:
    """A text must be there, and be one of the supported ones."""
    check_presence, check_value = required(path), one_of(path, supported)

    def check(manifest: Manifest, where: str) -> Iterator[Problem]:
        yield from (check_value if value_at(manifest, path) else check_presence)(manifest, where)

    return check


def not_negative_if_present(path: str) -> Check:
    """A number that is there must be zero or more."""

    def check(manifest: Manifest, where: str) -> Iterator[Problem]:
        value = value_at(manifest, path)
        if value is not None and value < 0:
            yield invalid(below(where, path), value, "must be greater than or equal to 0")

    return check


def each(path: str, *checks: Check) -> Check:
    """Every object of a list must pass the checks, whose paths start at the object."""

    def check(manifest: Manifest, where: str) -> Iterator[Problem]:
        for index, item in enumerate(value_at(manifest, path) or ()):
            yield from all_of(checks, item or {}, f"{below(where, path)}[{index}]")

    return check


def all_of(checks: Sequence[Check], manifest: Manifest, where: str = "") -> Iterator[Problem]:
    """What several checks find, in their order."""
    for check in checks:
        yield from check(manifest, where)


def immutable(path: str, *, empty_is_absent: bool = True) -> ChangeCheck:
    """A field must stay as it is.

    Args:
        path: the field.
        empty_is_absent: whether the empty value means the same as none, and stands for it in messages.
    """

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
