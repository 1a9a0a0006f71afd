"""The page about the component configuration says what the types say, and what they say of limits is true."""

import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from returns.result import Failure

from hedgerow.resource_manager.configuration import ResourceManagerConfiguration, decode
from hedgerow_entrypoints.cli.config import FieldDescription, configuration_fields

REPOSITORY: Final = Path(__file__).parents[3]
PAGE: Final = REPOSITORY / "docs" / "configuration.md"
COMPLETE: Final = REPOSITORY / "examples" / "resource-manager-complete.yaml"
MADE: Final = "--update-golden -->\n"
OTHER_NAME: Final = re.compile(r"^(Another|An older) (spelling|name) of ")
DOCUMENT: Final = yaml.load(COMPLETE.read_text(encoding="utf-8"), yaml.CSafeLoader)
FIELDS: Final = [*configuration_fields(ResourceManagerConfiguration).walk()]


def table(section: FieldDescription) -> Iterator[str]:
    """The fields of a section, as far as they have no table of their own."""
    yield from ("", "| field | type | default | meaning |", "|---|---|---|---|")
    for field in section.fields:
        name, default = field.path.removeprefix(f"{section.path}."), f"`{field.default}`" if field.default else ""
        yield f"| `{name}` | {field.type} | {default.replace(' where enabled`', '` where enabled')} | {field.meaning} |"


def chapters(section: FieldDescription, heading: str = "##") -> Iterator[str]:
    """A table for every section that is no other name of one."""
    if not section.fields or OTHER_NAME.match(section.meaning):
        return
    if section.path:
        yield from ("", f"{heading} {section.path}", "", section.meaning)
        heading += "#" if len(heading) < len("####") else ""
    yield from table(section)
    for field in section.fields:
        yield from chapters(field, heading)


def test_the_page_is_made_from_the_types(request: pytest.FixtureRequest) -> None:
    head, _, made = PAGE.read_text(encoding="utf-8").partition(MADE)
    text = "\n".join(chapters(configuration_fields(ResourceManagerConfiguration))) + "\n"
    if request.config.getoption("--update-golden"):
        PAGE.write_text(f"{head}{MADE}{text}", encoding="utf-8")
        made = text

    assert made == text


def complaints(path: str, value: object) -> list[str]:
    """What is said of a field that has a certain value, in a file where all else is right."""
    path = path.replace("managedResource.", "managedResources.").replace("[]", "[0]")
    document = copy.deepcopy(DOCUMENT)
    holder, steps = document, re.findall(r"\w+", path)
    for step in steps[:-1]:
        holder = below(holder, step)
    holder[steps[-1]] = value
    decoded = decode(document)
    errors = decoded.failure().errors if isinstance(decoded, Failure) else ()
    return [str(error) for error in errors if str(error).startswith(f"{path}: ")]


def below(holder: Any, step: str) -> Any:
    """A member of an object or a list; one that is not there is made."""
    if isinstance(holder, list):
        return holder[int(step)]
    return holder.setdefault(step, [{}] if step == "matchExpressions" else {})


def limited(words: str) -> list[Any]:
    """The fields whose meaning has a limit in certain words, each with what follows them."""
    found = ((field.path, re.search(rf"{words}(.*?)\.$", field.meaning)) for field in FIELDS)
    return [pytest.param(path, limit[1], id=path) for path, limit in found if limit]


@pytest.mark.parametrize(("path", "least"), limited(r"At least "))
def test_less_than_the_least_is_refused(path: str, least: str) -> None:
    number, unit = re.findall(r"\d+|\D+$", f"{least}!")
    value, less = (
        (f"{number}{unit[:-1]}", f"{int(number) - 1}{unit[:-1]}") if unit[:-1] else (int(number), int(number) - 1)
    )

    assert complaints(path, less)
    assert complaints(path, value) == []


@pytest.mark.parametrize(("path", "nothing"), limited(r"Longer than (?=0)"))
def test_a_time_that_must_be_longer_than_nothing_is(path: str, nothing: str) -> None:
    assert complaints(path, f"-1{nothing.replace('0', 's')}")


@pytest.mark.parametrize(("path", "values"), limited("One of "))
def test_a_value_that_is_none_of_the_possible_ones_is_refused(path: str, values: str) -> None:
    told = "\n".join(complaints(path, "nonsense"))

    for value in re.findall(r"\w+", values):
        assert re.search(rf"\b{value}\b", told)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        *(pytest.param(path, None, id=path) for path, _ in (each.values for each in limited("Must be set(?=\\b)"))),
        *(pytest.param(path, "", id=path) for path, _ in (each.values for each in limited("Not empty(?=\\b)"))),
    ],
)
def test_what_must_be_set_is_asked_for(path: str, value: object) -> None:
    assert complaints(path, value)
