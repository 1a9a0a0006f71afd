"""Objects as YAML or JSON text that people read and that loads back as the same objects.

Where the text goes is not decided here.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

import yaml

from hedgerow.machinery.documents.yaml_writing import NEVER_FOLDED, Dumper, sorted_yaml
from hedgerow.machinery.objects import Manifest

_OBJECT_BEGINS_WITH: Final = ("apiVersion", "kind", "metadata", "spec")
_METADATA_BEGINS_WITH: Final = ("name", "namespace", "labels", "annotations")


def render_yaml(objects: Iterable[Manifest]) -> str:
    """One YAML document per object, in order; an empty text for none."""
    return yaml.dump_all(
        [_ordered(manifest) for manifest in objects],
        Dumper=Dumper,
        default_flow_style=False,
        sort_keys=False,
        allow_unicode=True,
        width=NEVER_FOLDED,
    )


def render_sorted_yaml(manifest: Manifest) -> str:
    """One object, the same text for equal ones: all fields by name, in whatever order they come."""
    return sorted_yaml(manifest)


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
