"""Rules of fields, as tables by path. Which fields there are is not known here."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from hedgerow_adapters.memory.field_errors import FieldError, invalid, not_supported, required

Rule: TypeAlias = Callable[[Any, str], Iterable[FieldError]]
"""The errors of a value, given its path; the value is none where the field is missing."""


def by_field(rules: Mapping[str, Rule]) -> Rule:
    """The rule of an object by those of its fields.

    Args:
        rules: by path; `spec.ports[].port` is the port of each port. Nothing inside of a missing field is checked.
    """
    members: dict[str, dict[str, Rule]] = {}
    for path, rule in rules.items():
        step, _, rest = path.partition(".")
        members.setdefault(step, {})[rest] = rule
    member_rules = [(step.removesuffix("[]"), _member_rule(step, inside)) for step, inside in members.items()]

    def check(fields: Any, path: str) -> list[FieldError]:
        errors: list[FieldError] = []
        for name, rule in member_rules:
            errors += rule(fields.get(name), f"{path}.{name}" if path else name)
        return errors

    return check


def _member_rule(step: str, rules: dict[str, Rule]) -> Rule:
    own = rules.pop("", None)
    inside = by_field(rules) if rules else None

    def check_both(value: Any, path: str) -> Iterable[FieldError]:
        found = own(value, path) if own is not None else ()
        return found if value is None or inside is None else (*found, *inside(value, path))

    check = check_both if own is None or inside is not None else own

    def check_each(values: Any, path: str) -> Iterable[FieldError]:
        return [error for index, item in enumerate(values or ()) for error in check(item, f"{path}[{index}]")]

    return check_each if step.endswith("[]") else check


def needed(value: Any, path: str) -> Iterable[FieldError]:
    """A field that must not be empty."""
    return () if value else (required(path),)


def needed_as(rule: Rule) -> Rule:
    """A field that must not be empty, with a rule for its value."""
    return lambda value, path: rule(value, path) if value else (required(path),)


def checked(problem_of: Callable[[Any], str | None]) -> Rule:
    """A field whose value, if there is one, has no problem that a function finds."""

    def check(value: Any, path: str) -> Iterable[FieldError]:
        problem = None if value is None else problem_of(value)
        return () if problem is None else (invalid(path, value, problem),)

    return check


def one_of(*supported: str) -> Rule:
    """A field that has one of some values, or none."""
    return lambda value, path: () if value is None or value in supported else (not_supported(path, value, supported),)


def at_least(least: int) -> Rule:
    """A field with a number that is not too small."""
    return checked(lambda value: f"must be greater than or equal to {least}" if value < least else None)


def port_problem(port: int) -> str | None:
    """What is wrong with a port number."""
    return None if 1 <= port <= 65535 else "must be between 1 and 65535, inclusive"  # noqa: PLR2004 -- ports
