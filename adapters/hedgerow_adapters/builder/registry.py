"""Registries that write objects as YAML, with sorted keys.

Source: managed-resources §17.
"""

from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.builder import Registry
from hedgerow_adapters.files import render_sorted_yaml


def new_registry() -> Registry:
    """A registry without objects: add some, and hand over what it serialises."""
    return Registry(_encoded)


def _encoded(manifest: Manifest) -> bytes:
    return render_sorted_yaml(manifest).encode()
