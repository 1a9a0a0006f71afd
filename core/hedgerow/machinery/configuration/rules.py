"""The rules about single fields that component configurations share, in the words of Kubernetes.

A rule holds for a field that is unset, unless it asks for a value. Source: managed-resources §3.1, §3.2.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, TypeAlias

from hedgerow.machinery.configuration.section import Rule
from hedgerow.machinery.failures import Problem, child, invalid, rendered, required, unsupported
from hedgerow.machinery.names import label_key_problem, label_value_problem

Number: TypeAlias = int | timedelta
_NOTHING: Final = timedelta(0)


def at_least(least: Number, detail: str = "", *, only_if_enabled: bool = False) -> Rule:
    """The value is not less than `least`; `detail` is the error, if the reference has another text."""
    shown = rendered(least)
    rule = _checked(lambda value: value < least, detail or f"must be at least {shown}", f"At least {shown}.")
    return rule._replace(only_if_enabled=only_if_enabled)


def between(least: Number, most: Number) -> Rule:
    """The value is not less than `least` and not more than `most`."""
    detail = f"must be between {rendered(least)} and {rendered(most)}"
    return _checked(lambda value: not least <= value <= most, detail, f"At most {rendered(most)}.")


def longer_than_zero(says: str = "Longer than 0.") -> Rule:
    """The duration is neither zero nor negative."""
    return _checked(lambda value: value <= _NOTHING, "must be greater than zero", says)


def one_of(values: Sequence[str]) -> Rule:
    """The text is one of `values`."""
    says = f"One of {', '.join(f'`{value}`' for value in values)}."
    return Rule(lambda path, value: () if value in values else [unsupported(path, value, values)], says)


def must_be_set(detail: str, says: str = "Must be set.") -> Rule:
    """The value is set and not empty."""
    return Rule(lambda path, value: [required(path, detail)] if value is None or value == "" else (), says)


def valid(problem_of: Callable[[str], str | None], *, may_be_empty: bool = False) -> Rule:
    """`problem_of` finds no problem in the text, or in each text of a list; an empty text may pass."""

    def errors(path: str, value: str | tuple[str, ...] | None) -> Iterator[Problem]:
        texts = enumerate(value) if isinstance(value, tuple) else [(None, value)] if value is not None else []
        for index, text in texts:
            if (text or not may_be_empty) and (problem := problem_of(text)):
                yield invalid(path if index is None else f"{path}[{index}]", text, problem)

    return Rule(errors)


def each_set(detail: str) -> Rule:
    """No text of a list is empty."""
    return Rule(lambda path, value: [required(f"{path}[{at}]", detail) for at, text in enumerate(value) if not text])


def labels() -> Rule:
    """The keys and values are those of labels; the error of a key is at the map, that of a value at its key."""

    def errors(path: str, value: Mapping[str, str]) -> Iterator[Problem]:
        for key, text in value.items():
            if problem := label_key_problem(key):
                yield invalid(path, key, problem)
            if problem := label_value_problem(text):
                yield invalid(child(path, key), text, problem)

    return Rule(errors)


def _checked(is_broken: Callable[[Any], bool], detail: str, says: str) -> Rule:
    def errors(path: str, value: Any) -> Iterator[Problem]:
        if value is not None and is_broken(value):
            yield invalid(path, value, detail)

    return Rule(errors, says)
