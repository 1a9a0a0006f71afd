"""How one kind of objects is served: its fields, defaults, rules and habits.

A kind is a declaration; the registry carries it out. Nothing here stores or answers anything.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy, deepcopy
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hedgerow.machinery.names import dns_subdomain_problem
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow_adapters.memory.field_errors import FieldError
from hedgerow_adapters.memory.field_rules import Rule, by_field
from hedgerow_adapters.memory.shapes import Shape, anything, shape_of

Fields: TypeAlias = dict[str, Any]
"""An object that is being made and nobody else has seen; it may be changed in place."""


def fill(fields: Fields, defaults: Mapping[str, Any]) -> None:
    """Set what is missing, in place.

    Args:
        fields: of an object.
        defaults: values by name. `name[]` has those of each item of a list, `name?` those of an object if it is there.
    """
    for name, default in defaults.items():
        if name.endswith("[]"):
            for item in fields.get(name[:-2]) or ():
                fill(item, default)
        elif name.endswith("?"):
            if name[:-1] in fields:
                fill(fields[name[:-1]], default)
        elif isinstance(default, Mapping):
            fill(fields.setdefault(name, {}), default)
        elif name not in fields:
            fields[name] = copy(default)


def differs(_given: Any, new: Manifest, old: Manifest) -> bool:
    """Whether a spec is another than before."""
    return bool(new.get("spec") != old.get("spec"))


def _all_fields(body: Manifest, _path: str) -> Fields:
    return {name: deepcopy(value) for name, value in body.items() if name not in ("apiVersion", "kind", "metadata")}


@dataclass(frozen=True, slots=True)
class Part:
    """A subresource by which a part of an object is written alone."""

    taken: Callable[[Manifest, Manifest, str], Fields]
    """What an update through it makes of an object, given the decoded update, the old object, and the time."""
    rules: Callable[[Manifest, Manifest], Iterable[FieldError]] = lambda _new, _old: ()
    """What is wrong with the object that such an update makes, beside the rules of its kind."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of objects of the in-memory API server."""

    resource: Resource
    fields: Any = field(default_factory=lambda: {"spec": anything, "status": anything})
    """The literal of a shape, of all but apiVersion, kind and metadata; none: any fields, as they are given."""
    selectable: tuple[str, ...] = ()
    """Fields of a stored object that it can be selected by, beside its name and namespace."""
    name_problem: Callable[[str], str | None] = dns_subdomain_problem
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """As `fill` takes them."""
    completion: Callable[[Fields, Manifest | None], None] = lambda _fields, _old: None
    """Completes an object that has its defaults, in place, given the old object; none on creation."""
    field_rules: Mapping[str, Rule] = field(default_factory=dict)
    rules: Callable[[Manifest, Manifest | None], Iterable[FieldError]] = lambda _new, _old: ()
    """What else is wrong with a completed object beside its metadata; the old one is none on creation."""
    has_status: bool = False
    """Whether status is a subresource, so that it and the rest are written separately."""
    has_scale: bool = False
    parts: Mapping[str, Part] = field(default_factory=dict)
    """What else can be written alone, by subresource; that of the status is there if it has rules of its own."""
    other_subresources: tuple[str, ...] = ()
    initial_status: Mapping[str, Any] | None = None
    """The status of a new object, whatever was given; none: what was given."""
    has_generation: bool = False
    """Whether changes of the spec are counted."""
    spec_differs: Callable[[Any, Manifest, Manifest], bool] = differs
    """What counts as such a change, given the object as the client sent it, the new and the old object."""
    unconditional_update: bool = True
    """Whether an update may leave out the resourceVersion."""
    deletable_as_collection: bool = True
    answers_deleted_object: bool = False
    """Whether a completed deletion is answered with the object instead of a Status."""
    storage: Resource | None = None
    """The resource that it shares its objects with; none: they are its own."""
    to_stored: Callable[[Manifest], Manifest] = lambda served: served
    from_stored: Callable[[Manifest], Manifest] = lambda stored: stored
    shape: Shape = field(init=False)
    rule: Rule = field(init=False)
    """Made of the field rules."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", _all_fields if self.fields is None else shape_of(self.fields))
        object.__setattr__(self, "rule", by_field(self.field_rules))

    def complete(self, fields: Fields, old: Manifest | None) -> None:
        """Complete a decoded object, in place."""
        fill(fields, self.defaults)
        self.completion(fields, old)

    def errors(self, new: Manifest, old: Manifest | None) -> Iterator[FieldError]:
        """What is wrong with a completed object beside its metadata."""
        yield from self.rule(new, "")
        yield from self.rules(new, old)

    @property
    def subresources(self) -> tuple[str, ...]:
        """The subresources of its objects."""
        own = {"status": self.has_status, "scale": self.has_scale}
        return (*(name for name in own if own[name]), *(self.parts.keys() - own.keys()), *self.other_subresources)

    @property
    def stored_as(self) -> Resource:
        """The resource under which its objects are kept."""
        return self.storage or self.resource
