"""Definitions in the API servers of a stage, and what becomes of objects whose definition somebody deletes."""

from collections.abc import Iterable

from hedgerow.api.kubernetes import CUSTOM_RESOURCE_DEFINITIONS
from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.memory.kinds import Kind
from tests.unit.core.controllers.stage import Stage


def definition_of(kind: Kind) -> Manifest:
    """A definition of a kind, which others hold back from going."""
    resource = kind.resource
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": resource.version, "served": True, "storage": True, "schema": schema}
    return {
        "apiVersion": CUSTOM_RESOURCE_DEFINITIONS.api_version,
        "kind": CUSTOM_RESOURCE_DEFINITIONS.kind,
        "metadata": {"name": str(resource), "finalizers": ["example.com/instances"]},
        "spec": {
            "group": resource.group,
            "names": {"plural": resource.plural, "singular": resource.kind.lower(), "kind": resource.kind},
            "scope": "Namespaced" if resource.namespaced else "Cluster",
            "versions": [{**version, **({"subresources": {"status": {}}} if kind.has_status else {})}],
        },
    }


def lose_definitions(stage: Stage, kinds: Iterable[Kind]) -> None:
    """Somebody deletes the definitions of some kinds, and API servers begin to delete their objects."""
    for cluster, api_server in stage.clusters.items():
        for kind in kinds:
            placed = (cluster, definition_of(kind))
            stage.put(*placed)
            stage.delete(placed)
            for each in api_server.objects(kind.resource):
                stage.delete((cluster, each))
