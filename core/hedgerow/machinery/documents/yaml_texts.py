"""The documents of a YAML text as JSON values, up to the first broken one; and JSON values as YAML texts.

What is written every reader of Kubernetes reads as the same values: without folded lines and aliases, and with quotes
around texts that a reader might take for another type.
"""
# ruff: noqa: TID251 -- where YAML is parsed and written

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, NamedTuple, TextIO

import yaml

from hedgerow.machinery.documents.budget import CHARACTERS_OF_A_NODE, ReadingBudget, Slices
from hedgerow.machinery.documents.document import Document, plain_value
from hedgerow.machinery.documents.yaml_values import ValueBuilder

# libyaml's parser is some ten times faster, and not compiled into every PyYAML. The pure Python one finds the same, or
# refuses it: tabs behind words, comments that touch what is before them.
_Parser: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# What it raises; the pure Python one leaks the last two for escapes beyond Unicode.
_UNREADABLE: Final = (yaml.MarkedYAMLError, ValueError, OverflowError)
_INDENTING_TAB: Final = re.compile(r"\s*\t$")
# What the pure Python one repeats of a text; the compiled one repeats nothing.
_REPEATED: Final = re.compile(r", but (found|got) .*|(?<=handle|racter) (['\"]).*\2", re.DOTALL)
NOT_TEXT: Final = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Broken(NamedTuple):
    """Where reading ended early, in characters from the beginning of the text."""

    document_start: int
    place: int
    """Where the parser found the error; the beginning of the document if it did not say."""


class Reading(NamedTuple):
    """The result of reading a text."""

    documents: tuple[Document, ...]
    """If one is broken, it is the last."""
    nodes: int
    """Scalars, lists and mappings that were read; long texts count as several."""
    broken: Broken | None = None


def not_text(text: str, first_line: int = 1) -> str | None:
    """The problem of the first character that cannot stand in YAML; none if there is none."""
    found = NOT_TEXT.search(text)
    if found is None:
        return None
    line = first_line + text.count("\n", 0, found.start())
    return f"line {line}: the character U+{ord(found[0]):04X} cannot stand in YAML"


def read_yaml(
    text: str,
    *,
    start: int = 0,
    first_line: int = 1,
    source: TextIO | None = None,
    is_strict: bool = True,
    budget: ReadingBudget | None = None,
) -> Slices[Reading]:
    """The documents of a text from a position on, the first broken one included.

    Args:
        text: the whole text, without characters that cannot stand in YAML.
        start: where to begin, in characters.
        first_line: the number of the line that begins there.
        source: yields the text from there on; none: the text itself, which begins there.
        is_strict: whether repeated keys and too large numbers are problems.
        budget: a document of more nodes is broken; the caller spends the nodes. None: no limit, no slices.
    """
    most_nodes = math.inf if budget is None else budget.nodes_of_next_document
    builder = ValueBuilder(first_line, is_strict=is_strict, most_nodes=most_nodes)
    documents: list[Document] = []
    take: dict[type, Callable[[Any], None]] = {
        yaml.ScalarEvent: builder.scalar,
        yaml.AliasEvent: builder.alias,
        yaml.SequenceStartEvent: builder.begin,
        yaml.MappingStartEvent: builder.begin,
        yaml.SequenceEndEvent: builder.end,
        yaml.MappingEndEvent: builder.end,
        yaml.DocumentEndEvent: lambda _: documents.append(builder.document()),
    }
    document_start = start
    try:
        parser = _Parser(text if source is None else source)
        while (kind := type(event := parser.get_event())) is not yaml.StreamEndEvent:
            if kind is yaml.DocumentStartEvent:
                document_start = start + event.start_mark.index
            elif kind is not yaml.StreamStartEvent:
                take[kind](event)
            # With the blanks and comments before an event.
            characters = event.end_mark.index - event.start_mark.index
            if budget is not None and budget.ends_slice(1 + characters // CHARACTERS_OF_A_NODE):
                yield
    except _UNREADABLE as error:
        mark = getattr(error, "problem_mark", None)
        place = document_start if mark is None else start + mark.index
        documents.append(builder.document(_explanation(error, text, place, first_line)))
        return Reading(tuple(documents), builder.nodes, Broken(document_start, place))
    return Reading(tuple(documents), builder.nodes)


def _explanation(error: Exception, text: str, place: int, first_line: int) -> str:
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return "is not YAML"
    line = first_line + error.problem_mark.line
    if _INDENTING_TAB.match(text, text.rfind("\n", 0, place) + 1, place + 1):
        return f"line {line}: tabs cannot indent YAML; use blanks"
    problem = _REPEATED.sub("", error.problem or "")
    if error.context is None or error.context_mark is None:
        return f"line {line}: {problem}"
    return f"line {line}: {problem} ({error.context} that begins in line {first_line + error.context_mark.line})"


NEVER_FOLDED: Final = 2**30
_TEXT: Final = "tag:yaml.org,2002:str"
# Of `*`, `!`, `&` and `<<` alone, which the dumper quotes itself: '*', as Kubernetes does.
_INDICATORS: Final = frozenset({"tag:yaml.org,2002:yaml", "tag:yaml.org,2002:merge"})

# Line breaks other than \n, which YAML readers normalise, and the mark that they drop.
_NEEDS_ESCAPES: Final = frozenset("\r\x85\u2028\u2029\ufeff")


class Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # libyaml's where it is compiled in
    """Writes texts so that they stay texts, as Kubernetes' writers do, and everything in full."""

    # To Kubernetes `=` is a text like any other.
    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {
        first: resolvers for first, resolvers in yaml.SafeDumper.yaml_implicit_resolvers.items() if first != "="
    }

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 -- none is wanted, whatever the data
        """Whether an object is written again where it occurs again."""
        return True


def sorted_yaml(value: Mapping[str, Any]) -> str:
    """One document, with sorted keys: equal values have equal texts."""
    return str(
        yaml.dump(
            dict(value), Dumper=Dumper, default_flow_style=False, sort_keys=True, allow_unicode=True, width=NEVER_FOLDED
        )
    )


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """A text: a block if it has lines, quoted if it would mean something else."""
    style = None if plain_value(text) == text else '"'
    # Times, and numbers to the base of 60: texts to Kubernetes, which quotes them all the same.
    if text[:1] in dumper.yaml_implicit_resolvers:
        tag = dumper.resolve(yaml.ScalarNode, text, (True, False))  # type: ignore[no-untyped-call]  # the stubs lack it
        style = style if tag == _TEXT or tag in _INDICATORS else '"'
    if not _NEEDS_ESCAPES.isdisjoint(text):
        style = '"'
    elif "\n" in text:
        style = "|"
    return dumper.represent_scalar(_TEXT, text, style=style)


Dumper.add_representer(str, _text)
