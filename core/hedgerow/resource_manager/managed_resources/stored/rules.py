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


AS_SENT: Final = Stored()
"""What is stored as it was sent."""
