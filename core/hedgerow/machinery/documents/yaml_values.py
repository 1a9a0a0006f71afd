"""The value of one YAML document, built from parser events.

Decides what tags, keys, merges and aliases mean, and refuses what JSON cannot hold. One pass over the events finds
repeated keys, bounds nesting, and counts the nodes of aliases without copying them.

Source: sigs.k8s.io/yaml v1.6, observed: after a merge key a later entry wins over an earlier one. That reader ignores
an application's own tags; they are refused here.
"""
# ruff: noqa: TID251 -- where YAML is parsed

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from yaml.constructor import ConstructorError
from yaml.events import AliasEvent, Event, MappingStartEvent, ScalarEvent, SequenceStartEvent

from hedgerow.machinery.documents.budget import CHARACTERS_OF_A_NODE
from hedgerow.machinery.documents.document import MAX_NESTING, TOO_DEEP, Document, NotInJson, plain_value, repeated_key

MAX_ALIASED_NODES: Final = 1_000_000
FREE_ALIASED_NODES: Final = 10_000
MAX_ALIASED_SHARE: Final = 10
"""Nodes that aliases may add for each written one, beyond the free ones."""

_TOO_MANY_ALIASED: Final = "aliases multiply the document beyond reason"
_UNKNOWN_TAG: Final = "a tag is not one that Kubernetes reads"
_TAGS: Final = "tag:yaml.org,2002:"
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    f"{_TAGS}int": (int,),
    f"{_TAGS}float": (int, float),
    f"{_TAGS}bool": (bool,),
    f"{_TAGS}null": (type(None),),
}
_AS_TEXT: Final = "!"
_TEXTS: Final = frozenset({_AS_TEXT, f"{_TAGS}str", f"{_TAGS}timestamp"})

_NO_KEY: Final = object()
_MERGE: Final = object()


