"""Label selectors: what they match, how they are read and written."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure, Success

from hedgerow.machinery.failures import Problem
from hedgerow.machinery.selectors import (
    LabelSelector,
    Operator,
    Requirement,
    matches_any,
    parse_label_selector,
    parse_selector_query,
    selector_query,
)

KEYS = st.sampled_from(("app", "in", "example.com/role"))
VALUES = st.sampled_from(("", "a", "b", "notin"))
LABELS = st.dictionaries(KEYS, VALUES)
SOME_VALUES = st.lists(VALUES, min_size=1, max_size=3).map(tuple)
REQUIREMENTS = st.builds(Requirement, KEYS, st.sampled_from((Operator.IN, Operator.NOT_IN)), SOME_VALUES) | st.builds(
    Requirement, KEYS, st.sampled_from((Operator.EXISTS, Operator.DOES_NOT_EXIST))
)
SELECTORS = st.builds(
    LabelSelector,
    LABELS.map(lambda labels: tuple(labels.items())),
    st.lists(REQUIREMENTS, max_size=3).map(tuple),
)

VALUE_RULE = (
    'must be empty or consist of A-Z, a-z, 0-9, "-", "_" and ".", starting and ending with a letter or digit, '
    'for example "MyValue" or "my_value"'
)


def naively_matches(selector: dict[str, Any], labels: dict[str, str]) -> bool:
    """The documentation of label selectors, word for word, over the manifest."""
    verdicts = [key in labels and labels[key] == value for key, value in selector.get("matchLabels", {}).items()]
    for expression in selector.get("matchExpressions", []):
        present = expression["key"] in labels
        among = present and labels[expression["key"]] in expression.get("values", [])
        verdicts.append(
            {
                "In": present and among,
                "NotIn": not present or not among,
                "Exists": present,
                "DoesNotExist": not present,
            }[expression["operator"]]
        )
    return all(verdicts)


def app_in(*values: str) -> LabelSelector:
    return LabelSelector(match_expressions=(Requirement("app", Operator.IN, values),))


@given(SELECTORS, LABELS)
def test_a_selector_matches_what_its_documentation_says(selector: LabelSelector, labels: dict[str, str]) -> None:
    assert selector.matches(labels) == naively_matches(selector.manifest(), labels)


@pytest.mark.parametrize(
    ("operator", "values", "when_absent", "when_empty", "when_a"),
    [
        (Operator.IN, ("a",), False, False, True),
        (Operator.IN, ("", "b"), False, True, False),
        (Operator.NOT_IN, ("a",), True, True, False),
        (Operator.NOT_IN, ("",), True, False, True),
        (Operator.EXISTS, (), False, True, True),
        (Operator.DOES_NOT_EXIST, (), True, False, False),
    ],
)
def test_an_absent_label_is_no_empty_one(
    operator: Operator, values: tuple[str, ...], *, when_absent: bool, when_empty: bool, when_a: bool
) -> None:
    requirement = Requirement("app", operator, values)

    assert requirement.matches({"other": "a"}) is when_absent
    assert requirement.matches({"app": ""}) is when_empty
    assert requirement.matches({"app": "a"}) is when_a


@given(LABELS)
def test_the_empty_selector_matches_everything(labels: dict[str, str]) -> None:
    assert LabelSelector().is_empty
    assert LabelSelector().manifest() == {}
    assert LabelSelector().matches(labels)


@given(st.lists(SELECTORS, max_size=3), LABELS)
def test_of_several_selectors_one_match_is_enough(selectors: list[LabelSelector], labels: dict[str, str]) -> None:
    assert matches_any(selectors, labels) == (True in [selector.matches(labels) for selector in selectors])


def test_selectors_are_equal_in_whatever_order_their_labels_were_given() -> None:
    one = LabelSelector((("app", "a"), ("role", "b")))
    other = LabelSelector((("role", "b"), ("app", "a")))

    assert one == other
    assert hash(one) == hash(other)
    assert list(other.manifest()["matchLabels"]) == ["app", "role"]


@given(SELECTORS)
def test_a_selector_is_read_back_from_its_manifest(selector: LabelSelector) -> None:
    assert parse_label_selector(selector.manifest()) == Success(selector)


def test_a_manifest_holds_plain_texts_that_every_serialiser_knows() -> None:
    manifest = LabelSelector((("app", "a"),), (Requirement("role", Operator.EXISTS),)).manifest()

    assert manifest == {"matchLabels": {"app": "a"}, "matchExpressions": [{"key": "role", "operator": "Exists"}]}
    assert type(manifest["matchExpressions"][0]["operator"]) is str


def test_a_selector_passes_through_the_reader_as_it_is() -> None:
    selector = app_in("a")

    assert parse_label_selector(selector).unwrap() is selector


@pytest.mark.parametrize(
    ("value", "selector"),
    [
        pytest.param({}, LabelSelector(), id="nothing"),
        pytest.param({"matchLabels": None, "matchExpressions": None}, LabelSelector(), id="null parts"),
        pytest.param({"matchLabels": {}, "matchExpressions": []}, LabelSelector(), id="empty parts"),
        pytest.param(
            {"matchLabels": {"role": "b", "app": ""}},
            LabelSelector((("app", ""), ("role", "b"))),
            id="labels are sorted",
        ),
        pytest.param(
            {
                "matchExpressions": [
                    {"key": "b", "operator": "NotIn", "values": ["y", "x"]},
                    {"key": "a", "operator": "Exists", "values": None},
                    {"key": "a", "operator": "DoesNotExist", "values": []},
                ]
            },
            LabelSelector(
                match_expressions=(
                    Requirement("b", Operator.NOT_IN, ("y", "x")),
                    Requirement("a", Operator.EXISTS),
                    Requirement("a", Operator.DOES_NOT_EXIST),
                )
            ),
            id="expressions keep their order",
        ),
    ],
)
def test_a_parsed_value_becomes_a_selector(value: object, selector: LabelSelector) -> None:
    assert parse_label_selector(value) == Success(selector)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "selectors[0]: must be a label selector, is null"),
        ([], "selectors[0]: must be a label selector, is a list"),
        (True, "selectors[0]: must be a label selector, is a boolean"),
        (
            {"matchLabels": ["a"]},
            "selectors[0].matchLabels: must be an object of label keys and values, is a list",
        ),
        ({"matchLabels": {1: "a"}}, "selectors[0].matchLabels: must be a label key, is an integer"),
        ({"matchLabels": {"app": True}}, "selectors[0].matchLabels[app]: must be a label value, is a boolean"),
        ({"matchLabels": {"app": None}}, "selectors[0].matchLabels[app]: must be a label value, is null"),
        (
            {"matchLabels": {"/app": "a"}},
            'selectors[0].matchLabels: "/app" is no label key: prefix before "/" must not be empty',
        ),
        (
            {"matchLabels": {"app": "a b"}},
            f'selectors[0].matchLabels[app]: "a b" is no label value: {VALUE_RULE}',
        ),
        (
            {"matchExpressions": {"key": "a"}},
            "selectors[0].matchExpressions: must be a list of match expressions, is an object",
        ),
        (
            {"matchExpressions": ["a"]},
            "selectors[0].matchExpressions[0]: must be an object with key and operator, is a string",
        ),
        (
            {"matchExpressions": [{"operator": "Exists"}]},
            'selectors[0].matchExpressions[0].key: "" is no label key: must not be empty',
        ),
        (
            {"matchExpressions": [{"key": "a", "operator": "in", "values": ["b"]}]},
            'selectors[0].matchExpressions[0].operator: must be In, NotIn, Exists or DoesNotExist, is "in"',
        ),
        (
            {"matchExpressions": [{"key": "a", "operator": ["In"]}]},
            "selectors[0].matchExpressions[0].operator: must be In, NotIn, Exists or DoesNotExist, is a list",
        ),
        (
            {"matchExpressions": [{"key": "a", "operator": "In", "values": []}]},
            "selectors[0].matchExpressions[0].values: must have at least one value for operator In",
        ),
        (
            {"matchExpressions": [{"key": "a", "operator": "NotIn"}]},
            "selectors[0].matchExpressions[0].values: must have at least one value for operator NotIn",
        ),
        (
            {"matchExpressions": [{"key": "a", "operator": "DoesNotExist", "values": ["b"]}]},
            "selectors[0].matchExpressions[0].values: must be empty for operator DoesNotExist",
        ),
        (
            {"matchExpressions": [{"key": "a", "operator": "In", "values": "b"}]},
            "selectors[0].matchExpressions[0].values: must be a list of label values, is a string",
        ),
        (
            {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b", 1.5]}]},
            "selectors[0].matchExpressions[0].values[1]: must be a label value, is a decimal number",
        ),
        (
            {"matchLabel": {"app": "a"}},
            "selectors[0].matchLabel: is an unknown field; did you mean matchLabels?",
        ),
        (
            {"matchlabels": {"app": "a"}},
            "selectors[0].matchlabels: is an unknown field; did you mean matchLabels?",
        ),
        ({"matchLabels": {"app": "a"}, "more": None}, "selectors[0].more: is an unknown field"),
        ({1: {}}, "selectors[0].1: is an unknown field"),
        (
            {"matchExpressions": [{"key": "a", "operator": "Exists", "value": ["b"]}]},
            "selectors[0].matchExpressions[0].value: is an unknown field; did you mean values?",
        ),
    ],
)
def test_a_value_that_is_no_selector_is_refused(value: object, problem: str) -> None:
    problems = parse_label_selector(value, "selectors[0]").failure()

    assert list(map(str, problems)) == [problem]


def test_all_problems_are_told_at_once() -> None:
    value = {
        "matchLabels": {"a": 1, "b": "c"},
        "matchExpressions": [{"key": "", "operator": "Is", "values": [2]}, {"key": "x", "operator": "In"}],
    }

    assert [problem.path for problem in parse_label_selector(value).failure()] == [
        "matchLabels[a]",
        "matchExpressions[0].key",
        "matchExpressions[0].operator",
        "matchExpressions[0].values[0]",
        "matchExpressions[1].values",
    ]


def test_a_problem_of_the_whole_value_names_no_field() -> None:
    assert str(Problem("", "must be a label selector, is null")) == "must be a label selector, is null"


def test_a_problem_quotes_on_one_line_and_not_at_any_length() -> None:
    (problem,) = parse_label_selector({"matchExpressions": [{"key": "a\n" * 90, "operator": "Exists"}]}).failure()

    quote = "a\\n" * 50
    assert problem.text == f'"{quote}…" is no label key: must have at most 63 characters, has 180'


@given(SELECTORS)
def test_a_selector_is_read_back_from_its_query(selector: LabelSelector) -> None:
    assert parse_selector_query(selector_query(selector)) == Success(selector)


@pytest.mark.parametrize(
    ("query", "selector"),
    [
        ("", {}),
        (" \t", {}),
        ("a=b", {"matchLabels": {"a": "b"}}),
        ("a==b", {"matchLabels": {"a": "b"}}),
        (" a = b , c ", {"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "c", "operator": "Exists"}]}),
        ("a=", {"matchLabels": {"a": ""}}),
        ("a=,c=d", {"matchLabels": {"a": "", "c": "d"}}),
        ("a=b,a=b", {"matchLabels": {"a": "b"}}),
        (
            "a=b,a=c",
            {"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "a", "operator": "In", "values": ["c"]}]},
        ),
        ("a!=b", {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["b"]}]}),
        ("a!=", {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": [""]}]}),
        ("a in (x,y)", {"matchExpressions": [{"key": "a", "operator": "In", "values": ["x", "y"]}]}),
        ("a notin(x)", {"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["x"]}]}),
        ("a in ()", {"matchExpressions": [{"key": "a", "operator": "In", "values": [""]}]}),
        ("a in (, x,)", {"matchExpressions": [{"key": "a", "operator": "In", "values": ["", "x", ""]}]}),
        ("in in (in)", {"matchExpressions": [{"key": "in", "operator": "In", "values": ["in"]}]}),
        ("! example.com/a", {"matchExpressions": [{"key": "example.com/a", "operator": "DoesNotExist"}]}),
    ],
)
def test_a_query_is_read_as_the_api_server_reads_it(query: str, selector: dict[str, Any]) -> None:
    assert parse_selector_query(query).map(LabelSelector.manifest) == Success(selector)


@pytest.mark.parametrize(
    ("query", "unreadable"),
    [
        ("a,", ""),
        (",a", ""),
        ("a b", "a b"),
        ("a=b c", "a = b c"),
        ("!a=b", "! a = b"),
        ("a in", "a in"),
        ("a in x", "a in x"),
        ("a in (x,y", "a in ( x , y"),
        ("c,a in (x) y", "a in ( x ) y"),
        ("a > 1", "a > 1"),
    ],
)
def test_an_unreadable_query_is_answered_with_the_forms_that_exist(query: str, unreadable: str) -> None:
    assert parse_selector_query(query) == Failure(
        f'cannot read "{unreadable}" as a requirement, expected key, !key, key=value, key!=value, '
        "key in (value,value) or key notin (value,value)"
    )


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("a/b/c=d", '"a/b/c" is no label key: must contain at most one "/", for example "example.com/MyName"'),
        (
            "a in (b c)",
            f'"b c" is no label value: {VALUE_RULE}',
        ),
    ],
)
def test_a_query_needs_legal_keys_and_values(query: str, problem: str) -> None:
    assert parse_selector_query(query) == Failure(problem)


@pytest.mark.parametrize(
    "query", ["(", ")", "=", "=b", "!", "!!a", "a!", "a(b)", "a=(b)", "a in ((b))", "a=b)", "a\x0bb"]
)
def test_stray_symbols_are_refused(query: str) -> None:
    assert isinstance(parse_selector_query(query), Failure)
