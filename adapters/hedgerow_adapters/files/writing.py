"""Objects as an API server would store them, and as YAML or JSON text that loads back as the same objects.

Source: Kubernetes documentation, "Namespaces", automatic labelling.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

import yaml

from hedgerow.api.kubernetes import METADATA_NAME
from hedgerow.machinery.documents.yaml_texts import NEVER_FOLDED, Dumper
from hedgerow.machinery.objects import Manifest, key_of, labels_of


def as_stored(objects: Iterable[Manifest]) -> tuple[Manifest, ...]:
    """The objects as they would be read back: a Namespace carries its name as a label. The inputs do not change."""
    return tuple(_labelled(manifest) if _is_namespace(manifest) else manifest for manifest in objects)


def implied_namespaces(objects: Iterable[Manifest]) -> tuple[Manifest, ...]:
    """The Namespaces that objects live in and that are not among them, sorted by name, as they would be stored."""
    objects = tuple(objects)
    present = {key_of(manifest).name for manifest in objects if _is_namespace(manifest)}
    needed = {key_of(manifest).namespace for manifest in objects} - {""}
    return as_stored(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in sorted(needed - present)
    )


def _is_namespace(manifest: Manifest) -> bool:
    return manifest.get("kind") == "Namespace" and manifest.get("apiVersion") == "v1"


def _labelled(namespace: Manifest) -> Manifest:
    labels = {**labels_of(namespace), METADATA_NAME: key_of(namespace).name}
    return {**namespace, "metadata": {**namespace["metadata"], "labels": labels}}


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
