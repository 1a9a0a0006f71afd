"""How an API server stores what it is sent: what it fills in, leaves out, and writes in another way.

A rule tells this of the objects of one schema, member by member. Rules hold for any version of Kubernetes that is
about: what a server does not know of, it does not store, and what is absent there is never missed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

Default: TypeAlias = Any
"""The value of a member that was not sent; or a function that tells it, given the stored object around it."""


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


COMPACT: Final = Stored()
"""What is stored as it was sent, but for what is empty: servers leave that out of objects that they know."""

AS_SENT: Final = Stored({"status": {}}, members={"metadata": COMPACT}, verbatim=True)
"""What is stored as it was sent; an empty status is none, and metadata is the same in all objects."""
