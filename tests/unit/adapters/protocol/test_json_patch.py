"""JSON patches beyond what an object of the API can show."""

import copy
from typing import Any

import pytest
from returns.result import Failure, Success

from hedgerow_adapters.protocol.json_patch import apply_json_patch

DOCUMENT = {"a/b": 1, "c~d": [1, 2], "": {"deep": True}}


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({"op": "replace", "path": "/a~1b", "value": 2}, {**DOCUMENT, "a/b": 2}),
        ({"op": "add", "path": "/c~0d/-", "value": 3}, {**DOCUMENT, "c~d": [1, 2, 3]}),
        ({"op": "remove", "path": "//deep"}, {**DOCUMENT, "": {}}),
        ({"op": "replace", "path": "", "value": []}, []),
        ({"op": "copy", "from": "", "path": "/copy"}, {**DOCUMENT, "copy": DOCUMENT}),
    ],
    ids=["escaped slash", "escaped tilde", "empty name", "whole document", "document into itself"],
)
def test_pointers_lead_where_rfc_6901_says(operation: dict[str, Any], expected: Any) -> None:
    before = copy.deepcopy(DOCUMENT)

    assert apply_json_patch(DOCUMENT, [operation]) == Success(expected)
    assert before == DOCUMENT


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ({"op": "add", "path": "/c~0d/01", "value": 3}, "no place 01 in the list"),
        ({"op": "remove", "path": "/c~0d/-1"}, "no place -1 in the list"),
        ({"op": "add", "path": "c", "value": 3}, "path is no JSON pointer: c"),
        ({"op": "add", "path": "/a~1b/x", "value": 3}, "nothing can stand at /a/b/x"),
        ({"op": "remove", "path": "/none"}, "nothing to remove at /none"),
        ({"op": "remove", "path": ""}, "the whole document has no parent"),
        ({"op": "move", "from": "/none/x", "path": "/y"}, "nothing is at /none/x"),
        ({"op": "test", "path": "//deep", "value": 1}, "testing value //deep failed"),
        ({"path": "/a"}, "unexpected kind of operation: None"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_operation_that_cannot_be_applied_says_why(operation: dict[str, Any], message: str) -> None:
    assert apply_json_patch(DOCUMENT, [operation]) == Failure(message)


def test_what_stands_in_two_places_is_changed_in_one() -> None:
    shared = {"x": 1}
    operations: list[dict[str, Any]] = [
        {"op": "add", "path": "/c", "value": [shared, shared]},
        {"op": "replace", "path": "/a/x", "value": 2},
        {"op": "remove", "path": "/c/1/x"},
    ]

    assert apply_json_patch({"a": shared, "b": shared}, operations) == Success(
        {"a": {"x": 2}, "b": {"x": 1}, "c": [{"x": 1}, {}]}
    )
