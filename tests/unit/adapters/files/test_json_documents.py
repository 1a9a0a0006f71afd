import pytest

from hedgerow.machinery.documents.document import MAX_NESTING
from hedgerow_adapters.files.decoding import json_documents


def test_documents_follow_one_another() -> None:
    documents = json_documents('{"a": 1}\n{"b": [1.5, -2, true, null]} [3]\n')

    assert [document.value for document in documents] == [{"a": 1}, {"b": [1.5, -2, True, None]}, [3]]
    assert json_documents(" \n") == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('{"a": 1, "a": 1}', ['the key "a" appears twice in one mapping'], id="repeated key"),
        pytest.param('{"a": NaN}', ["NaN is not a number that JSON knows"], id="not a number"),
        pytest.param('[-Infinity, "x"]', ["-Infinity is not a number that JSON knows"], id="infinity"),
        pytest.param("[1e400]", ["one is too large a number"], id="number without end"),
        pytest.param(
            "[9223372036854775808]",
            ["a number does not fit a 64-bit integer (quote it if it is a text)"],
            id="integer beyond 64 bits",
        ),
        pytest.param(
            f"[{'9' * 5000}]",
            ["a number does not fit a 64-bit integer (quote it if it is a text)"],
            id="integer of thousands of digits",
        ),
        pytest.param(
            "[" * 100_000, ["lists and mappings are nested more than 100 levels deep"], id="nested without end"
        ),
        pytest.param(
            "[" * (MAX_NESTING + 1) + "]" * (MAX_NESTING + 1),
            ["lists and mappings are nested more than 100 levels deep"],
            id="nested one level too deep",
        ),
        pytest.param("[" * MAX_NESTING + "]" * MAX_NESTING, [], id="nested as deep as may be"),
        pytest.param('{"a":\n1,\nb}', ["line 3: is not JSON: expecting property name"], id="name without quotes"),
        pytest.param('{"a": 1', ["line 1: is not JSON: expecting ',' delimiter"], id="cut off"),
    ],
)
def test_what_json_does_not_allow_is_refused(text: str, expected: list[str]) -> None:
    (document,) = json_documents(text)

    assert len(document.problems) == len(expected)
    assert all(problem.startswith(start) for problem, start in zip(document.problems, expected, strict=True))


def test_what_stands_before_a_broken_document_is_read() -> None:
    first, second = json_documents('{"a": 1}\n{"b": ')

    assert first.value == {"a": 1}
    assert second.problems == ("line 2: is not JSON: expecting value",)
