"""How an API server stores what it is sent: what it fills in, leaves out, and writes in another way.

A rule tells this of the objects of one schema, member by member. Rules hold for any version of Kubernetes that is
about: what a server does not know of, it does not store, and what is absent there is never missed. The rule of custom
resources is in the schema of their definition.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from hedgerow.machinery.objects import Manifest

Default: TypeAlias = Any
"""The value of a member that was not sent; or a function that tells it, given the stored object around it."""


_NOTHING: Final[Mapping[str, Any]] = {}


@dataclass(frozen=True, slots=True)
class Stored:
    """What becomes of the members of an object; of those that are not mentioned, nothing."""

    defaults: Mapping[str, Default] = field(default_factory=dict)
    """What members are set to that were not sent."""
    omitted: frozenset[str] = frozenset()
    """Members that, if they are zero, false or empty, were as good as not sent. Elsewhere, `false` says something."""
    assigned: frozenset[str] = frozenset()
    """Members that the server, or a controller on its behalf, sets to what it likes if they were not sent."""
    quantities: frozenset[str] = frozenset()
    """Members that hold an amount, or amounts by name, which may be written in another way."""
    members: Mapping[str, "Stored"] = field(default_factory=dict)
    """The rules of members that are objects or lists of objects."""
    others: "Stored | None" = None
    """The rule of all other members, where their names are free."""
    verbatim: bool = False
    """Whether an empty object or list is something else than none, here and in members that are not mentioned."""

    def of(self, name: str) -> "Stored":
        """The rule of a member that is an object or a list of objects."""
        return self.members.get(name) or self.others or (AS_SENT if self.verbatim else COMPACT)


def stored(
    defaults: Mapping[str, Default] = _NOTHING,
    members: Mapping[str, Stored] = _NOTHING,
    /,
    *,
    omitted: str = "",
    assigned: str = "",
    quantities: str = "",
    verbatim: bool = False,
    **more: Stored,
) -> Stored:
    """A rule, written briefly: names of members are separated by spaces, and rules of members are keyword arguments."""
    return Stored(
        defaults,
        frozenset(omitted.split()),
        frozenset(assigned.split()),
        frozenset(quantities.split()),
        {**members, **more},
        verbatim=verbatim,
    )


COMPACT: Final = Stored()
"""What is stored as it was sent, but for what is empty: servers leave that out of objects that they know."""

AS_SENT: Final = Stored({"status": {}}, members={"metadata": COMPACT}, verbatim=True)
"""What is stored as it was sent; an empty status is none, and metadata is the same in all objects."""


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
