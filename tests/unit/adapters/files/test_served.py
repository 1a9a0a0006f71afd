"""Which kinds a server has to serve on which files would be stored."""

from typing import Any

import pytest

from hedgerow.machinery.objects import Kind, Resource
from hedgerow_adapters.files.scopes import CLUSTER_SCOPED_KINDS, NAMESPACED_KINDS, served_resources
from hedgerow_adapters.memory.kinds import DEFAULT_RESOURCES


def served(*objects: dict[str, Any]) -> dict[Kind, Resource]:
    return {resource.object_kind: resource for resource in served_resources(objects)}


def custom(**metadata: str) -> dict[str, Any]:
    return {"apiVersion": "example.org/v1", "kind": "Cash", "metadata": {"name": "c", **metadata}}


@pytest.mark.parametrize("kind", DEFAULT_RESOURCES, ids=lambda kind: str(kind.resource))
def test_kubernetes_kinds_are_called_as_the_server_calls_them(kind: Any) -> None:
    assert served()[kind.resource.object_kind] == kind.resource


def test_a_kind_is_known_by_its_version() -> None:
    kinds = served()

    assert Kind("policy/v1", "PodDisruptionBudget") in kinds
    assert Kind("policy/v1beta1", "PodDisruptionBudget") not in kinds
    assert {kind.kind for kind in kinds} <= CLUSTER_SCOPED_KINDS | NAMESPACED_KINDS


def test_a_kind_that_only_files_tell_of_lives_in_namespaces_if_any_of_its_objects_does() -> None:
    assert served(custom())[Kind("example.org/v1", "Cash")] == Resource(
        "example.org", "v1", "cashes", "Cash", namespaced=False
    )
    assert served(custom(), custom(namespace="shop"))[Kind("example.org/v1", "Cash")].namespaced
