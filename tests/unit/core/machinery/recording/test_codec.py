"""What is written of a value is read as an equal one."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, timedelta, timezone
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.api.references import Identity
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.failures import DomainFailure
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
    WriteResult,
)
from hedgerow.machinery.questions import Found, KindQuestion, ListQuestion, NotAnswered, ObjectQuestion
from hedgerow.machinery.recording.codec import UnknownValueError, UnrecordableError, decoded, encoded
from hedgerow.machinery.recording.reads import Filed, Got, HasSynced, Listed
from hedgerow.machinery.selectors import LabelSelector, Operator, Requirement
from hedgerow.machinery.steps import AtOnce, Pause
from hedgerow.resource_manager.managed_resources.autoscalers import Scaling
from hedgerow.resource_manager.managed_resources.reconciliation.state import ObjectState, State
from hedgerow.resource_manager.managed_resources.server_defaults.differences import Difference
from hedgerow.resource_manager.managed_resources.write_context import WriteContext

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
    ListQuestion, RESOURCES, CLUSTERS, TEXTS, TEXTS, TEXTS, st.booleans()
)
ACTIONS = st.one_of(
    st.builds(Create, RESOURCES, MANIFESTS, TEXTS, CLUSTERS, TEXTS),
    st.builds(Update, RESOURCES, MANIFESTS, TEXTS, TEXTS, CLUSTERS),
    st.builds(MergePatch, RESOURCES, KEYS, MANIFESTS, TEXTS, st.none() | TEXTS, TEXTS, CLUSTERS),
    st.builds(JsonPatch, RESOURCES, KEYS, st.lists(MANIFESTS, max_size=2), TEXTS, TEXTS, CLUSTERS),
    st.builds(Delete, RESOURCES, KEYS, TEXTS, st.none() | TEXTS, st.none() | TEXTS),
)
OUTCOMES = st.builds(
    WriteResult,
    ACTIONS,
    st.none() | MANIFESTS,
    st.none() | st.builds(ApiError, st.integers(), TEXTS, TEXTS, st.tuples(st.builds(Cause, TEXTS, TEXTS, TEXTS))),
)
ANSWERS = st.builds(Found, st.tuples(MANIFESTS)) | st.builds(NotAnswered, st.integers(), TEXTS, TEXTS)
TIMES = st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=2))])) | st.datetimes()
IDENTITIES = st.builds(Identity, TEXTS, TEXTS, TEXTS, TEXTS)
REMEMBERED = st.builds(
    ObjectState,
    IDENTITIES,
    RESOURCES,
    KEYS,
    st.binary(max_size=8),
    TEXTS,
    TIMES,
    st.none() | TIMES,
    st.builds(WriteContext, st.none() | TEXTS, TEXTS),
    st.none() | TIMES,
    st.tuples(st.builds(Difference, TEXTS, JSON, JSON)),
    st.builds(Scaling, st.booleans(), st.booleans()),
)
SELECTORS = st.builds(
    LabelSelector,
    st.lists(st.tuples(TEXTS, TEXTS), max_size=2, unique_by=lambda pair: pair[0]).map(tuple),
    st.tuples(st.builds(Requirement, TEXTS, st.sampled_from(Operator), st.tuples(TEXTS))),
)
MEMORIES = st.builds(
    State,
    st.dictionaries(IDENTITIES, REMEMBERED, max_size=2),
    st.binary(max_size=8),
    st.lists(JSON | st.binary(max_size=4) | st.tuples(TEXTS), max_size=3).map(tuple),
    st.dictionaries(st.builds(Kind, TEXTS, TEXTS), TIMES, max_size=2),
    st.binary(max_size=4),
    TEXTS,
)
STEPS = st.one_of(
    ACTIONS,
    QUESTIONS,
    st.builds(KindQuestion, st.builds(Kind, TEXTS, TEXTS), CLUSTERS),
    st.builds(InOrder, st.lists(ACTIONS, max_size=2).map(tuple)),
    st.builds(AtOnce, st.lists(ACTIONS | QUESTIONS, max_size=2).map(tuple)),
    st.builds(Pause, st.integers()),
)
PLANS = st.builds(
    Plan,
    actions=st.lists(ACTIONS, max_size=3).map(tuple),
    events=st.lists(st.builds(Event, RESOURCES, KEYS, TEXTS, st.just("Normal"), TEXTS, TEXTS), max_size=2).map(tuple),
    failures=st.lists(st.builds(DomainFailure, RESOURCES, KEYS, TEXTS, TEXTS, st.booleans()), max_size=2).map(tuple),
    requeue_after=st.none() | st.floats(allow_nan=False),
    in_order=st.booleans(),
    state=st.none() | MEMORIES,
)
READS = st.one_of(
    st.builds(Got, RESOURCES, KEYS, CLUSTERS),
    st.builds(HasSynced, RESOURCES, CLUSTERS),
    st.builds(Listed, RESOURCES, st.none() | TEXTS, st.none() | SELECTORS, CLUSTERS),
    st.builds(Filed, TEXTS, RESOURCES, CLUSTERS, TEXTS | KEYS | st.tuples(TEXTS, TEXTS)),
)
VALUES = st.one_of(
    JSON,
    PLANS,
    STEPS,
    OUTCOMES,
    st.dictionaries(QUESTIONS, ANSWERS, max_size=2),
    st.dictionaries(READS, st.tuples(MANIFESTS), max_size=2),
    st.frozensets(TEXTS | KEYS | st.frozensets(TEXTS, max_size=2), max_size=3),
    st.timedeltas(),
    st.binary(max_size=8),
)


def written_and_read(value: Any) -> Any:
    return decoded(json.loads(json.dumps(encoded(value))))


@given(VALUES)
def test_a_value_comes_back_equal_and_of_the_same_type(value: Any) -> None:
    back = written_and_read(value)

    assert back == value
    assert type(back) is type(value)
    assert encoded(back) == encoded(value)


@given(JSON.filter(lambda value: not any(tag in json.dumps(value) for tag in ("$", "Infinity"))))
def test_json_stays_as_it_is(value: Any) -> None:
    assert encoded(value) == value


@given(st.permutations(["b", "a", "c", "d"]))
def test_sets_are_written_the_same_whatever_their_order(members: list[str]) -> None:
    assert encoded(frozenset(members)) == {"$": "frozenset", "of": ["a", "b", "c", "d"]}


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
    ],
)
def test_a_value_of_another_type_is_refused_by_its_name(value: object, name: str) -> None:
    with pytest.raises(UnrecordableError, match=rf"a record cannot hold a value of type .*{name}"):
        encoded(value)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"$": "machinery.plan.Gone"}, "there is no type machinery.plan.Gone"),
        ({"$": "gone.Plan"}, "there is no type gone.Plan"),
        ({"$": "machinery.plan.key_of"}, "machinery.plan.key_of is not a type"),
        ({"$": "machinery.recording.reads.RecordedSnapshot"}, "RecordedSnapshot is no record"),
        ({"$": "machinery.clusters.Cluster", "is": "MOON"}, "machinery.clusters.Cluster: 'MOON'"),
        ({"$": "machinery.plan.Cause", "reason": "", "colour": ""}, "unexpected keyword argument 'colour'"),
        ({"$": "os.system"}, "there is no type os.system"),
        ({"$": "..os.system"}, "there is no type"),
        ({"$": "machinery.plan:Plan"}, "is not the name of a type"),
        ({"$": 7}, "7 is not the name of a type"),
        ({"$": "bytes", "is": "%"}, "bytes: "),
        ({"$": "map", "of": [[[], 1]]}, "map: unhashable"),
    ],
)
def test_what_this_version_does_not_know_is_told(value: Any, problem: str) -> None:
    with pytest.raises(UnknownValueError, match=problem):
        decoded(value)
