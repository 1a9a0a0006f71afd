"""Which JSON types fields must have."""

from typing import Any

import pytest

from hedgerow.admission.extension_validation.values import (
    BOOLEAN,
    BYTES,
    INTEGER,
    LIST,
    OBJECT,
    QUANTITY,
    TEXT,
    JsonType,
    misfits,
    shape,
)

TABLE = shape(
    {
        "spec.type": TEXT,
        "spec.labels{}": TEXT,
        "spec.values[]": TEXT,
        "spec.pools[].userData": BYTES,
        "spec.pools[].capacity{}": QUANTITY,
    }
)


@pytest.mark.parametrize(
    ("manifest", "errors"),
    [
        ({}, []),
        ({"spec": {"type": None, "labels": {"a": None}, "values": [None], "pools": [None, {"capacity": None}]}}, []),
        ({"spec": {"other": 1}}, []),
        (None, ["object: Invalid value: expected an object, got null"]),
        ([], ["object: Invalid value: expected an object, got a list"]),
        ({"spec": ""}, ["spec: Invalid value: expected an object, got a string"]),
        (
            {"spec": {"pools": [{"userData": "%", "capacity": {"cpu": "x"}}, 1], "labels": {"a": True}}},
            [
                "spec.labels.a: Invalid value: expected a string, got a boolean",
                "spec.pools[0].userData: Invalid value: expected a string in base64, got a string",
                "spec.pools[0].capacity.cpu: Invalid value: expected a quantity, got a string",
                "spec.pools[1]: Invalid value: expected an object, got an integer",
            ],
        ),
        (
            {"spec": {"values": {}, "pools": ""}},
            [
                "spec.values: Invalid value: expected a list, got an object",
                "spec.pools: Invalid value: expected a list, got a string",
            ],
        ),
    ],
)
def test_fields_of_a_wrong_type_are_told_in_the_order_of_the_table(manifest: Any, errors: list[str]) -> None:
    assert [*map(str, misfits(manifest, TABLE))] == errors


@pytest.mark.parametrize(
    ("json_type", "fitting", "others"),
    [
        (TEXT, ["", "a"], [1, True, [], {}]),
        (BYTES, ["", "YQ==", "Y\r\nQ=="], ["YQ", "YQ=", "Y Q=", "é", 1]),
        (INTEGER, [0, -1, 2.0, 2**63 - 1], [1.5, True, "1", 2**63, 1e300, float("inf"), float("nan")]),
        (BOOLEAN, [True, False], [0, 1, "true"]),
        (OBJECT, [{}], [[], "", 1]),
        (LIST, [[]], [{}, "", 1]),
        (QUANTITY, ["1", "8Gi", 1, 1.5], ["", "x", True, []]),
    ],
    ids=["text", "bytes", "integer", "boolean", "object", "list", "quantity"],
)
def test_a_type_takes_its_own_values_only(json_type: JsonType, fitting: list[Any], others: list[Any]) -> None:
    assert [value for value in fitting if not json_type.fits(value)] == []
    assert [value for value in others if json_type.fits(value)] == []
