"""Several documents in one text: how they are told apart, what each of them means, and what is wrong with it."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from hedgerow.machinery.documents import budget as budgets
from hedgerow.machinery.documents import streams, yaml_texts
from hedgerow.machinery.documents.budget import MOST_DOCUMENTS, ReadingBudget, finished
from hedgerow.machinery.documents.document import MAX_NESTING, Document, plain_value
from hedgerow.machinery.documents.streams import documents_in_slices, stream_documents

CONVERTING = "error converting YAML to JSON: "
NOT_AN_OBJECT = "json: cannot unmarshal {} into Go value of type map[string]interface {{}}"

PARSERS = ["compiled parser", "pure Python parser"]


@pytest.fixture(params=PARSERS)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "pure Python parser":
        monkeypatch.setattr(yaml_texts, "_Parser", yaml.SafeLoader)


def read_by(parser_class: Any, text: str) -> tuple[Document, ...]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml_texts, "_Parser", parser_class)
        return stream_documents(text)


def read(text: str) -> list[Any]:
    """The value of each document, or the text of what is wrong with it."""
    return [document.problems[0] if document.problems else document.value for document in stream_documents(text)]


def test_the_first_character_says_which_format_it_is() -> None:
    assert read(' \n\t{"a": 1}{"a": 2}') == [{"a": 1}, {"a": 2}]
    assert read(f"{' ' * 1024}{{a: 1}}") == [{"a": 1}]
    assert read("{a: 1}") == ["json: offset 1: expecting property name enclosed in double quotes"]


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param("a: 1\n---\nb: 2\n", [{"a": 1}, {"b": 2}], id="two"),
        pytest.param("---\na: 1\n---\nb: 2", [{"a": 1}, {"b": 2}], id="separator at the beginning"),
        pytest.param("a: 1\n---\n---\nb: 2\n---", [{"a": 1}, {"b": 2}], id="separator twice after a document"),
        pytest.param("---\n---\nb: 2\n", [None, {"b": 2}], id="separator twice at the beginning"),
        pytest.param("a: 1\n--- # two\nb: 2\n", [{"a": 1}, {"b": 2}], id="separator with a comment"),
        pytest.param("a: |\n  b\n---\nc: |\n  d", [{"a": "b\n"}, {"c": "d\n"}], id="no end of the last line"),
        pytest.param("a: 1\r\n---\r\nb: 2\r\n", [{"a": 1}, {"b": 2}], id="lines as on Windows"),
        pytest.param("# no\n\n---\nnull\n---\n~\n---\na: 1\n", [None, None, None, {"a": 1}], id="empty documents"),
        pytest.param('\n---\n{"a":1}\n---\n{"b":{"c":[]}}', [None, {"a": 1}, {"b": {"c": []}}], id="JSON in YAML"),
        pytest.param("a: |\n  b\n  ---\n", [{"a": "b\n---\n"}], id="no separator, for it is indented"),
        pytest.param("b: 1\n--- oops\na: 1", ["invalid Yaml document separator: oops", {"a": 1}], id="text behind"),
        pytest.param("----\na: 1", ["invalid Yaml document separator: -", {"a": 1}], id="a hyphen too many"),
        pytest.param("a: 1\r---\rb: 2", [f"{CONVERTING}line 1: documents that no line --- tells apart"], id="returns"),
        pytest.param(
            "- a", [f"error unmarshaling JSON: while decoding JSON: {NOT_AN_OBJECT.format('array')}"], id="list"
        ),
        pytest.param(
            "1.5", [f"error unmarshaling JSON: while decoding JSON: {NOT_AN_OBJECT.format('number')}"], id="no."
        ),
        pytest.param(
            "y", [f"error unmarshaling JSON: while decoding JSON: {NOT_AN_OBJECT.format('bool')}"], id="boolean"
        ),
        pytest.param(
            "a", [f"error unmarshaling JSON: while decoding JSON: {NOT_AN_OBJECT.format('string')}"], id="text"
        ),
    ],
)
def test_lines_tell_the_documents_of_yaml_apart(text: str, expected: list[Any]) -> None:
    assert read(text) == expected


@pytest.mark.usefixtures("parser")
def test_a_broken_document_costs_only_itself() -> None:
    first, second, third = read("a: 1\n---\nfoo: [\n---\nb: 2\n")

    assert (first, third) == ({"a": 1}, {"b": 2})
    assert second.startswith(f"{CONVERTING}line 4: ")
    assert [type(each) for each in read("---\n\n---\nfoo: [")] == [type(None), str]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param('{"a":1} {"b":2}\n', [{"a": 1}, {"b": 2}], id="two"),
        pytest.param('{"a":9007199254740993}', [{"a": 9007199254740993}], id="integers stay integers"),
        pytest.param('{"a":1.0}', [{"a": 1}], id="whole number with a fraction"),
        pytest.param('{"a":9223372036854775808}', [{"a": 2.0**63}], id="no integer of 64 bits"),
        pytest.param(
            f'{{"a":{400 * "9"}}}',
            ["json: offset 0: a number does not fit a 64-bit integer (quote it if it is a text)"],
            id="no float either",
        ),
        pytest.param('{"a":1,"a":2}', [{"a": 2}], id="the last of equal keys"),
        pytest.param('{"apiVersion":"v1",', ["unexpected EOF"], id="cut off after an entry"),
        pytest.param('{"a":"v', ["unexpected EOF"], id="cut off in a text"),
        pytest.param('{"a":tru', ["unexpected EOF"], id="cut off in a word"),
        pytest.param(
            '{"ä":1}{b}{"c":1}',
            [{"ä": 1}, "json: offset 9: expecting property name enclosed in double quotes"],
            id="broken",
        ),
        pytest.param('{"a":1}[2]{"b":3}', [{"a": 1}, NOT_AN_OBJECT.format("array"), {"b": 3}], id="no object"),
        pytest.param(
            '{"a":NaN}{"b":1}', ["json: offset 0: NaN is not a number that JSON knows", {"b": 1}], id="no number"
        ),
        pytest.param(
            '{"a":"\\ud800"}', ["an escape such as \\ud800 stands for half a character"], id="half a character"
        ),
    ],
)
def test_json_values_follow_one_another_up_to_the_first_broken_one(text: str, expected: list[Any]) -> None:
    found = read(text)

    assert found == expected
    assert [type(each) for each in found] == [type(each) for each in expected]


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *[(word, True) for word in ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"]],
        *[(word, False) for word in ["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"]],
        *[(word, None) for word in ("", "~", "null", "Null", "NULL")],
        *[("0777", 511), ("0o17", 15), ("0x1F", 31), ("0b11", 3), ("1_000", 1000)],
        *[("08", 8), ("1e3", 1000), (".5", 0.5), ("1.", 1), ("1.5", 1.5)],
        *[("9223372036854775808", 2.0**63), ("0xffffffffffffffff", 2.0**64), ("1_" + 24 * "0", 1e24)],
        *[("0" + 24 * "7", float(24 * "7")), ("0o" + 24 * "7", "0o" + 24 * "7"), ("0x1" + 16 * "0", "0x1" + 16 * "0")],
        *[(400 * "9", 400 * "9"), (5000 * "9", 5000 * "9")],
        *[(text, text) for text in ("2026-01-31", "2026-01-31T00:00:00Z", "12:30:45", "22:22", "1.2.3", "yEs")],
        *[("{1: a, true: b, 1.5: c}", {"1": "a", "true": "b", "1.5": "c"})],
        *[("{a: 1, a: 2}", {"a": 2})],
        *[("{<<: {a: 1, b: 1}, b: 2}", {"a": 1, "b": 2})],
        *[('! "1"', "1"), ("! 1", "1"), ("!", "")],
        *[("[&x {a: 1}, *x]", [{"a": 1}, {"a": 1}])],
    ],
)
def test_values_mean_what_they_mean_to_kubernetes(text: str, expected: object) -> None:
    (found,) = read(f"v: {text}\n")

    assert found == {"v": expected}
    assert type(found["v"]) is type(expected)


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    "value",
    [
        ".nan",
        "-.inf",
        "!!binary eA==",
        "!!set {a}",
        "{null: 1}",
        "{[a]: 1}",
        f"!!int {20 * '9'}",
        f"{{{20 * '9'}: 1}}",
        "*a",
        "\x07",
    ],
)
def test_what_json_cannot_say_is_an_error_of_its_document(value: str) -> None:
    broken, kept = read(f"v: {value}\n---\na: 1\n")

    assert broken.startswith(f"{CONVERTING}line 1: ")
    assert kept == {"a": 1}


@pytest.mark.usefixtures("parser")
def test_of_several_mistakes_the_first_is_told() -> None:
    mistake = f"{CONVERTING}line 1: a value is not a number that JSON knows"

    assert read("a: .nan\n---\na: .nan\nb: .nan\n---\na: .nan\nb: .nan\nc: .inf") == [
        mistake,
        f"{mistake.replace('line 1', 'line 3')} (and 1 more)",
        f"{mistake.replace('line 1', 'line 6')} (and 2 more)",
    ]


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: *b", "an alias has no anchor"),
        ("a: &b [*b]", "an alias stands within the value that it stands for"),
        ("[1]: a", "a key must be a text, not null, a list or a mapping"),
        ("<<: 1", "the merge key << takes a mapping or a list of mappings"),
        ("a: !!int b", "a value is not a !!int"),
        ("a: !!int true", "a value is not a !!int"),
        ("a: !b c", "a tag is not one that Kubernetes reads"),
        ("a: !b [c]", "a tag is not one that Kubernetes reads"),
        ("a: !!map [c]", "a tag is not one that Kubernetes reads"),
    ],
)
def test_what_kubectl_refuses_is_told_with_its_line(text: str, problem: str) -> None:
    assert read(f"# about\n{text}") == [f"{CONVERTING}line 2: {problem}"]


@pytest.mark.usefixtures("parser")
def test_tags_and_keys_are_read_as_kubectl_reads_them() -> None:
    assert read("a: !!int 1\nb: !!bool yes\nc: !!str 1\nd: ! 1\ne: !!seq [1]\nf: !!map {g: 1}\ng: ! [1]") == [
        {"a": 1, "b": True, "c": "1", "d": "1", "e": [1], "f": {"g": 1}, "g": [1]}
    ]
    assert read("true: 1\nno: 2\n1: 3\n1.5: 4") == [{"true": 1, "false": 2, "1": 3, "1.5": 4}]


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n"
            + "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]\n" for n in range(1, 60)),
            id="aliases that multiply lists",
        ),
        pytest.param(f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 9_000)}]\n", id="aliases of a long text"),
        pytest.param("[" * 100_000, id="lists in lists"),
        pytest.param("\n".join(" " * level + "a:" for level in range(1_000)), id="mappings in mappings"),
        pytest.param("---\n" + '{"a":' * 50_000 + "1" + "}" * 50_000, id="JSON in YAML"),
        pytest.param('{"a":' * 50_000 + "1" + "}" * 50_000, id="objects in objects"),
    ],
)
def test_what_is_small_and_means_to_be_endless_is_one_error(text: str) -> None:
    (document,) = stream_documents(text)

    assert "reason" in document.problems[0] or str(MAX_NESTING) in document.problems[0]


def test_texts_of_errors_are_bounded() -> None:
    (document, _) = stream_documents(f"--- {'x' * 100_000}\na: 1")

    assert len(document.problems[0]) < 500


def read_within(text: str, budget: ReadingBudget) -> list[Any]:
    return [each.problems[0] if each.problems else each.value for each in finished(documents_in_slices(text, budget))]


@pytest.mark.parametrize(
    ("text", "budget", "limit"),
    [
        pytest.param("a: 1\n---\na: 2\n", {"documents": 1}, "more than 1 documents", id="YAML documents"),
        pytest.param("{}{}", {"documents": 1}, "more than 1 documents", id="JSON documents"),
        pytest.param("---\n{}\n---\n{}\n", {"documents": 1}, "more than 1 documents", id="JSON documents in YAML"),
        pytest.param("--- x\n" * 2, {"documents": 1}, "more than 1 documents", id="separators that are none"),
        pytest.param("a: [1]\n---\nb: [1, 2]\n", {"nodes": 8}, "more than 8 values", id="YAML values"),
        pytest.param('{"a": [1]}{"b": [1, 2]}', {"nodes": 8}, "more than 8 values", id="JSON values"),
        pytest.param("a: &a [1, 2]\nb: [*a, *a]\n", {"nodes": 10}, "more than 10 values", id="aliases"),
        pytest.param("a: &a {b: 1}\nc: {<<: *a}\n", {"nodes": 7}, "more than 7 values", id="merges"),
        pytest.param(f"a: {'x' * 1000}\n", {"nodes": 10}, "more than 10 values", id="a long text"),
    ],
)
def test_so_much_is_read_and_no_more(text: str, budget: dict[str, int], limit: str) -> None:
    enough = {name: most * 2 for name, most in budget.items()}
    assert read_within(text, ReadingBudget(**enough)) == read(text)

    budgeted = ReadingBudget(**budget)
    *before, last = read_within(text, budgeted)
    assert before == read(text)[: len(before)]
    assert last == budgeted.exceeded == limit


def test_whole_texts_end_with_the_limit_that_they_exceed() -> None:
    assert read("{}" * (MOST_DOCUMENTS + 1))[-2:] == [{}, f"more than {MOST_DOCUMENTS} documents"]


@pytest.mark.parametrize("text", ["a: [1, 2, 3, 4]\n---\nb: 1\n", '---\n{"a": [1, 2, 3, 4]}\n---\nb: 1\n'])
def test_a_document_with_too_many_values_costs_only_itself(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "_SHORT", -1)

    first, second = read_within(text, ReadingBudget(nodes_of_a_document=5))

    assert first.endswith("more than 5 values in one document")
    assert second == {"b": 1}


def test_a_yaml_document_that_is_too_long_costs_only_itself() -> None:
    first, second = read_within("a: 0123456\n---\nb: 1\n", ReadingBudget(text_of_a_document=10))

    assert first.endswith("more than 10 characters in one document")
    assert second == {"b": 1}


def test_a_document_may_be_as_large_as_any_that_an_api_server_stores() -> None:
    items = ",".join('"' + "x" * 20 + '"' for _ in range(60_000))

    assert read(f'{{"a": [{items}]}}')[0]["a"][-1] == "x" * 20


MARKS = st.text(st.sampled_from("ab01.-:,&*!'\"|>#%[]{}<~ \n\t\r\\u"), max_size=40)
PIECES = st.lists(
    st.sampled_from([
        "---", "---\n", "\n---\n", "--- x\n", "# c\n", "{", "}", "[", "]", ",", ":", '"a"', "1", "-1.5e3", "NaN",
        '"\\ud800"', "\n", " ", "\r\n", "a: 1\n", "- ", "  ", '{"a":1}', '{"a":[1,{"b":2}]}', "\x00", "---#x\n", "tru",
    ]),
    max_size=14,
).map("".join)  # fmt: skip


@example('{"a" 1}', 1)
@example('{"a":true,"b":NaN}', 1)
@given(MARKS | PIECES, st.sampled_from([1, 3, 7]))
def test_the_sizes_of_slices_make_no_difference(text: str, size: int) -> None:
    whole = stream_documents(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(budgets, "SLICE", 1)
        patch.setattr(streams, "_SHORT", -1)
        patch.setattr(streams, "_LINES_AT_ONCE", max(2, size))  # the end of a line has two characters
        for module in (streams, budgets):
            patch.setattr(module, "SEARCHED_AT_ONCE", size)
        sliced = stream_documents(text)

    assert repr(sliced) == repr(whole)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a:\n" + "- {b: 1}\n" * 5_000, id="YAML values"),
        pytest.param('{"a": [' + "[], " * 20_000 + "1]}", id="JSON values"),
        pytest.param("\n" * 2_000_000, id="empty lines"),
        pytest.param("--\n" * 1_000_000, id="half separators"),
        pytest.param("---\n" * 4_500, id="separators"),
        pytest.param("# comment\n" * 200_000, id="comments"),
        pytest.param("{}\n" * 4_500, id="documents"),
        pytest.param('{"a": "' + "x" * 2_000_000 + '\\ud800"}', id="a long text"),
    ],
)
def test_what_takes_long_is_read_in_many_slices(text: str) -> None:
    budget, slices = ReadingBudget(), 0
    for _ in documents_in_slices(text, budget):
        slices += 1

    assert slices >= 9


@pytest.mark.parametrize("text", [" " * 2_000_000, "---" + " " * 2_000_000 + "a", " " * 2_000_000 + "# comment"])
def test_blanks_are_searched_for_content_in_slices_however_long_the_line(text: str) -> None:
    slices = sum(1 for _ in streams._has_content(text, ReadingBudget()))

    assert slices >= 9


def test_a_line_end_that_is_cut_between_slices_is_still_blank() -> None:
    blank = " " * (streams._LINES_AT_ONCE - 1) + "\r\n"

    assert not finished(streams._has_content(blank, ReadingBudget()))
    assert finished(streams._has_content(f"{blank}a", ReadingBudget()))


class Dumper(yaml.SafeDumper):
    """Quotes what is no text to Kubernetes."""


def _quoted_where_needed(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if plain_value(text) == text else '"')


Dumper.add_representer(str, _quoted_where_needed)


CANARY = "hunter2"


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    "text",
    [
        *[
            f"p: {mark}{CANARY}"
            for mark in ("*", "!", "!!", "!!int ", "!a!", "@", "`", "%", "&a *", "&", "[*", "? *", '"\\')
        ],
        *[
            f"p: !<{CANARY}> x",
            f"p: !{CANARY}!x y",
            f"p: '{CANARY}",
            f"p: {CANARY}: x",
            f"p: {CANARY}\n  q: x",
            f"p: |{CANARY}",
            f"p: >9{CANARY}",
        ],
        *[
            f"a: b\n{CANARY}\nc: d",
            f"%TAG !{CANARY}! x\n%TAG !{CANARY}! x\n---\n{{}}",
            f"%{CANARY}\n",
            CANARY,
            f"- {CANARY}",
        ],
        *[
            f'{{"p": "{CANARY}}}',
            f'{{"p": {CANARY}}}',
            f'{{"p": "\\{CANARY}"}}',
            f'{{"p": "{CANARY}\n"}}',
            f'["{CANARY}"]',
        ],
        *[f'{{"p": "x" "{CANARY}"}}', f'{{"a": 1}} {CANARY}', f'{{"a": 1}} "{CANARY}"'],
    ],
)
def test_no_value_is_repeated_in_what_is_said_of_it(text: str) -> None:
    for document in stream_documents(f"{text}\n"):
        assert CANARY not in "".join(document.problems)


@pytest.mark.parametrize("text", [f"p: !!int {20 * '9'}", f'{{"p": {400 * "9"}}}', f'{{"p": {20 * "9"}e999}}'])
def test_no_number_is_repeated_in_what_is_said_of_it(text: str) -> None:
    (document,) = stream_documents(text)

    assert document.problems
    assert "99" not in document.problems[0]


def dumped(manifest: Any, *, flow: bool) -> str:
    return yaml.dump(manifest, Dumper=Dumper, default_flow_style=flow, allow_unicode=True)


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\x85\u2028\u2029\ufffe\uffff"))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.sampled_from([0.5, -1.25, 1e-7]) | TEXTS,
    lambda values: st.lists(values, max_size=4) | st.dictionaries(TEXTS, values, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, min_size=1, max_size=4)


@given(
    st.lists(OBJECTS, min_size=1, max_size=4),
    st.sampled_from(["block", "flow"]),
    st.sampled_from([yaml.CSafeLoader, yaml.SafeLoader]),
)
def test_what_is_written_is_read_again(objects: list[Any], style: str, parser_class: Any) -> None:
    text = "---\n".join(dumped(each, flow=style == "flow") for each in objects)

    found = read_by(parser_class, f"# YAML\n{text}")

    assert found == tuple(Document(each) for each in objects)


@given(st.lists(OBJECTS, min_size=1, max_size=4), st.sampled_from(["", "\n", " \t\r\n"]))
def test_a_stream_of_json_is_read_again(objects: list[Any], between: str) -> None:
    assert stream_documents(between.join(map(json.dumps, objects))) == tuple(Document(each) for each in objects)


@given(OBJECTS)
def test_json_means_the_same_in_a_stream_of_yaml(manifest: Any) -> None:
    assert stream_documents(f"---\n{json.dumps(manifest)}\n") == (Document(manifest),)


@given(st.text(st.sampled_from("ab01.-:,&*!'\"|>#%[]{}<~ \n\t\\u"), max_size=40))
def test_the_pure_python_parser_reads_the_same_or_refuses_it(text: str) -> None:
    compiled, pure = read_by(yaml.CSafeLoader, f"\n{text}"), read_by(yaml.SafeLoader, f"\n{text}")

    assert len(compiled) == len(pure)
    for one, other in zip(compiled, pure, strict=True):
        assert other.problems or one == other


@given(st.text())
def test_any_text_is_read_to_its_end(text: str) -> None:
    for document in stream_documents(text):
        assert document.value is None or isinstance(document.value, dict)
        assert len(document.problems) <= 1
