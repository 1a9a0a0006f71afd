"""Where two values differ."""

import tracemalloc
from typing import Any

import pytest

from hedgerow.admission.extension_validation.values import DURATION, QUANTITY, differences, same, shape

NOTHING: tuple[Any, ...] = (None, [], {})


@pytest.mark.parametrize("new", NOTHING)
@pytest.mark.parametrize("old", NOTHING)
def test_what_is_empty_is_the_same_as_what_is_absent(new: Any, old: Any) -> None:
    assert same(new, old)
    assert same({"a": new, "b": 1}, {"b": 1, "a": old})
    assert same({"b": 1}, {"a": old, "b": 1})


@pytest.mark.parametrize(
    ("new", "old", "texts"),
    [
        ({"type": "b"}, {"type": "a"}, ["type: b != a"]),
        ({"b": 1, "a": "x"}, {}, ["a: x != <none>", "b: 1 != <none>"]),
        (
            {"ingress": [{"ipBlock": {"cidr": "8.8.8.8/8"}}]},
            {"ingress": [{"ipBlock": {"cidr": "1.2.3.4/8"}}]},
            ["ingress[0].ipBlock.cidr: 8.8.8.8/8 != 1.2.3.4/8"],
        ),
        ({"a": [1]}, {"a": [1, {"b": 2}]}, ["a[1]: <none> != an object"]),
        ({"a": [{}]}, {"a": []}, ["a[0]: {} != <none>"]),
        ({"a": [1]}, {"a": {"b": 1}}, ["a: a list != an object"]),
        ({"a": {"b": {"c": 1}}}, {}, ["a.b.c: 1 != <none>"]),
        ({"a": ""}, {}, []),
        ({"a": ""}, {"a": "b"}, ["a:  != b"]),
        ({"labels": {"a": ""}}, {}, ["labels.a:  != <none>"]),
        ({"a": [""]}, {"a": []}, ["a[0]:  != <none>"]),
        ({"a": True}, {"a": 1}, ["a: true != 1"]),
        ({"a": 1.0}, {"a": 1}, []),
        ({"a": "x" * 200}, {"a": "y"}, [f"a: {'x' * 100}… != y"]),
        ({"k" * 200: 1}, {}, [f"{'k' * 100}…: 1 != <none>"]),
        ({"userData": "s3cr3t"}, {"userData": "0ld"}, ["userData: values differ"]),
        (
            {"files": [{"content": {"inline": {"data": "s3cr3t"}}}]},
            {"files": [{"content": {"inline": {"data": 0}}}]},
            ["files[0].content.inline.data: values differ"],
        ),
        ({"files": [{"content": "s3cr3t"}]}, {"files": []}, ["files[0]: an object != <none>"]),
        ({"dataKey": "a"}, {"dataKey": "b"}, ["dataKey: a != b"]),
    ],
)
def test_a_difference_names_the_place_and_both_values(new: Any, old: Any, texts: list[str]) -> None:
    assert [*map(str, differences(new, old))] == texts


EXPECTED = shape({"size": QUANTITY, "sizes{}": QUANTITY, "pools[].size": QUANTITY, "timeout": DURATION})


@pytest.mark.parametrize(
    ("new", "old", "are_equal"),
    [
        ({"size": "1Gi"}, {"size": "1024Mi"}, True),
        ({"size": 1}, {"size": "1000m"}, True),
        ({"size": "0.5"}, {"size": "500m"}, True),
        ({"size": "1Gi"}, {"size": "1G"}, False),
        ({"size": "0"}, {}, False),
        ({"sizes": {"cpu": "1"}}, {"sizes": {"cpu": "1000m"}}, True),
        ({"sizes": {"cpu": "0"}}, {"sizes": {}}, False),
        ({"pools": [{"size": "1Gi"}]}, {"pools": [{"size": "1024Mi"}]}, True),
        ({"timeout": "60m"}, {"timeout": "1h"}, True),
        ({"timeout": "61m"}, {"timeout": "1h"}, False),
        # Versions look like quantities and are none.
        ({"version": "1.20"}, {"version": "1.2"}, False),
    ],
)
def test_quantities_and_durations_are_equal_by_their_amounts_where_they_are_declared(
    new: Any, old: Any, *, are_equal: bool
) -> None:
    assert same(new, old, EXPECTED) is are_equal
    assert same(old, new, EXPECTED) is are_equal


def test_values_may_be_nested_as_deep_as_memory_allows() -> None:
    new: Any = 1
    old: Any = 2
    for _ in range(10_000):
        new, old = [new], [old]

    assert not same(new, old)


def test_what_is_the_same_below_a_long_name_takes_no_more_memory_for_it() -> None:
    new = {"k" * 100_000: {f"{number}": number for number in range(1_000)}}
    old = {"k" * 100_000: {f"{number}": number for number in range(1_000)}}
    tracemalloc.start()
    try:
        assert same(new, old)
        _held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 5_000_000
