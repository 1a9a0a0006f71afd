"""A component configuration of three sections: everything about a field follows from its declaration."""

from datetime import timedelta
from typing import Any

import pytest

from hedgerow.machinery.configuration.reading import Stage, decode, document_schema
from hedgerow.machinery.configuration.section import Purpose
from tests.unit.core.machinery.configuration.greenhouse import HEAD, Bed, Greenhouse, Irrigation


def decoded(purpose: Purpose = Purpose.RUN, **sections: Any) -> Any:
    return decode(Greenhouse, {**HEAD, **sections}, purpose)


def errors(purpose: Purpose = Purpose.RUN, **sections: Any) -> list[str]:
    return [str(error) for error in decoded(purpose, **sections).failure().errors]


def test_an_empty_document_is_the_class_with_its_defaults() -> None:
    assert decoded().unwrap().configuration == Greenhouse()
    assert decoded(logLevel="", irrigation=None).unwrap().configuration == Greenhouse()


def test_every_field_is_read_under_its_name_and_printed_again() -> None:
    document: dict[str, Any] = {
        "irrigation": {"enabled": True, "period": "1h0m0s", "pumps": 3},
        "logLevel": "debug",
        "temperature": 18.5,
        "owners": ["rose"],
        "music": False,
        "beds": [{"plant": "fern", "tags": {"light": "little"}}],
    }

    configuration = decoded(**document).unwrap().configuration

    assert configuration.irrigation.period == timedelta(hours=1)
    assert configuration.warmth == 18.5
    assert configuration.beds == (Bed(plant="fern", tags={"light": "little"}),)
    assert configuration.manifest() == {**HEAD, **document}


def test_an_enabled_section_gets_more_defaults_than_a_disabled_one() -> None:
    enabled = decoded(irrigation={"enabled": True}).unwrap().configuration.irrigation

    assert enabled == Irrigation(enabled=True, period=timedelta(hours=6), pumps=2)
    assert decoded().unwrap().configuration.manifest()["irrigation"] == {"enabled": False}


def test_a_disabled_section_is_checked_only_offline_and_there_not_for_the_pace_of_a_process() -> None:
    broken = {"period": "0s", "pumps": 0}

    assert decoded(irrigation=broken).unwrap().warnings == ()
    assert errors(Purpose.OFFLINE, irrigation=broken) == [
        "irrigation.period: Invalid value: 0s: must be greater than zero"
    ]
    assert errors(irrigation={"enabled": True, **broken}) == [
        "irrigation.period: Invalid value: 0s: must be greater than zero",
        "irrigation.pumps: Invalid value: 0: must be at least 1",
    ]


def test_values_of_wrong_types_are_told_all_at_once_and_before_any_rule() -> None:
    wrong = decoded(
        irrigation={"pumps": 128, "period": 5}, temperature=10**400, beds=[{"tags": {1: 2}}, 3], logLevel="x"
    )

    assert wrong.failure().stage is Stage.DECODING
    assert [str(error) for error in wrong.failure().errors] == [
        'irrigation.period: expected a duration such as "1h30m0s", got an integer: 5',
        "irrigation.pumps: expected an integer of 8 bits, got 128",
        f"temperature: expected a number of 64 bits, got 1{99 * '0'}…",
        "beds[0].tags[1]: expected a string as key, got an integer: 1",
        "beds[1]: expected an object, got an integer: 3",
    ]


def test_another_spelling_is_read_warned_of_and_refused_beside_the_first() -> None:
    answer = decoded(owner="rose").unwrap()

    assert answer.configuration.owners == ("rose",)
    assert answer.warnings == ("owner: is an alias of owners",)
    assert errors(owner="rose", owners=["lily"]) == ["owner: Forbidden: must not be set together with owners"]
    assert errors(owner=5) == ["owner: expected a string, got an integer: 5"]


@pytest.mark.parametrize(
    ("sections", "error"),
    [
        ({"ownrs": []}, "ownrs: Invalid value: is an unknown field; did you mean owners?"),
        ({"bets": []}, "bets: Invalid value: is an unknown field; did you mean beds?"),
        ({"beds": [{"plant": "fern", "soil": 1}]}, "beds[0].soil: Invalid value: is an unknown field"),
    ],
)
def test_an_unknown_field_is_an_error_where_it_may_be_a_limit_or_its_section_is_strict(
    sections: dict[str, Any], error: str
) -> None:
    assert errors(**sections) == [error]


def test_other_unknown_fields_and_those_without_effect_are_warnings() -> None:
    assert decoded(music=True, irigation={"enabled": True}, roof=None).unwrap().warnings == (
        "irigation: unknown field, ignored; did you mean irrigation?",
        "roof: unknown field, ignored",
        "music: this field is not acted on in this version",
    )


def test_the_schema_states_types_and_which_spellings_exclude_each_other() -> None:
    schema = document_schema(Greenhouse)

    assert schema["required"] == ["apiVersion", "kind"]
    assert schema["properties"]["apiVersion"] == {"const": "example.com/v1"}
    assert schema["properties"]["irrigation"] == {
        "type": ["object", "null"],
        "properties": {
            "enabled": {"type": ["boolean", "null"]},
            "period": {"type": ["string", "null"]},
            "pumps": {"type": ["integer", "null"]},
        },
    }
    assert schema["properties"]["beds"]["items"]["additionalProperties"] is False
    assert schema["properties"]["owner"] == {"type": ["string", "null"]}
    assert schema["properties"]["owners"] == {"type": ["array", "null"], "items": {"type": "string"}}
    assert schema["properties"]["beds"]["items"]["properties"]["tags"] == {
        "type": ["object", "null"],
        "additionalProperties": {"type": "string"},
    }
    stated = {"not": {"type": "null"}}
    assert schema["allOf"] == [
        {
            "not": {
                "type": "object",
                "required": ["owners", "owner"],
                "properties": {"owners": stated, "owner": stated},
            }
        }
    ]


@pytest.mark.parametrize(("pumps", "fits"), [(0, True), (127, True), (128, False), (-128, True), (-129, False)])
def test_an_integer_has_no_more_bits_than_its_field(pumps: int, *, fits: bool) -> None:
    told = errors(Purpose.OFFLINE, irrigation={"pumps": pumps, "period": "0s"})

    assert (f"irrigation.pumps: expected an integer of 8 bits, got {pumps}" in told) is not fits
