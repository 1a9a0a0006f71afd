"""Label and field selectors: parse, format, match.

Matches as Kubernetes does: all parts of a selector must hold, the empty selector matches everything, `NotIn` and
`DoesNotExist` hold for an absent key. An absent label selector, which matches nothing, has no value here.

Source: Kubernetes documentation, "Labels and Selectors" and "Field Selectors".
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final, TypeAlias

from returns.result import Failure, Result, Success

from hedgerow.machinery.failures import Problem, json_type, rendered, unknown_fields
from hedgerow.machinery.names import label_key_problem, label_value_problem
from hedgerow.machinery.objects import Manifest, key_of, labels_of

Labels: TypeAlias = Mapping[str, str]

_WORD: Final = re.compile(r"[=!]=|[=!(),<>]|[^ \t\r\n=!(),<>]++")
_FORMS: Final = "key, !key, key=value, key!=value, key in (value,value) or key notin (value,value)"


class Operator(StrEnum):
    """The relation of a label to the values of a requirement."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"


# To read a member of an enumeration costs more than to compare it, and selectors match in hot loops.
_IN: Final = Operator.IN
_NOT_IN: Final = Operator.NOT_IN
_EXISTS: Final = Operator.EXISTS
_OPERATORS: Final[Mapping[str, Operator]] = {operator.value: operator for operator in Operator}


