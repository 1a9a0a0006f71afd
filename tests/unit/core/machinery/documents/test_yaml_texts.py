"""How values are written as YAML."""

import pytest

from hedgerow.machinery.documents.yaml_texts import sorted_yaml


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("word", "word"),
        ("a: b", "'a: b'"),
        (" blanks ", "' blanks '"),
        ("", '""'),
        ("=", "="),
        ("a=b", "a=b"),
        ("yes", '"yes"'),
        ("y", '"y"'),
        ("null", '"null"'),
        ("1e3", '"1e3"'),
        ("0o17", '"0o17"'),
        ("12:30", '"12:30"'),
        ("2020-01-01", '"2020-01-01"'),
        ("<<", "'<<'"),
        ("*", "'*'"),
        ("!", "'!'"),
        ("&", "'&'"),
        ("*.example.com", "'*.example.com'"),
        ("1.2.3", "1.2.3"),
        ("-a", "-a"),
        ("tab\there", '"tab\\there"'),
        ("a\rb", '"a\\rb"'),
        ("one\ntwo", "|-\n  one\n  two"),
        ("word " * 30 + "end", "word " * 30 + "end"),
    ],
)
def test_texts_are_quoted_as_the_writers_of_kubernetes_quote_them(text: str, written: str) -> None:
    assert sorted_yaml({"key": text}) == f"key: {written}\n"


def test_keys_are_sorted_and_lists_stand_below_them() -> None:
    value = {"b": [1, {"d": None, "c": True}], "a": {}, "2": 1.5}

    assert sorted_yaml(value) == '"2": 1.5\na: {}\nb:\n- 1\n- c: true\n  d: null\n'


def test_what_occurs_twice_is_written_twice() -> None:
    shared = {"a": "b"}

    assert sorted_yaml({"x": shared, "y": shared}) == 'x:\n  a: b\n"y":\n  a: b\n'
