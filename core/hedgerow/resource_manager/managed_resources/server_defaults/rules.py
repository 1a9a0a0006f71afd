"""Storage rules: what an API server fills in, leaves out and rewrites in the objects of one schema.

Rules hold for all supported versions of Kubernetes: a default that an older server does not set is never missed. The
rule of a custom resource comes from the schema in its definition.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from hedgerow.machinery.objects import Manifest

_NOTHING: Final[Mapping[str, Any]] = {}


@dataclass(frozen=True, slots=True)
class StorageRule:
    """How the members of an object are stored; those that no field names are stored as they are sent."""

    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Value of a member that was not sent, or a function that computes it from the stored object around it."""
    omitted: frozenset[str] = frozenset()
    """Members whose zero, false or empty value means the same as no value."""
    assigned: frozenset[str] = frozenset()
    """Members that the server or a controller chooses if they were not sent."""
    quantities: frozenset[str] = frozenset()
    """Members that hold a quantity, or quantities by name; they are compared by value."""
    members: Mapping[str, "StorageRule"] = field(default_factory=dict)
    """Rules of members that are objects or lists of objects."""
    others: "StorageRule | None" = None
    """Rule of all other members, in objects whose member names are free."""
    verbatim: bool = False
    """True if an empty object or list differs from an absent one, here and in members without a rule."""

    def of(self, name: str) -> "StorageRule":
        """The rule of a member that is an object or a list of objects."""
        return self.members.get(name) or self.others or (AS_SENT if self.verbatim else COMPACT)


def rule(
    defaults: Mapping[str, Any] = _NOTHING,
    members: Mapping[str, StorageRule] = _NOTHING,
    /,
    *,
    omitted: str = "",
    assigned: str = "",
    quantities: str = "",
    verbatim: bool = False,
    **more: StorageRule,
) -> StorageRule:
    """A rule in short form: names stand in one text, separated by spaces; rules of members are keyword arguments."""
    empty, chosen, amounts = (frozenset(names.split()) for names in (omitted, assigned, quantities))
    return StorageRule(defaults, empty, chosen, amounts, {**members, **more}, verbatim=verbatim)


def spec_rule(*defaults_and_members: Any, **more: Any) -> StorageRule:
    """The rule of a kind in whose spec alone something is stored otherwise than sent; arguments are those of `rule`."""
    return rule(spec=rule(*defaults_and_members, **more))


COMPACT: Final = StorageRule()
"""Stored as sent, without empty members: the rule of most types that servers are compiled with."""
AS_SENT: Final = StorageRule({"status": {}}, members={"metadata": COMPACT}, verbatim=True)
"""Stored as sent, with empty members: the rule of custom resources without a schema."""


def custom_resource_rule(definition: Manifest, version: str) -> StorageRule:
    """The rule of the objects that a CustomResourceDefinition defines in a version; `AS_SENT` if it lacks that."""
    versions = _object(definition, "spec").get("versions")
    for served in versions if isinstance(versions, list) else ():
        if isinstance(served, (dict, Mapping)) and served.get("name") == version:
            found = _schema_rule(_object(_object(served, "schema"), "openAPIV3Schema"))
            if found is AS_SENT:
                return found
            defaults, members = {**AS_SENT.defaults, **found.defaults}, {**found.members, **AS_SENT.members}
            return replace(found, defaults=defaults, members=members)
    return AS_SENT


def _schema_rule(schema: Mapping[str, Any]) -> StorageRule:
    """The rule of what a schema describes; a list has the rule of its items."""
    if not schema:
        return AS_SENT
    if items := _object(schema, "items"):
        return _schema_rule(items)
    properties = {name: _object(_object(schema, "properties"), name) for name in _object(schema, "properties")}
    rules = {name: _schema_rule(nested) for name, nested in properties.items()}
    others = _schema_rule(_object(schema, "additionalProperties"))
    found = StorageRule(
        {name: nested["default"] for name, nested in properties.items() if nested.get("default") is not None},
        members={name: nested for name, nested in rules.items() if nested is not AS_SENT},
        others=None if others is AS_SENT else others,
        verbatim=True,
    )
    return found if found.defaults or found.members or found.others else AS_SENT


def _object(parent: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = parent.get(name)
    return value if isinstance(value, (dict, Mapping)) else _NOTHING
