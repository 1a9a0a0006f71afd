import pytest
from returns.result import Failure, Success

from hedgerow_adapters.files.decoding import decoded, single_document


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param("a.json", '{"a": "b"}', id="JSON by name"),
        pytest.param("a.yaml", '\n {"a": "b"}', id="JSON by look"),
        pytest.param("-", "{a: b}", id="YAML that looks like JSON"),
        pytest.param("-", 'a: "b"', id="YAML"),
        pytest.param("-", '{"a": "b"}\n---\n# no more\n', id="JSON between YAML separators"),
    ],
)
def test_the_format_follows_from_name_and_look(path: str, text: str) -> None:
    assert decoded(text, path)[0].value == {"a": "b"}


def test_a_json_file_is_json() -> None:
    (document,) = decoded("{a: b}", "a.json")

    assert document.problems[0].startswith("line 1: is not JSON: expecting property name")


def test_a_text_that_is_neither_is_judged_as_what_it_looks_like() -> None:
    first, second = decoded('{"a": 1}\n{"b": ', "-")

    assert first.problems == ()
    assert second.problems == ("line 2: is not JSON: expecting value",)


@pytest.mark.parametrize("text", ['{"a": ["\\ud83d"]}', '{"\\uDE00": 1}'])
def test_half_a_surrogate_pair_is_no_text(text: str) -> None:
    (document,) = decoded(text, "a.json")

    assert document.problems == ("an escape such as \\ud800 stands for half a character",)


def test_a_surrogate_pair_is_a_character() -> None:
    assert decoded('{"a": "\\ud83d\\ude00"}', "a.json")[0].value == {"a": "😀"}


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        pytest.param("", ("holds no document",), id="empty"),
        pytest.param("---\n# later\n--- null\n", ("holds no document",), id="empty documents"),
        pytest.param("a: 1\n---\nb: 1\n", ("holds 2 documents, of which only one could count",), id="two"),
        pytest.param('{"a": 1}{"a": 1}', ("holds 2 documents, of which only one could count",), id="two in JSON"),
        pytest.param(
            'a: 1\na: 2\n---\n"\\e": 1\n"\\e": 2\n',
            (
                'line 2: the key "a" appears twice in one mapping',
                'line 5: the key "\\x1b" appears twice in one mapping',
            ),
            id="broken and two",
        ),
    ],
)
def test_a_single_document_is_refused_with_everything_that_is_wrong(text: str, problems: tuple[str, ...]) -> None:
    assert single_document(text, "a.yaml") == Failure(problems)


@pytest.mark.parametrize("text", ["a: 1", "---\n---\na: 1\n---\n# no more\n", '{"a": 1}'])
def test_a_single_document_may_stand_among_empty_ones(text: str) -> None:
    assert single_document(text, "a.yaml") == Success({"a": 1})