class _Anchored(NamedTuple):
    """The value of an anchor, its nodes with all aliases expanded, and its levels of lists and mappings."""

    value: Any
    nodes: int
    height: int


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end has not been read."""

    value: list[Any] | dict[Any, Any]
    anchor: str | None = None
    nodes_before: int = 0
    height: int = 1
    key: Any = _NO_KEY
    merged: set[str] | None = None
    """The keys that a mapping has only from merges."""

    @property
    def awaits_key(self) -> bool:
        """True if a mapping needs a key next."""
        return self.key is _NO_KEY and isinstance(self.value, dict)


class ValueBuilder:
    """Builds documents one after another: feed it the events of one, then take the document.

    Raises ConstructorError if a document must not be read on; collects all other problems.
    """

    def __init__(self, first_line: int, *, is_strict: bool, most_nodes: float) -> None:
        self._first_line = first_line
        self._is_strict = is_strict
        self._most_nodes = most_nodes
        self._nodes_before = 0
        self._begin()

    def _begin(self) -> None:
        self._root: list[Any] = []
        self._open = [_Open(self._root)]
        self._anchors: dict[str, _Anchored | _Open] = {}
        self._nodes = 0
        self._aliased_nodes = 0
        self._problems: list[str] = []

    def document(self, problem: str | None = None) -> Document:
        """The document of the events since the last one; with a problem, it is unfinished."""
        value = None if problem else self._root[0]
        if not problem and self._aliased_nodes > max(FREE_ALIASED_NODES, self._nodes * MAX_ALIASED_SHARE):
            problem = _TOO_MANY_ALIASED
        problems = (*self._problems, problem) if problem else tuple(self._problems)
        self._nodes_before = self.nodes
        self._begin()
        return Document(value, problems)

    @property
    def nodes(self) -> int:
        """Nodes that were read, those that aliases repeat included."""
        return self._nodes_before + self._nodes + self._aliased_nodes

    def scalar(self, event: ScalarEvent) -> None:
        """Take a scalar."""
        value: Any = event.value
        if event.implicit[0] and event.tag != _AS_TEXT:
            if value == "<<" and self._open[-1].awaits_key:
                self._open[-1].key = _MERGE
                return
            value = self._plain(event)
        elif event.tag is not None:
            value = self._tagged(event)
        nodes = 1 + len(event.value) // CHARACTERS_OF_A_NODE
        self._count(nodes, event)
        if event.anchor is not None:
            self._anchors[event.anchor] = _Anchored(value, nodes, 0)
        self._place(value, event)

    def alias(self, event: AliasEvent) -> None:
        """Take an alias: the value of its anchor, shared and not copied."""
        known = self._anchors.get(event.anchor or "")
        if not isinstance(known, _Anchored):
            why = "has no anchor" if known is None else "stands within the value that it stands for"
            self._problem(event, f"an alias {why}")
            known = _Anchored(None, nodes=1, height=0)
        self._aliased_nodes += known.nodes
        if self._aliased_nodes > MAX_ALIASED_NODES or self.nodes > self._most_nodes:
            raise _abandonment(_TOO_MANY_ALIASED, event)
        self._reach(known.height, event)
        self._place(known.value, event)

    def begin(self, event: SequenceStartEvent | MappingStartEvent) -> None:
        """Begin a list or a mapping."""
        value: list[Any] | dict[Any, Any] = [] if type(event) is SequenceStartEvent else {}
        if event.tag not in {None, "!", f"{_TAGS}{'seq' if isinstance(value, list) else 'map'}"}:
            self._problem(event, _UNKNOWN_TAG)
        self._reach(1, event)
        opened = _Open(value, event.anchor, self._nodes + self._aliased_nodes)
        self._open.append(opened)
        self._count(1, event)
        if event.anchor is not None:
            self._anchors[event.anchor] = opened

    def end(self, event: Event) -> None:
        """End the innermost list or mapping."""
        closed = self._open.pop()
        if closed.anchor is not None and self._anchors[closed.anchor] is closed:
            nodes = self._nodes + self._aliased_nodes - closed.nodes_before
            self._anchors[closed.anchor] = _Anchored(closed.value, nodes, closed.height)
        self._open[-1].height = max(self._open[-1].height, closed.height + 1)
        self._place(closed.value, event)

    def _count(self, nodes: int, event: Event) -> None:
        self._nodes += nodes
        if self.nodes > self._most_nodes:
            raise _abandonment(f"more than {self._most_nodes} values in one document", event)

    def _reach(self, height: int, event: Event) -> None:
        """Bound the nesting: the innermost collection holds a value of this height."""
        if len(self._open) - 1 + height > MAX_NESTING:
            raise _abandonment(TOO_DEEP, event)
        self._open[-1].height = max(self._open[-1].height, height + 1)

    def _place(self, value: Any, event: Event) -> None:
        """Add a complete value to the innermost collection."""
        into = self._open[-1]
        if isinstance(into.value, list):
            into.value.append(value)
        elif into.key is _NO_KEY:
            into.key = self._key(value, into, event)
        else:
            if into.key is _MERGE:
                self._merge(value, into, event)
            else:
                into.value[into.key] = value
            into.key = _NO_KEY

    def _key(self, value: Any, into: _Open, event: Event) -> Any:
        """The text of a key; for a key without one, an object that equals no other."""
        key = value
        if isinstance(value, bool):
            key = "true" if value else "false"
        elif isinstance(value, int | float):
            key = str(value)
        elif not isinstance(value, str):
            self._problem(event, "a key must be a text, not null, a list or a mapping")
            return object()
        if key in into.value:
            merged = into.merged or set()
            if key not in merged and self._is_strict:
                self._problem(event, repeated_key(key))
            merged.discard(key)
        return key

    def _merge(self, value: Any, into: _Open, event: Event) -> None:
        """Add the entries of a mapping, or of several, of which the first wins."""
        sources = value if isinstance(value, list) else [value]
        if not all(isinstance(source, dict) for source in sources):
            self._problem(event, "the merge key << takes a mapping or a list of mappings")
            return
        into.merged = into.merged or set()
        for source in reversed(sources):
            into.merged |= source.keys() - into.value.keys()  # type: ignore[union-attr]  # only mappings have keys
            into.value.update(source)  # type: ignore[union-attr]  # as above

    def _tagged(self, event: ScalarEvent) -> Any:
        tag = event.tag or "!"
        if tag in _TEXTS:
            return event.value
        types = _TYPES.get(tag)
        if types is None:
            self._problem(event, _UNKNOWN_TAG)
            return None
        value = plain_value(event.value)
        if isinstance(value, NotInJson):
            return self._refuse_value(value, event)
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            self._problem(event, f"a value is not a !!{tag.removeprefix(_TAGS)}")
        return value

    def _plain(self, event: ScalarEvent) -> Any:
        value = plain_value(event.value)
        if not isinstance(value, NotInJson):
            return value
        if value.instead is None or self._is_strict or self._open[-1].awaits_key:
            return self._refuse_value(value, event)
        return value.instead

    def _refuse_value(self, value: NotInJson, event: ScalarEvent) -> str:
        self._problem(event, f"a value {value.why}")
        return event.value

    def _problem(self, event: Any, problem: str) -> None:
        self._problems.append(f"line {self._first_line + event.start_mark.line}: {problem}")


def _abandonment(problem: str, event: Any) -> ConstructorError:
    return ConstructorError(None, None, problem, event.start_mark)
