"""Manifests in files: objects out of YAML and JSON, and objects back into text.

`load_manifests` reads what users name on the command line, `as_stored` and `implied_namespaces` complete it the way an
API server would, `render_yaml`, `render_sorted_yaml` and `render_json` write objects out. `single_document` reads
other files by the rules for manifests.
"""

from hedgerow_adapters.files.decoding import single_document
from hedgerow_adapters.files.loading import load_manifests
from hedgerow_adapters.files.scopes import NAMESPACED_KINDS
from hedgerow_adapters.files.sources import LoadedObject, LoadProblem, Source
from hedgerow_adapters.files.writing import as_stored, implied_namespaces, render_json, render_sorted_yaml, render_yaml

__all__ = [
    "NAMESPACED_KINDS",
    "LoadProblem",
    "LoadedObject",
    "Source",
    "as_stored",
    "implied_namespaces",
    "load_manifests",
    "render_json",
    "render_sorted_yaml",
    "render_yaml",
    "single_document",
]