@dataclass(frozen=True, slots=True)
class Requirement:
    """One match expression: `In` and `NotIn` have values, `Exists` and `DoesNotExist` have none."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def matches(self, labels: Labels) -> bool:
        """True if labels meet the requirement."""
        operator, value = self.operator, labels.get(self.key)
        if operator == _IN:
            return value in self.values
        if operator == _NOT_IN:
            return value not in self.values
        return value is not None if operator == _EXISTS else value is None

    def manifest(self) -> dict[str, Any]:
        """The match expression as manifests spell it."""
        expression: dict[str, Any] = {"key": self.key, "operator": self.operator.value}
        if self.values:
            expression["values"] = list(self.values)
        return expression

    def query(self) -> str:
        """The match expression as a query spells it."""
        match self.operator:
            case Operator.IN:
                return f"{self.key} in ({','.join(self.values)})"
            case Operator.NOT_IN:
                return f"{self.key} notin ({','.join(self.values)})"
            case Operator.EXISTS:
                return self.key
        return f"!{self.key}"


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """Labels and further requirements, all of which must hold. The order of labels does not matter to equality."""

    match_labels: tuple[tuple[str, str], ...] = ()
    """Pairs of key and value, sorted, each key once."""
    match_expressions: tuple[Requirement, ...] = ()

    def __post_init__(self) -> None:
        if len(self.match_labels) > 1:
            object.__setattr__(self, "match_labels", tuple(sorted(self.match_labels)))

    def matches(self, labels: Labels) -> bool:
        """True if an object with these labels is selected."""
        for key, value in self.match_labels:
            if labels.get(key) != value:
                return False
        for requirement in self.match_expressions:  # noqa: SIM110 - a generator would double the time of this hot loop
            if not requirement.matches(labels):
                return False
        return True

    @property
    def is_empty(self) -> bool:
        """True if the selector matches everything."""
        return not self.match_labels and not self.match_expressions

    def manifest(self) -> dict[str, Any]:
        """The selector as manifests spell it."""
        manifest: dict[str, Any] = {}
        if self.match_labels:
            manifest["matchLabels"] = dict(self.match_labels)
        if self.match_expressions:
            manifest["matchExpressions"] = [requirement.manifest() for requirement in self.match_expressions]
        return manifest


def matches_any(selectors: Iterable[LabelSelector], labels: Labels) -> bool:
    """True if at least one of several selectors matches."""
    for selector in selectors:  # noqa: SIM110 - as above
        if selector.matches(labels):
            return True
    return False


def _text_problems(text: object, kind: str, problem_of: Callable[[str], str | None], field: str) -> Iterator[Problem]:
    if not isinstance(text, str):
        yield Problem(field, f"must be a label {kind}, is {json_type(text)}")
    elif problem := problem_of(text):
        yield Problem(field, f"{rendered(text)} is no label {kind}: {problem}")


def unknown_field_problems(value: object, field: str = "") -> Iterator[Problem]:
    """The fields that no label selector has, in a value of any shape at a path; ignored, they would select too much."""
    if not isinstance(value, (dict, Mapping)):
        return
    inside = f"{field}." if field else ""
    for name, problem in unknown_fields(value, ("matchLabels", "matchExpressions")):
        yield Problem(f"{inside}{name}", problem)
    expressions = value.get("matchExpressions")
    for index, expression in enumerate(expressions if isinstance(expressions, (list, tuple)) else ()):
        if isinstance(expression, (dict, Mapping)):
            for name, problem in unknown_fields(expression, ("key", "operator", "values")):
                yield Problem(f"{inside}matchExpressions[{index}].{name}", problem)


def _labels_problems(labels: object, field: str) -> Iterator[Problem]:
    if isinstance(labels, (dict, Mapping)):
        for key, value in labels.items():
            yield from _text_problems(key, "key", label_key_problem, field)
            yield from _text_problems(value, "value", label_value_problem, f"{field}[{key}]")
    elif labels is not None:
        yield Problem(field, f"must be an object of label keys and values, is {json_type(labels)}")


def _expressions_problems(expressions: object, field: str) -> Iterator[Problem]:
    if isinstance(expressions, (list, tuple)):
        for index, expression in enumerate(expressions):
            yield from _requirement_problems(expression, f"{field}[{index}]")
    elif expressions is not None:
        yield Problem(field, f"must be a list of match expressions, is {json_type(expressions)}")


def _requirement_problems(expression: object, field: str) -> Iterator[Problem]:
    """What is wrong with one match expression; a missing key or operator is reported as the empty text."""
    if not isinstance(expression, (dict, Mapping)):
        yield Problem(field, f"must be an object with key and operator, is {json_type(expression)}")
        return
    operator, values = expression.get("operator", ""), expression.get("values")
    yield from _text_problems(expression.get("key", ""), "key", label_key_problem, f"{field}.key")
    if not isinstance(operator, str) or operator not in _OPERATORS:
        written = rendered(operator) if isinstance(operator, str) else json_type(operator)
        yield Problem(f"{field}.operator", f"must be In, NotIn, Exists or DoesNotExist, is {written}")
    at = f"{field}.values"
    if values is not None and not isinstance(values, (list, tuple)):
        yield Problem(at, f"must be a list of label values, is {json_type(values)}")
        return
    if operator in (_IN, _NOT_IN) and not values:
        yield Problem(at, f"must have at least one value for operator {operator}")
    if operator in (_EXISTS, Operator.DOES_NOT_EXIST) and values:
        yield Problem(at, f"must be empty for operator {operator}")
    for index, value in enumerate(values or ()):
        yield from _text_problems(value, "value", label_value_problem, f"{at}[{index}]")


def parse_label_selector(value: object, field: str = "") -> Result[LabelSelector, tuple[Problem, ...]]:
    """The label selector that a value from JSON or YAML spells, or everything that is wrong with it, below a path.

    Absent and null parts are empty. Unknown fields are refused: without its misspelt `matchLabel`, a selector would
    match everything. A null selector is refused, because to some readers it matches nothing, to others everything.

    Source: network-and-nodes §1.1, decision "unknown field in an annotation's JSON"; Kubernetes API, LabelSelector.
    """
    if isinstance(value, LabelSelector):
        return Success(value)
    if not isinstance(value, (dict, Mapping)):
        return Failure((Problem(field, f"must be a label selector, is {json_type(value)}"),))
    inside = f"{field}." if field else ""
    labels, expressions = value.get("matchLabels"), value.get("matchExpressions")
    problems = (
        *unknown_field_problems(value, field),
        *_labels_problems(labels, f"{inside}matchLabels"),
        *_expressions_problems(expressions, f"{inside}matchExpressions"),
    )
    if problems:
        return Failure(problems)
    requirements = (
        Requirement(item["key"], _OPERATORS[item["operator"]], tuple(item.get("values") or ()))
        for item in expressions or ()
    )
    return Success(LabelSelector(tuple((labels or {}).items()), tuple(requirements)))


def _comma_separated(words: Iterable[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    inside = False
    for word in words:
        if word == "," and not inside:
            parts.append([])
            continue
        inside = word == "(" or (inside and word != ")")
        parts[-1].append(word)
    return parts


def _queried(part: Sequence[str]) -> tuple[str, str] | Requirement | None:
    """The label or the requirement of one part of a query, with unchecked syntax; none if unreadable."""
    match part:
        case [key]:
            return Requirement(key, Operator.EXISTS)
        case ["!", key]:
            return Requirement(key, Operator.DOES_NOT_EXIST)
        case [key, "=" | "==", *value] if len(value) <= 1:
            return key, "".join(value)
        case [key, "!=", *value] if len(value) <= 1:
            return Requirement(key, Operator.NOT_IN, ("".join(value),))
        case [key, "in" | "notin" as word, "(", *values, ")"]:
            operator = Operator.IN if word == "in" else Operator.NOT_IN
            return Requirement(key, operator, tuple(" ".join(value) for value in _comma_separated(values)))
        case _:
            return None


def parse_selector_query(text: str) -> Result[LabelSelector, str]:
    """The label selector that a `labelSelector` query parameter spells, or why there is none, as one clause.

    `key=value` becomes a label, all else an expression: the inverse of `selector_query`. The numeric comparisons `>`
    and `<` of the API server are refused: no label selector can express them.
    """
    labels: dict[str, str] = {}
    expressions: list[Requirement] = []
    words = _WORD.findall(text)
    for part in _comma_separated(words) if words else ():
        queried = _queried(part)
        if queried is None:
            return Failure(f"cannot read {rendered(' '.join(part))} as a requirement, expected {_FORMS}")
        if isinstance(queried, Requirement):
            expressions.append(queried)
            continue
        key, value = queried
        if labels.setdefault(key, value) != value:
            expressions.append(Requirement(key, Operator.IN, (value,)))
    selector = LabelSelector(tuple(labels.items()), tuple(expressions))
    return parse_label_selector(selector.manifest()).alt(lambda problems: problems[0].text)


def selector_query(selector: LabelSelector) -> str:
    """A selector as a `labelSelector` query parameter spells it, before URL encoding; empty for the empty one."""
    labels = (f"{key}={value}" for key, value in selector.match_labels)
    return ",".join((*labels, *map(Requirement.query, selector.match_expressions)))


_ESCAPES: Final = str.maketrans({character: f"\\{character}" for character in "\\,="})
_TERMS: Final = re.compile(r"(?:\\.?|[^\\,])+", re.DOTALL)
_TERM: Final = re.compile(r"((?:\\.|[^\\=!]|!(?!=))*)(!=|==|=)((?:\\[\\,=]|[^\\,=])*)", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FieldTerm:
    """The requirement of one field: to have a value, or not to have it if `is_wanted` is false."""

    field: str
    """Path of members, with dots between them."""
    value: str
    is_wanted: bool = True

    def matches(self, manifest: Manifest) -> bool:
        """True if an object meets the requirement; an absent field counts as the empty text."""
        value: Any = manifest
        for member in self.field.split("."):
            value = value.get(member) if isinstance(value, (dict, Mapping)) else None
        return (("" if value is None else value) == self.value) is self.is_wanted


def field_query(fields: Mapping[str, str]) -> str:
    """The query for objects whose fields have these values, before URL encoding."""
    return ",".join(f"{field}={value.translate(_ESCAPES)}" for field, value in fields.items())


def parse_field_query(text: str) -> Result[tuple[FieldTerm, ...], str]:
    """The requirements of a query, all of which must hold; or why it cannot be parsed, in the words of API servers."""
    terms: list[FieldTerm] = []
    for part in _TERMS.findall(text):
        found = _TERM.fullmatch(part)
        if found is None:
            return Failure(f"invalid selector: '{text}'; can't understand '{part}'")
        field, sign, value = found.groups()
        terms.append(FieldTerm(field, _ESCAPE.sub(r"\1", value), is_wanted=sign != "!="))
    return Success(tuple(terms))


@lru_cache
def selected_by(label_selector: str, field_selector: str, namespace: str = "") -> Callable[[Manifest], bool]:
    """A predicate for objects of a namespace that both queries select; the queries are parsed once."""
    labels, fields = parse_selector_query(label_selector).unwrap(), parse_field_query(field_selector).unwrap()

    def is_selected(manifest: Manifest) -> bool:
        is_inside = namespace in {"", key_of(manifest).namespace}
        return is_inside and labels.matches(labels_of(manifest)) and all(term.matches(manifest) for term in fields)

    return is_selected
