"""What is written of a value is read as an equal one."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.machinery.charts import RenderChart, RenderedFile, RenderError
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.failures import Failure, FieldErrorType, Problem
from hedgerow.machinery.objects import Kind, ObjectKey, Resource
from hedgerow.machinery.plan import (
    ApiError,
    Cause,
    Create,
    Delete,
    Event,
    InOrder,
    JsonPatch,
    MergePatch,
    Plan,
    Update,
)
from hedgerow.machinery.questions import Found, KindQuestion, ListQuestion, NotAnswered, ObjectQuestion, itself
from hedgerow.machinery.recording.codec import (
    Header,
    UnknownValueError,
    Unreadable,
    UnrecordableError,
    canonical,
    decoded,
    encoded,
    line_of,
    parsed_line,
)
from hedgerow.machinery.recording.journal import Journal, Lookup, Part, Unrecorded, WriteReply
from hedgerow.machinery.selectors import LabelSelector, Operator, Requirement
from hedgerow.machinery.steps import AtOnce, Now, Pause

TEXTS = st.text(max_size=8) | st.sampled_from(["$", "$tuple", "", "\ud800"])
NUMBERS = st.integers() | st.floats(allow_nan=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
MANIFESTS = st.dictionaries(TEXTS, JSON, max_size=3)
KEYS = st.builds(ObjectKey, TEXTS, TEXTS)
RESOURCES = st.builds(Resource, TEXTS, TEXTS, TEXTS, TEXTS, st.booleans())
CLUSTERS = st.sampled_from(Cluster)
QUESTIONS = st.builds(ObjectQuestion, RESOURCES, KEYS, CLUSTERS) | st.builds(
    ListQuestion, RESOURCES, CLUSTERS, TEXTS, TEXTS, TEXTS, st.booleans(), st.sampled_from([itself, lambda _each: None])
)
ACTIONS = st.one_of(
    st.builds(Create, RESOURCES, MANIFESTS, TEXTS, CLUSTERS, TEXTS),
    st.builds(Update, RESOURCES, MANIFESTS, TEXTS, TEXTS, CLUSTERS),
    st.builds(MergePatch, RESOURCES, KEYS, MANIFESTS, TEXTS, st.none() | TEXTS, TEXTS, CLUSTERS),
    st.builds(JsonPatch, RESOURCES, KEYS, st.lists(MANIFESTS, max_size=2).map(tuple), TEXTS, TEXTS, CLUSTERS),
    st.builds(Delete, RESOURCES, KEYS, TEXTS, st.none() | TEXTS, st.none() | TEXTS),
)
REPLIES = st.builds(
    WriteReply,
    st.none() | MANIFESTS,
    st.none() | st.builds(ApiError, st.integers(), TEXTS, TEXTS, st.tuples(st.builds(Cause, TEXTS, TEXTS, TEXTS))),
)
RENDERED = st.tuples(st.builds(RenderedFile, TEXTS, st.tuples(MANIFESTS, MANIFESTS))) | st.builds(
    RenderError, st.sampled_from(["chart", "unavailable", "timeout"]), TEXTS
)
ANSWERS = st.builds(Found, st.tuples(MANIFESTS)) | st.builds(NotAnswered, st.integers(), TEXTS, TEXTS)
TIMES = st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=2))])) | st.datetimes()
SELECTORS = st.builds(
    LabelSelector,
    st.lists(st.tuples(TEXTS, TEXTS), max_size=2, unique_by=lambda pair: pair[0]).map(tuple),
    st.tuples(st.builds(Requirement, TEXTS, st.sampled_from(Operator), st.tuples(TEXTS))),
)
STEPS = st.one_of(
    ACTIONS,
    QUESTIONS,
    st.builds(KindQuestion, st.builds(Kind, TEXTS, TEXTS), CLUSTERS),
    st.builds(InOrder, st.lists(ACTIONS, max_size=2).map(tuple)),
    st.builds(AtOnce, st.lists(ACTIONS | QUESTIONS, max_size=2).map(tuple)),
    st.builds(RenderChart, st.binary(max_size=8), TEXTS, TEXTS, MANIFESTS, TEXTS, st.tuples(TEXTS)),
    st.builds(Pause, st.integers()),
    st.just(Now()),
)
PROBLEMS = st.builds(Problem, TEXTS, TEXTS, st.none() | st.sampled_from(FieldErrorType))
PLANS = st.builds(
    Plan,
    actions=st.lists(ACTIONS, max_size=3).map(tuple),
    events=st.lists(st.builds(Event, RESOURCES, KEYS, TEXTS, st.just("Normal"), TEXTS, TEXTS), max_size=2).map(tuple),
    failures=st.lists(st.builds(Failure, RESOURCES, KEYS, PROBLEMS, st.booleans()), max_size=2).map(tuple),
    requeue_after=st.none() | st.floats(allow_nan=False),
    in_order=st.booleans(),
)
LOOKUPS = st.one_of(
    st.builds(Lookup, st.just("get"), RESOURCES, CLUSTERS, KEYS),
    st.builds(Lookup, st.just("has_synced"), RESOURCES, CLUSTERS),
    st.builds(Lookup, st.just("list"), RESOURCES, CLUSTERS, st.tuples(st.none() | TEXTS, st.none() | SELECTORS)),
    st.builds(Lookup, st.just("index"), RESOURCES, CLUSTERS, st.tuples(TEXTS, TEXTS | KEYS | st.tuples(TEXTS, TEXTS))),
)
VALUES = st.one_of(
    MANIFESTS,
    st.none() | st.booleans() | NUMBERS | TEXTS,
    PLANS,
    STEPS,
    REPLIES,
    RENDERED,
    st.dictionaries(QUESTIONS, ANSWERS, max_size=2),
    st.dictionaries(LOOKUPS, st.tuples(MANIFESTS), max_size=2),
    TIMES,
)


def written_and_read(value: Any) -> Any:
    return decoded(json.loads(json.dumps(encoded(value))))


@given(VALUES)
def test_a_value_comes_back_equal_and_of_the_same_type(value: Any) -> None:
    back = written_and_read(value)

    assert back == value
    assert type(back) is type(value)
    assert encoded(back) == encoded(value)


@given(MANIFESTS.filter(lambda value: not any(tag in json.dumps(value) for tag in ("$", "Infinity"))))
def test_json_stays_as_it_is(value: Any) -> None:
    assert encoded(value) == value


def test_a_tag_is_no_name_of_a_type_or_module_and_defaults_are_left_out() -> None:
    resource = Resource("", "v1", "secrets", "Secret")

    assert encoded(Delete(resource, ObjectKey("a", "b"), "gone")) == {
        "$": "delete",
        "resource": {"$": "resource", "group": "", "version": "v1", "plural": "secrets", "kind": "Secret"},
        "key": {"$": "key", "namespace": "a", "name": "b"},
        "reason": "gone",
    }


@pytest.mark.parametrize("value", [float("inf"), float("-inf")])
def test_what_json_has_no_number_for_comes_back(value: float) -> None:
    assert written_and_read({"seconds": value}) == {"seconds": value}


def test_a_mapping_of_another_type_comes_back_as_an_equal_one() -> None:
    value: Mapping[str, int] = MappingProxyType({"a": 1})

    assert written_and_read(value) == value


def test_a_number_with_a_name_is_a_number() -> None:
    assert encoded(HTTPStatus.CONFLICT) == 409
    assert type(encoded(HTTPStatus.CONFLICT)) is int


@dataclass(frozen=True)
class Stranger:
    """Of no package of ours."""


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (Stranger(), "test_codec.Stranger"),
        ({"deep": [(object(),)]}, "builtins.object"),
        (len, "builtins.builtin_function_or_method"),
        (1j, "builtins.complex"),
        (bytearray(), "builtins.bytearray"),
        (frozenset({"a"}), "builtins.frozenset"),
    ],
)
def test_a_value_of_another_type_is_refused_by_its_name(value: object, name: str) -> None:
    with pytest.raises(UnrecordableError, match=rf"a record cannot hold a value of type .*{name}"):
        encoded(value)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"$": "gone"}, "there is no type gone"),
        ({"$": "machinery.plan.Plan"}, "there is no type machinery.plan.Plan"),
        ({"$": "cluster", "is": "moon"}, "cluster: 'moon'"),
        ({"$": "cause", "reason": "", "colour": ""}, "unexpected keyword argument 'colour'"),
        ({"$": "cause", "reason": ""}, "missing 2 required positional arguments"),
        ({"$": "os.system"}, "there is no type os.system"),
        ({"$": 7}, "there is no type 7"),
        ({"$": ["plan"]}, "there is no type"),
        ({"$": "time", "is": "noon"}, "time: "),
        ({"$": "table"}, "table: 'of'"),
        ({"$": "map", "of": [[[], 1]]}, "map: unhashable"),
    ],
)
def test_what_this_version_does_not_know_is_told(value: Any, problem: str) -> None:
    with pytest.raises(UnknownValueError, match=problem):
        decoded(value)


HEADER = Header("1.2.3", "resource-manager", "seed", {"a": 1})
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
KEY = ObjectKey("shop", "cart")
TURN = Journal("secret", KEY, BEGAN, parts=(Part(wants=Now()), Part(wants=Plan(requeue_after=5))), turn=7)


def test_a_header_is_read_as_it_was_written() -> None:
    assert json.loads(HEADER.to_line()) == {
        "hedgerow-record": 3,
        "version": "1.2.3",
        "component": "resource-manager",
        "clusterId": "seed",
        "configuration": {"a": 1},
    }
    assert parsed_line(HEADER.to_line()) == HEADER


@pytest.mark.parametrize("turn", [TURN, replace(TURN, parts=()), Unrecorded("secret", KEY, 7, "too much")])
def test_a_turn_is_read_as_it_was_written(turn: Journal | Unrecorded) -> None:
    assert parsed_line(line_of(turn)) == turn
    assert parsed_line(line_of(turn).encode()) == turn


def test_the_state_that_a_turn_leaves_is_not_written() -> None:
    stateful = replace(TURN, parts=(*TURN.parts[:1], Part(wants=Plan(requeue_after=5, state="secret"))))

    assert parsed_line(line_of(stateful)) == TURN


def test_the_header_of_another_format_is_refused() -> None:
    line = HEADER.to_line().replace('"hedgerow-record": 3', '"hedgerow-record": 2')

    with pytest.raises(UnknownValueError) as error:
        parsed_line(line)

    assert str(error.value) == (
        "its format is 2, this version knows only 3: replay it with the version that has recorded it"
    )


def test_a_turn_that_holds_what_this_version_does_not_know_can_be_told_from_others() -> None:
    line = line_of(TURN).replace('"$": "now"', '"$": "later"')

    assert parsed_line(line) == Unreadable(
        "secret", KEY, 7, "holds what this version does not know: there is no type later"
    )


@pytest.mark.parametrize("line", ["5", "[]", "{}", '{"hedgerow-record": 3}', json.dumps(encoded(Plan()))])
def test_what_is_no_line_of_a_record_is_refused(line: str) -> None:
    with pytest.raises(UnknownValueError, match=r"^it is no line of a record$"):
        parsed_line(line)


def test_another_value_of_the_fields_of_a_turn_is_no_line() -> None:
    line = json.dumps({"controller": "secret", "key": encoded(KEY), "turn": 7})

    with pytest.raises(UnknownValueError, match=r"^it is no line of a record$"):
        parsed_line(line)


def test_what_is_no_json_is_no_line() -> None:
    with pytest.raises(ValueError, match="Expecting"):
        parsed_line("no")


def test_equal_values_have_one_text() -> None:
    assert canonical({"b": 1, "a": [2]}) == canonical({"a": [2], "b": 1}) == '{"a": [2], "b": 1}'


def test_a_mapping_with_a_name_like_a_tag_and_one_without_texts_as_names_are_lists_of_pairs() -> None:
    assert encoded({"$a": {"b": 1}}) == {"$": "map", "of": [["$a", {"b": 1}]]}
    assert encoded({1: Now()}) == {"$": "table", "of": [[1, {"$": "now"}]]}
    assert decoded({"$": "map", "of": [["$a", {"b": [1]}]]}) == {"$a": {"b": [1]}}
    assert decoded({"$": "table", "of": [[1, [2]]]}) == {1: (2,)}


def test_the_tag_of_an_unknown_type_is_shown_up_to_a_length() -> None:
    with pytest.raises(UnknownValueError) as error:
        decoded({"$": "x" * 200})

    assert str(error.value) == f"there is no type {'x' * 100}"
