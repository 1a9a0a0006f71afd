from typing import Any

import pytest
import yaml

from hedgerow.machinery.documents import yaml_texts
from hedgerow.machinery.documents.document import MAX_NESTING
from hedgerow_adapters.files.decoding import yaml_documents


@pytest.fixture(params=["compiled parser", "pure Python parser"], autouse=True)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "pure Python parser":
        monkeypatch.setattr(yaml_texts, "_Parser", yaml.SafeLoader)


def values(text: str) -> list[Any]:
    documents = yaml_documents(text)
    assert not [problem for document in documents for problem in document.problems]
    return [document.value for document in documents]


def value(text: str) -> Any:
    return values(f"v: {text}\n")[0]["v"]


def problems(text: str) -> list[tuple[int, str]]:
    documents = enumerate(yaml_documents(text), start=1)
    return [(number, problem) for number, document in documents for problem in document.problems]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("y", True, id="y"),
        pytest.param("Off", False, id="off"),
        pytest.param("nULL", "nULL", id="a word in no usual case"),
        pytest.param("~", None, id="null"),
        pytest.param("", None, id="nothing"),
        pytest.param("0x1F", 31, id="hexadecimal"),
        pytest.param("0755", 493, id="octal as in YAML 1.1"),
        pytest.param("0o755", 493, id="octal as in YAML 1.2"),
        pytest.param("-0b11", -3, id="binary"),
        pytest.param("08", 8, id="no octal number"),
        pytest.param("1_000", 1000, id="underscores"),
        pytest.param("1e3", 1000, id="exponent without point"),
        pytest.param("-.5", -0.5, id="fraction"),
        pytest.param("1.", 1, id="point at the end"),
        pytest.param("1e400", "1e400", id="number without end"),
        pytest.param(".", ".", id="point alone"),
        pytest.param("0xg", "0xg", id="almost hexadecimal"),
        pytest.param("12:30:45", "12:30:45", id="base 60"),
        pytest.param("2026-01-31", "2026-01-31", id="date"),
        pytest.param("2026-01-31T00:00:00Z", "2026-01-31T00:00:00Z", id="timestamp"),
        pytest.param("=", "=", id="equals sign"),
        pytest.param("<<", "<<", id="merge key as a value"),
        pytest.param('"y"', "y", id="quoted word"),
        pytest.param("'1'", "1", id="quoted number"),
        pytest.param("!!str 1", "1", id="number tagged as a text"),
        pytest.param('!!int "1"', 1, id="text tagged as a number"),
        pytest.param("!!timestamp 2026-01-31", "2026-01-31", id="tagged timestamp"),
        pytest.param("!!map {a: !!seq [1]}", {"a": [1]}, id="tagged collections"),
    ],
)
def test_scalars_mean_what_they_mean_to_kubernetes(text: str, expected: object) -> None:
    found = value(text)

    assert found == expected
    assert type(found) is type(expected)


def test_keys_become_texts_as_in_json() -> None:
    assert values("1: a\ntrue: b\n1.5: c\n8.0: d\n0x10: e\n") == [
        {"1": "a", "true": "b", "1.5": "c", "8": "d", "16": "e"},
    ]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        pytest.param(["<<: *x", "b: 3"], {"a": 1, "b": 3}, id="an entry after the merge wins"),
        pytest.param(["b: 3", "<<: *x"], {"a": 1, "b": 2}, id="the merge wins over an entry before it"),
        pytest.param(["<<: [*x, {a: 5, c: 6}]"], {"a": 1, "b": 2, "c": 6}, id="the first of several wins"),
        pytest.param(['"<<": *x'], {"<<": {"a": 1, "b": 2}}, id="a quoted merge key is a key"),
    ],
)
def test_merge_keys_take_effect_where_they_stand(entries: list[str], expected: dict[str, Any]) -> None:
    text = "x: &x {a: 1, b: 2}\nv:\n" + "".join(f"  {entry}\n" for entry in entries)

    assert values(text)[0]["v"] == expected


def test_documents_keep_their_numbers_whether_empty_or_not() -> None:
    assert values("# nothing\n---\na: 1\n---\n---\nnull\n...\n---\nb: 2\n") == [{"a": 1}, None, None, {"b": 2}]
    assert values("# nothing\n") == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a: 1\nb:\n\tc: 1\n", ["line 3: tabs cannot indent YAML; use blanks"], id="tab"),
        pytest.param("a: 1\nb: 2\na: 3\n", ['line 3: the key "a" appears twice in one mapping'], id="repeated key"),
        pytest.param(
            "1: a\n'1': b\n", ['line 2: the key "1" appears twice in one mapping'], id="key repeated as a text"
        ),
        pytest.param("a: !foo 1\n", ["line 1: a tag is not one that Kubernetes reads"], id="tag of an application"),
        pytest.param("a: !foo {}\n", ["line 1: a tag is not one that Kubernetes reads"], id="tagged mapping"),
        pytest.param("a: !!binary eA==\n", ["line 1: a tag is not one that Kubernetes reads"], id="binary"),
        pytest.param("a: !!set {x}\n", ["line 1: a tag is not one that Kubernetes reads"], id="set"),
        pytest.param("a: !!int x\n", ["line 1: a value is not a !!int"], id="tag of another type"),
        pytest.param("a: !!int yes\n", ["line 1: a value is not a !!int"], id="boolean tagged as a number"),
        pytest.param("a: .nan\n", ["line 1: a value is not a number that JSON knows"], id="not a number"),
        pytest.param("a: !!float -.inf\n", ["line 1: a value is not a number that JSON knows"], id="infinity"),
        pytest.param(
            "a: 9223372036854775808\n",
            ["line 1: a value does not fit a 64-bit integer (quote it if it is a text)"],
            id="integer beyond 64 bits",
        ),
        pytest.param(
            f"a: {'9' * 5000}\n",
            ["line 1: a value does not fit a 64-bit integer (quote it if it is a text)"],
            id="integer of thousands of digits",
        ),
        pytest.param(
            "? [a]\n: b\n~: c\n",
            [
                "line 1: a key must be a text, not null, a list or a mapping",
                "line 3: a key must be a text, not null, a list or a mapping",
            ],
            id="keys that JSON cannot have",
        ),
        pytest.param(
            "<<: 1\n", ["line 1: the merge key << takes a mapping or a list of mappings"], id="merge of a text"
        ),
        pytest.param(
            "a: *b\nc: *d\n", ["line 1: an alias has no anchor", "line 2: an alias has no anchor"], id="alias"
        ),
        pytest.param("a: &a [*a]\n", ["line 1: an alias stands within the value that it stands for"], id="loop"),
        pytest.param("a: 1\nb: \x07\n", ["line 2: the character U+0007 cannot stand in YAML"], id="control character"),
        pytest.param("a: b: c\n", ["line 1: mapping values are not allowed"], id="two colons"),
    ],
)
def test_what_kubernetes_cannot_carry_is_refused(text: str, expected: list[str]) -> None:
    found = [problem.replace(" here", "").replace(" in this context", "") for _, problem in problems(text)]

    assert found == expected


