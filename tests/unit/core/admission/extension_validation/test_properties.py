"""What holds for any object, however it came about."""

import json
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.admission import Allowed, Denied, creation, update
from hedgerow.admission.extension_validation import KINDS, review, validate_create, validate_update
from tests.unit.core.admission.extension_validation.objects import sample, short
from tests.unit.orders import ORDERS

JSON: Final = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["IPv4", "1.2.3.4", "-1", "a/b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
METADATA: Final = {
    "generateName": "sample-",
    "generation": 1,
    "labels": {"a": "b", "c": "d"},
    "annotations": {"a": "b", "c": "d"},
    "finalizers": ["a/b"],
    "ownerReferences": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "a", "uid": "1", "controller": True}],
}
KIND_NAMES: Final = st.sampled_from([*KINDS])


def shuffled(value: Any, random: Random) -> Any:
    """The same value with members of objects in another order."""
    if isinstance(value, list):
        return [shuffled(item, random) for item in value]
    if not isinstance(value, dict):
        return value
    return {name: shuffled(value[name], random) for name in random.sample([*value], len(value))}


@st.composite
def damaged(draw: st.DrawFn, value: Any) -> Any:
    """The value with anything at all at one place inside of it, or instead of it."""
    if isinstance(value, dict) and value and draw(st.integers(0, 5)):
        name = draw(st.sampled_from([*value]))
        return {**value, name: draw(damaged(value[name]))}
    if isinstance(value, list) and value and draw(st.integers(0, 5)):
        index = draw(st.integers(0, len(value) - 1))
        return [*value[:index], draw(damaged(value[index])), *value[index + 1 :]]
    return draw(JSON)


@st.composite
def damaged_objects(draw: st.DrawFn) -> tuple[str, Any, Any]:
    """A kind, and two objects that were valid ones of it before they were damaged, if at all."""
    kind = draw(KIND_NAMES)
    terminating = draw(st.sampled_from([{}, {"deletionTimestamp": "2026-01-01T00:00:00Z"}]))
    good = sample(kind, {**METADATA, **terminating})
    return kind, draw(damaged(good)), draw(st.just(good) | damaged(good))


@given(KIND_NAMES, ORDERS)
def test_a_valid_object_stays_valid_in_any_order(kind: str, random: Random) -> None:
    metadata = METADATA if KINDS[kind].resource.namespaced else {**METADATA, "namespace": ""}
    manifest = sample(kind, metadata)
    other_order = shuffled(manifest, random)

    assert validate_create(kind, other_order) == ()
    assert validate_update(kind, other_order, manifest) == ()


@given(damaged_objects(), ORDERS)
def test_any_objects_are_decided_upon_always_alike(objects: tuple[str, Any, Any], random: Random) -> None:
    kind, new, old = objects
    before = json.dumps([new, old])

    errors = validate_update(kind, new, old)

    assert json.dumps([new, old]) == before
    assert validate_update(kind, new, old) == errors
    assert short(validate_update(kind, shuffled(new, random), shuffled(old, random))) == short(errors)


@given(damaged_objects())
def test_the_answer_is_a_denial_if_and_only_if_there_are_errors(objects: tuple[str, Any, Any]) -> None:
    kind, new, old = objects
    resource = KINDS[kind].resource
    of_that_type = isinstance(new, dict) and (new.get("apiVersion"), new.get("kind")) == (resource.api_version, kind)

    created = review(kind, creation(resource, new))
    updated = review(kind, update(resource, new, old))

    assert isinstance(created, Denied) is (not of_that_type or bool(validate_create(kind, new)))
    assert isinstance(updated, Allowed | Denied)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [None, True, 1, 1.5, "text", [], [None], {}, {"a": None}])
def test_every_field_may_hold_every_type(kind: str, value: Any) -> None:
    good = sample(kind, METADATA)
    for broken in with_each_place_replaced(good, value):
        validate_update(kind, broken, good)
        validate_update(kind, good, broken)


def with_each_place_replaced(whole: Any, value: Any) -> list[Any]:
    """One copy of an object for each place in it, where the value stands."""
    below: list[Any] = []
    if isinstance(whole, dict):
        below = [{**whole, name: inner} for name in whole for inner in with_each_place_replaced(whole[name], value)]
    elif isinstance(whole, list):
        below = [
            [*whole[:index], inner, *whole[index + 1 :]]
            for index, item in enumerate(whole)
            for inner in with_each_place_replaced(item, value)
        ]
    return [value, *below]
