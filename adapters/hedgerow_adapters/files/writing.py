"""Objects as YAML or JSON text that people read and that loads back as the same objects.

Texts that a YAML reader might take for something else are quoted, lines are never folded, and nothing is written as an
alias. Where the text goes is not decided here.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

import yaml

from hedgerow.machinery.documents.yaml_scalars import plain_value
from hedgerow.machinery.objects import Manifest

_OBJECT_BEGINS_WITH: Final = ("apiVersion", "kind", "metadata", "spec")
_METADATA_BEGINS_WITH: Final = ("name", "namespace", "labels", "annotations")
_NEVER_FOLDED: Final = 2**30

# Line breaks other than \n, which YAML readers normalise, and the mark that they drop.
_NEEDS_ESCAPES: Final = frozenset("\r\x85\u2028\u2029\ufeff")


def render_yaml(objects: Iterable[Manifest]) -> str:
    """One YAML document per object, in order; an empty text for none."""
    return yaml.dump_all(
        [_ordered(manifest) for manifest in objects],
        Dumper=_Dumper,
        default_flow_style=False,
        sort_keys=False,
        allow_unicode=True,
        width=_NEVER_FOLDED,
    )


def render_sorted_yaml(manifest: Manifest) -> str:
    """One object, the same text for equal ones: all fields by name, in whatever order they come."""
    return yaml.dump(
        dict(manifest),
        Dumper=_Dumper,
        default_flow_style=False,
        sort_keys=True,
        allow_unicode=True,
        width=_NEVER_FOLDED,
    )


def render_json(objects: Iterable[Manifest]) -> str:
    """One `List` of the objects, in order, indented by two blanks."""
    items = [_ordered(manifest) for manifest in objects]
    document = {"apiVersion": "v1", "kind": "List", "items": items}
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _ordered(manifest: Manifest) -> dict[str, Any]:
    """The object with what identifies it first; all other fields keep their order."""
    ordered = _beginning_with(_OBJECT_BEGINS_WITH, manifest)
    if isinstance(manifest.get("metadata"), Mapping):
        ordered["metadata"] = _beginning_with(_METADATA_BEGINS_WITH, manifest["metadata"])
    return ordered


def _beginning_with(names: Iterable[str], mapping: Mapping[str, Any]) -> dict[str, Any]:
    return {**{name: mapping[name] for name in names if name in mapping}, **mapping}


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # libyaml's where it is compiled in
    """Writes texts so that they stay texts, and everything in full."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 -- none is wanted, whatever the data
        """Whether an object is written again where it occurs again."""
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    """A text: as a block where it has lines, quoted where it would mean something else."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=_style(text))


def _style(text: str) -> str | None:
    if not _NEEDS_ESCAPES.isdisjoint(text):
        return '"'
    if "\n" in text:
        return "|"
    return None if plain_value(text) == text else '"'


_Dumper.add_representer(str, _text)
