from copy import deepcopy
from typing import Any

from hedgerow_adapters.files.writing import as_stored, implied_namespaces


def namespace(name: str, **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, **metadata}}


def config_map(namespace: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": namespace}}


def test_a_namespace_carries_its_name_as_a_label() -> None:
    objects = (
        namespace("shop", labels={"team": "a", "kubernetes.io/metadata.name": "wrong"}),
        namespace("back", labels=None),
        config_map("shop"),
        {**namespace("other"), "apiVersion": "example.org/v1"},
    )
    before = deepcopy(objects)

    assert as_stored(objects) == (
        namespace("shop", labels={"team": "a", "kubernetes.io/metadata.name": "shop"}),
        namespace("back", labels={"kubernetes.io/metadata.name": "back"}),
        config_map("shop"),
        {**namespace("other"), "apiVersion": "example.org/v1"},
    )
    assert objects == before


def test_namespaces_that_objects_live_in_are_implied_once_and_sorted() -> None:
    objects = [config_map("shop"), config_map("b"), config_map("a"), config_map("b"), namespace("shop"), namespace("c")]

    assert implied_namespaces(iter(objects)) == (
        namespace("a", labels={"kubernetes.io/metadata.name": "a"}),
        namespace("b", labels={"kubernetes.io/metadata.name": "b"}),
    )
    assert implied_namespaces([]) == ()
