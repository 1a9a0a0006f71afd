"""What the annotations of a section declare."""

from collections.abc import Mapping
from dataclasses import field
from datetime import timedelta
from typing import Annotated

import pytest

from hedgerow.machinery.configuration.rules import at_least
from hedgerow.machinery.configuration.section import (
    IDLE,
    LIMIT,
    Alias,
    Bits,
    Named,
    Purpose,
    Section,
    SectionField,
    Switched,
    WhenEnabled,
)


def declared_in(section: type[Section]) -> dict[str, SectionField]:
    return {each.attribute: each for each in section.declared}


def test_a_field_without_marks_has_the_name_of_its_attribute_in_camel_case_and_64_bits() -> None:
    class Pump(Section):
        litres_per_hour: int = 5

    assert declared_in(Pump) == {
        "litres_per_hour": SectionField(
            attribute="litres_per_hour",
            name="litresPerHour",
            value_type=int,
            item_type=int,
            default=5,
            default_when_enabled=5,
            marks=[],
            rules=[],
            aliases=[],
            bits=64,
        )
    }


def test_marks_declare_the_rest() -> None:
    old, at_least_one = Alias("pumpCount", "An older name"), at_least(1)

    class Pump(Switched):
        count: Annotated[int | None, Named("pumps"), old, Bits(8), at_least_one, WhenEnabled(2)] = None

    assert declared_in(Pump)["count"] == SectionField(
        attribute="count",
        name="pumps",
        value_type=int,
        item_type=int,
        default=None,
        default_when_enabled=2,
        marks=[Named("pumps"), old, Bits(8), at_least_one, WhenEnabled(2)],
        rules=[at_least_one],
        aliases=[old],
        bits=8,
    )


def test_a_list_has_a_type_of_items_and_a_default_may_be_made() -> None:
    class Pump(Section):
        places: tuple[str, ...] = ()
        tags: Mapping[str, str] = field(default_factory=lambda: {"a": "b"})

    places, tags = Pump.declared

    assert (places.value_type, places.item_type) == (tuple[str, ...], str)
    assert (tags.item_type, tags.default) == (Mapping[str, str], {"a": "b"})


def test_a_section_with_a_limit_somewhere_below_is_a_limit() -> None:
    class Door(Section):
        owner: Annotated[str, LIMIT] = ""
        colour: str = ""

    class Strict(Section):
        is_strict = True

    class House(Section):
        door: Door = Door()
        doors: tuple[Door, ...] = ()
        strict: Strict = Strict()
        number: int = 0

    assert {name: each.is_limit for name, each in declared_in(House).items()} == {
        "door": True,
        "doors": True,
        "strict": True,
        "number": False,
    }
    assert {name: each.is_limit for name, each in declared_in(Door).items()} == {"owner": True, "colour": False}
    assert [each.section for each in House.declared] == [Door, Door, Strict, None]


class Lamp(Section):
    """One lamp."""

    watts: Annotated[int, at_least(1), IDLE] = 5
    hours: Annotated[timedelta, at_least(timedelta(hours=1))] = timedelta(hours=2)


class Room(Section):
    """A room with lamps."""

    lamps: tuple[Lamp, ...] = ()
    ceiling: Lamp = Lamp()


DARK = Lamp(watts=0, hours=timedelta(0))


def test_errors_and_warnings_name_the_place_of_a_section_and_come_in_the_order_of_the_fields() -> None:
    room = Room(lamps=(Lamp(), DARK), ceiling=DARK)

    assert [str(each) for each in room.problems("room", Purpose.RUN)] == [
        "room.lamps[1].watts: Invalid value: 0: must be at least 1",
        "room.lamps[1].hours: Invalid value: 0s: must be at least 1h0m0s",
        "room.ceiling.watts: Invalid value: 0: must be at least 1",
        "room.ceiling.hours: Invalid value: 0s: must be at least 1h0m0s",
    ]
    assert [*room.warnings("", Purpose.RUN)] == [
        "lamps[1].watts: this field is not acted on in this version",
        "ceiling.watts: this field is not acted on in this version",
    ]


def test_a_field_tells_the_first_rule_that_it_breaks_and_only_fields_that_are_asked_for_are_checked() -> None:
    class Pump(Section):
        count: Annotated[int, at_least(1), at_least(2)] = 0
        depth: Annotated[int, at_least(1)] = 0

    assert [str(each) for each in Pump().field_problems("pump", Purpose.RUN, "count")] == [
        "pump.count: Invalid value: 0: must be at least 1"
    ]


@pytest.mark.parametrize(("period", "printed"), [(timedelta(hours=1), "1h0m0s"), (timedelta(0), "0s")])
def test_a_printed_section_holds_what_documents_hold(period: timedelta, printed: str) -> None:
    class Pump(Switched):
        period: timedelta | None = None
        warmth: float = 0.5
        speed: float = 2.0
        names: tuple[str, ...] = ("a",)
        tags: Mapping[str, str] = field(default_factory=dict)
        lamp: Lamp = Lamp()

    document = Pump(period=period).manifest()

    assert document == {
        "enabled": False,
        "period": printed,
        "warmth": 0.5,
        "speed": 2,
        "names": ["a"],
        "tags": {},
        "lamp": {"watts": 5, "hours": "2h0m0s"},
    }
    assert type(document["speed"]) is int
    assert "period" not in Pump().manifest()
