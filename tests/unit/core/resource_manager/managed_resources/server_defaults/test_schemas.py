"""What the schema of a CustomResourceDefinition says about how its objects are stored."""

from typing import Any

import pytest

from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.managed_resources.server_defaults.differences import Difference, differences
from hedgerow.resource_manager.managed_resources.server_defaults.rules import AS_SENT, custom_resource_rule


def definition(spec: Any) -> Manifest:
    schema = {"type": "object", "properties": {"spec": spec}}
    return {"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}, {"name": "v2"}]}}


SIZED = {"type": "object", "properties": {"size": {"type": "integer", "default": 3}}}


@pytest.mark.parametrize(
    ("schema", "wanted", "live"),
    [
        (SIZED, {"name": "x"}, {"name": "x", "size": 3}),
        ({**SIZED, "default": {}}, None, {"size": 3}),
        ({"type": "array", "items": SIZED}, [{}, {"size": 4}], [{"size": 3}, {"size": 4}]),
        ({"type": "object", "additionalProperties": SIZED}, {"a": {}}, {"a": {"size": 3}}),
    ],
)
def test_defaults_of_the_schema_are_no_drift_and_anything_else_is(schema: Any, wanted: Any, live: Any) -> None:
    rule = custom_resource_rule(definition(schema), "v1")

    assert differences({"spec": wanted}, {"spec": live}, rule) == ()
    assert differences({"spec": wanted}, {"spec": live}) != ()


def test_another_value_than_the_default_is_drift() -> None:
    rule = custom_resource_rule(definition(SIZED), "v1")

    assert differences({"spec": {}}, {"spec": {"size": 4}}, rule) == (Difference("spec.size", 3, 4),)
    assert differences({"spec": {"size": 0}}, {"spec": {"size": 3}}, rule) == (Difference("spec.size", 0, 3),)


@pytest.mark.parametrize("broken", [{}, {"spec": 1}, {"spec": {"versions": [1]}}, definition(["no schema"])])
def test_without_a_schema_objects_are_stored_as_they_are_sent(broken: Manifest) -> None:
    assert custom_resource_rule(broken, "v1") is AS_SENT
    assert custom_resource_rule(broken, "v2") is AS_SENT


@pytest.mark.parametrize("schema", [SIZED, {**SIZED, "properties": {}}, {"x-kubernetes-preserve-unknown-fields": True}])
def test_a_member_that_is_only_an_empty_object_is_drift_both_ways(schema: Any) -> None:
    rule = custom_resource_rule(definition(schema), "v1")
    bare, marked = {"spec": {"size": 3}}, {"spec": {"size": 3, "selfSigned": {}}}

    assert differences(marked, bare, rule) == (Difference("spec.selfSigned", {}, None),)
    assert differences(bare, marked, rule) == (Difference("spec.selfSigned", None, {}),)


def test_metadata_and_an_empty_status_of_custom_resources_are_as_in_all_objects() -> None:
    rule = custom_resource_rule(definition(SIZED), "v1")

    assert differences({"metadata": {}}, {"metadata": {"labels": {}}, "status": {}}, rule) == ()