def test_an_error_names_the_line_where_the_broken_part_begins() -> None:
    (_, problem), *others = problems("a: 1\nb:\n- c\n- [d,\n  e\nf: 1\n")

    assert problem.startswith("line 6: ")
    assert problem.endswith("(while parsing a flow sequence that begins in line 4)")
    assert not others


def test_a_broken_document_costs_only_itself() -> None:
    text = 'a: 1\n---\nä: "ö\n---\nb: 2\nb: 3\n---\nc: [\n--- # four\nd: 4\n---\n\te: 5\n'

    documents = yaml_documents(text)

    assert [document.value for document in documents if not document.problems] == [{"a": 1}, {"d": 4}]
    assert [(number, problem.partition(":")[0]) for number, problem in problems(text)] == [
        (2, "line 4"),
        (3, "line 6"),
        (4, "line 9"),
        (6, "line 12"),
    ]


def test_lines_may_end_as_on_windows() -> None:
    assert values("a: |\r\n  b\r\n  c\r\n---\r\nd: 1\r\n") == [{"a": "b\nc\n"}, {"d": 1}]
    assert problems("a: [\r\n---\r\nb: 1\r\nb: 2\r\n")[-1] == (2, 'line 4: the key "b" appears twice in one mapping')


def test_the_last_line_ends_as_all_others_do() -> None:
    assert values("a: |\n  b") == values("a: |\n  b\n") == [{"a": "b\n"}]


def test_aliases_stand_for_their_values() -> None:
    assert values("a: &a {b: [1]}\nc: [*a, *a]\n&k d: *k\n") == [{"a": {"b": [1]}, "c": [{"b": [1]}] * 2, "d": "d"}]


def test_an_alias_stands_for_the_last_value_that_began_with_its_anchor() -> None:
    assert values("a: &a 1\nb: &a [&a 2]\nc: *a\n") == [{"a": 1, "b": [2], "c": 2}]


def test_anchors_end_with_their_document() -> None:
    assert problems("a: &a 1\n---\nb: *a\n") == [(2, "line 3: an alias has no anchor")]


def test_aliases_that_multiply_are_refused_without_being_expanded() -> None:
    levels = ["l0: &l0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 60)]

    assert problems("\n".join(levels)) == [(1, "line 6: aliases multiply the document beyond reason")]


def test_aliases_may_not_outweigh_what_is_written() -> None:
    template = ", ".join(f"k{n}: {n}" for n in range(1000))
    uses = "".join(f"- <<: *template\n  name: {n}\n" for n in range(200))

    assert problems(f"template: &template {{{template}}}\nuses:\n{uses}") == [
        (1, "aliases multiply the document beyond reason"),
    ]


def test_aliases_may_repeat_a_template_often() -> None:
    uses = "".join(f"- <<: *template\n  name: n{n}\n" for n in range(5000))

    assert len(values(f"template: &template {{a: 1, b: [2, 3]}}\nuses:\n{uses}")[0]["uses"]) == 5000


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 100_000, id="lists that never end"),
        pytest.param("- " * 5_000 + "x", id="lists in one line"),
        pytest.param("\n".join(" " * level + "a:" for level in range(1_000)), id="mappings"),
        pytest.param(
            "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 1_000)),
            id="nested through aliases",
        ),
    ],
)
def test_nesting_without_end_is_refused(text: str) -> None:
    (_, problem), *others = problems(text)

    assert problem.endswith(": lists and mappings are nested more than 100 levels deep")
    assert not others


def test_reasonable_nesting_is_read() -> None:
    assert problems("[" * MAX_NESTING + "]" * MAX_NESTING) == []
    assert len(problems("[" * (MAX_NESTING + 1) + "]" * (MAX_NESTING + 1))) == 1


@pytest.mark.parametrize("escape", ["\\U00110000", "\\UFFFFFFFF"])
def test_an_escape_beyond_unicode_is_a_problem(escape: str) -> None:
    assert [number for number, _ in problems(f'a: "{escape}"\n---\nb: 1\n')] == [1]
