"""What a decision looks up in its snapshot, noted, and looked up again in the notes.

A lookup is a value. Notes hold what was looked up and nothing else, so a decision that looks up anything else is told
that it is not known, which is another thing than that it did not exist.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.selectors import LabelSelector, selector_query
from hedgerow.machinery.snapshot import Index, Snapshot, Value


@dataclass(frozen=True, slots=True)
class Lookup:
    """One question to a snapshot."""

    method: Literal["get", "has_synced", "list", "index"]
    resource: Resource
    cluster: Cluster
    what: Any = None
    """A key; namespace and label selector; or the name of an index and a value."""

    def __str__(self) -> str:
        """As messages name it."""
        which = str(self.resource)
        match self.method:
            case "get":
                which = f"{self.resource.kind} {self.what}"
            case "has_synced":
                which = f"whether {which} have synced"
            case "list":
                namespace, selector = self.what
                which = f"all {which}{f' in namespace {namespace}' if namespace is not None else ''}"
                which += f" with {selector_query(selector)}" if selector is not None else ""
            case _:
                name, value = self.what
                which = f'{which} under {value} of "{name}"'
        return which if self.cluster is Cluster.TARGET else f"{which} of the {self.cluster.value} cluster"


Reads: TypeAlias = Mapping[Lookup, Any]
"""Lookups and their answers: an object or none, whether a resource has synced, or objects."""
_Ask: TypeAlias = Callable[[Snapshot], Any]


class NotReadError(Exception):
    """A decision looks up what was not looked up when it was recorded."""

    def __init__(self, lookup: Lookup) -> None:
        super().__init__(f"asks for {lookup}, which was not read then")


class _Lookups(ABC):
    """A snapshot whose answers come from `answer`."""

    @abstractmethod
    def answer(self, lookup: Lookup, ask: _Ask) -> Any:
        """The answer to a lookup; `ask` gets it from another snapshot."""

    def get(self, resource: Resource, key: ObjectKey, cluster: Cluster = Cluster.TARGET) -> Manifest | None:
        """The object of a key."""
        found: Manifest | None = self.answer(
            Lookup("get", resource, cluster, key), lambda world: world.get(resource, key, cluster)
        )
        return found

    def has_synced(self, resource: Resource, cluster: Cluster = Cluster.TARGET) -> bool:
        """Whether the objects of a resource are at hand."""
        return bool(
            self.answer(Lookup("has_synced", resource, cluster), lambda world: world.has_synced(resource, cluster))
        )

    def list(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        selector: LabelSelector | None = None,
        cluster: Cluster = Cluster.TARGET,
    ) -> Sequence[Manifest]:
        """Objects by namespace and labels."""
        found: Sequence[Manifest] = self.answer(
            Lookup("list", resource, cluster, (namespace, selector)),
            lambda world: tuple(world.list(resource, namespace=namespace, selector=selector, cluster=cluster)),
        )
        return found

    def by_index(self, index: Index[Value], value: Value) -> Sequence[Manifest]:
        """Objects by index."""
        found: Sequence[Manifest] = self.answer(
            Lookup("index", index.resource, index.cluster, (index.name, value)),
            lambda world: tuple(world.by_index(index, value)),
        )
        return found


class NotingSnapshot(_Lookups):
    """A snapshot that notes what is looked up, and the latest answers."""

    def __init__(self, world: Snapshot) -> None:
        """Nothing has been looked up yet."""
        self.reads: dict[Lookup, Any] = {}
        self.has_moved = False
        """True if the same lookup has had two different answers in the same notes."""
        self._world: Final = world

    def answer(self, lookup: Lookup, ask: _Ask) -> Any:
        """The answer of the world, noted."""
        answer = ask(self._world)
        if self.reads.setdefault(lookup, answer) != answer:
            self.reads[lookup] = answer
            self.has_moved = True
        return answer


class NotedSnapshot(_Lookups):
    """The world as far as it was noted."""

    def __init__(self, reads: Reads) -> None:
        """A world of these notes."""
        self.reads = reads

    def answer(self, lookup: Lookup, _ask: _Ask) -> Any:
        """The answer that was noted.

        Raises:
            NotReadError: there is none.
        """
        if lookup not in self.reads:
            raise NotReadError(lookup)
        return self.reads[lookup]
