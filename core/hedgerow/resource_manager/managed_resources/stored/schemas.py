"""How an API server stores custom resources: what the schema of their definition sets where nothing was sent.

Source: Kubernetes API, JSONSchemaProps of apiextensions.k8s.io/v1, `default`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.managed_resources.stored.rules import AS_SENT, Stored


def stored_custom_resource(definition: Manifest, version: str) -> Stored:
    """The rule for the objects that a CustomResourceDefinition defines; as they are sent, if it has no such version.

    Args:
        definition: the CustomResourceDefinition.
        version: the version that the objects are written in, for each has a schema of its own.
    """
    for served in _objects(_object(definition, "spec").get("versions")):
        if served.get("name") == version:
            rule = _rule(_object(_object(served, "schema"), "openAPIV3Schema"))
            if rule is AS_SENT:
                return rule
            defaults, members = {**AS_SENT.defaults, **rule.defaults}, {**rule.members, **AS_SENT.members}
            return replace(rule, defaults=defaults, members=members)
    return AS_SENT


def _rule(schema: Mapping[str, Any]) -> Stored:
    """The rule of what a schema describes; that of a list is the rule of its items."""
    if not schema:
        return AS_SENT
    if items := _object(schema, "items"):
        return _rule(items)
    properties = {name: _object(_object(schema, "properties"), name) for name in _object(schema, "properties")}
    rules = {name: _rule(nested) for name, nested in properties.items()}
    others = _rule(_object(schema, "additionalProperties"))
    rule = Stored(
        {name: nested["default"] for name, nested in properties.items() if nested.get("default") is not None},
        members={name: rule for name, rule in rules.items() if rule is not AS_SENT},
        others=None if others is AS_SENT else others,
        verbatim=True,
    )
    return rule if rule.defaults or rule.members or rule.others else AS_SENT


def _object(parent: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = parent.get(name)
    return value if isinstance(value, (dict, Mapping)) else {}


def _objects(items: Any) -> Iterator[Mapping[str, Any]]:
    for item in items if isinstance(items, list) else ():
        if isinstance(item, (dict, Mapping)):
            yield item
