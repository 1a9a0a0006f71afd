"""What each rule says of a value, and in the documentation."""

from datetime import timedelta
from typing import Any

from hedgerow.machinery.configuration.rules import (
    at_least,
    between,
    each_set,
    labels,
    longer_than_zero,
    must_be_set,
    one_of,
    valid,
)
from hedgerow.machinery.configuration.section import Rule

MINUTE = timedelta(minutes=1)


def errors(rule: Rule, value: Any) -> list[str]:
    return [str(problem) for problem in rule.errors("field", value)]


def shouted(text: str) -> str | None:
    return None if text.isupper() else "must be upper case"


def test_a_value_may_be_the_least_and_may_be_unset() -> None:
    rule = at_least(2)

    assert errors(rule, 1) == ["field: Invalid value: 1: must be at least 2"]
    assert errors(rule, 2) == errors(rule, None) == []
    assert (rule.says, rule.only_if_enabled) == ("At least 2.", False)


def test_the_least_may_have_another_text_and_hold_only_where_a_section_is_enabled() -> None:
    rule = at_least(MINUTE, "must not be short", only_if_enabled=True)

    assert errors(rule, timedelta(0)) == ["field: Invalid value: 0s: must not be short"]
    assert (rule.says, rule.only_if_enabled) == ("At least 1m0s.", True)


def test_a_value_may_be_the_least_or_the_most() -> None:
    rule = between(1, 3)

    assert errors(rule, 0) == ["field: Invalid value: 0: must be between 1 and 3"]
    assert errors(rule, 4) == ["field: Invalid value: 4: must be between 1 and 3"]
    assert errors(rule, 1) == errors(rule, 3) == errors(rule, None) == []
    assert rule.says == "At most 3."


def test_a_duration_is_longer_than_zero() -> None:
    rule = longer_than_zero()

    assert errors(rule, timedelta(0)) == ["field: Invalid value: 0s: must be greater than zero"]
    assert errors(rule, timedelta(microseconds=1)) == errors(rule, None) == []
    assert (rule.says, longer_than_zero("").says) == ("Longer than 0.", "")


def test_a_text_is_one_of_those_that_there_are() -> None:
    rule = one_of(("a", "b"))

    assert errors(rule, "c") == ['field: Unsupported value: "c": supported values: "a", "b"']
    assert errors(rule, "b") == []
    assert rule.says == "One of `a`, `b`."


def test_a_value_that_must_be_set_is_not_the_empty_text_but_may_be_zero() -> None:
    rule = must_be_set("must have a name")

    assert errors(rule, None) == errors(rule, "") == ["field: Required value: must have a name"]
    assert errors(rule, "name") == errors(rule, 0) == []
    assert (rule.says, must_be_set("", "Has a name.").says) == ("Must be set.", "Has a name.")


def test_a_text_that_is_not_valid_is_told_at_its_field_or_its_place_in_a_list() -> None:
    rule = valid(shouted)

    assert errors(rule, "shop") == ['field: Invalid value: "shop": must be upper case']
    assert errors(rule, ("SHOP", "till", "")) == [
        'field[1]: Invalid value: "till": must be upper case',
        'field[2]: Invalid value: "": must be upper case',
    ]
    assert errors(rule, "SHOP") == errors(rule, ("SHOP", "TILL")) == errors(rule, None) == []
    assert rule.says == ""


def test_an_empty_text_may_be_valid() -> None:
    rule = valid(shouted, may_be_empty=True)

    assert errors(rule, "") == []
    assert errors(rule, ("", "till")) == ['field[1]: Invalid value: "till": must be upper case']


def test_every_empty_text_of_a_list_is_told() -> None:
    assert errors(each_set("must have a name"), ("", "a", "")) == [
        "field[0]: Required value: must have a name",
        "field[2]: Required value: must have a name",
    ]


def test_the_error_of_a_label_key_is_at_the_map_and_that_of_a_value_at_its_key() -> None:
    found = list(labels().errors("field", {"a b": "fine", "example.com/team": "", "team": "b c"}))

    assert [(each.path, each.text.split(":")[0]) for each in found] == [("field", '"a b"'), ("field.team", '"b c"')]
