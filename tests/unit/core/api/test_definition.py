"""Schemas that API servers take for structural, made from types."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from hedgerow.api.custom_resources import CUSTOM_RESOURCES
from hedgerow.api.definition import CustomResource, build_definition, structural_schema
from hedgerow.api.shape import ApiObject, ApiType, Int32, Items

custom_resources = pytest.mark.parametrize("custom", CUSTOM_RESOURCES, ids=lambda custom: str(custom.resource))


def fields(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every field that a schema names, however deep."""
    for name, field in schema.get("properties", {}).items():
        yield f"{path}.{name}", field
        yield from fields(field, f"{path}.{name}")
    if "items" in schema:
        yield from fields(schema["items"], f"{path}[]")


def test_optional_fields_whole_numbers_and_lists_of_objects_have_a_schema() -> None:
    class Port(ApiType):
        """A port."""

        is_atomic = True
        number: Int32
        """Its
        number."""

    class Ports(ApiType):
        """Some ports."""

        first: Port | None = None
        others: Items[Port] = ()

    port = {
        "type": "object",
        "required": ["number"],
        "properties": {"number": {"description": "Its number.", "type": "integer", "format": "int32"}},
        "x-kubernetes-map-type": "atomic",
    }
    assert structural_schema(Ports) == {
        "type": "object",
        "properties": {
            "first": port,
            "others": {
                "type": "array",
                "x-kubernetes-list-type": "atomic",
                "items": {"description": "A port.", **port},
            },
        },
    }


def test_a_type_that_no_schema_can_tell_is_a_mistake_of_its_author() -> None:
    class Odd(ApiType):
        """Either."""

        value: int | str = 0

    with pytest.raises(TypeError, match="no schema describes"):
        structural_schema(Odd)


@custom_resources
def test_every_field_is_explained_but_metadata_of_which_api_servers_let_nobody_speak(custom: CustomResource) -> None:
    unexplained = [path for path, field in fields(structural_schema(custom.type)) if not field.get("description")]

    assert unexplained == [".metadata"]


@custom_resources
def test_a_type_knows_its_kind(custom: CustomResource) -> None:
    declared = custom.type.model_fields

    assert (declared["api_version"].default, declared["kind"].default) == custom.resource.object_kind


def test_a_type_without_a_status_has_no_status_subresource() -> None:
    class Plain(ApiObject):
        """No status."""

    custom = CUSTOM_RESOURCES[0]

    (with_status,) = build_definition(custom)["spec"]["versions"]
    (without_status,) = build_definition(replace(custom, type=Plain))["spec"]["versions"]
    assert with_status["subresources"] == {"status": {}}
    assert "subresources" not in without_status
