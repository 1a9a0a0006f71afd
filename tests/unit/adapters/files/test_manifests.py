from typing import Any

import pytest

from hedgerow_adapters.files.loading import parts_of


def service(name: Any = "cart", **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, **metadata}}


def problems(document: Any) -> list[str]:
    return [f"{part.where}: {problem}".removeprefix(": ") for part in parts_of(document) for problem in part.problems]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param([service()], ["expected an object, got a list"], id="list"),
        pytest.param("text", ["expected an object, got a string"], id="text"),
        pytest.param(False, ["expected an object, got a boolean"], id="boolean"),
        pytest.param(
            {},
            ["an object without apiVersion", "an object without kind", "an object without a name"],
            id="nothing in it",
        ),
        pytest.param({"kind": "Service", "metadata": {"name": "a"}}, ["a Service without apiVersion"], id="no version"),
        pytest.param(
            {"apiVersion": "v1", "kind": "", "metadata": {"name": "a"}}, ["an object without kind"], id="no kind"
        ),
        pytest.param(
            {"apiVersion": 1, "kind": ["Pod"], "metadata": {"name": "a"}},
            ["apiVersion: expected a string, got an integer (quote it)", "kind: expected a string, got a list"],
            id="type that is no text",
        ),
        pytest.param({"apiVersion": "v1", "kind": "Service"}, ["a Service without a name"], id="no metadata"),
        pytest.param(
            {"apiVersion": "v1", "kind": "Ingress", "metadata": ["a"]},
            ["metadata: expected an object, got a list"],
            id="metadata that is a list",
        ),
        pytest.param(
            {"apiVersion": "v1", "kind": "EndpointSlice", "metadata": {"generateName": "a-"}},
            ["an EndpointSlice without a name"],
            id="name left to the server",
        ),
        pytest.param(service(""), ["a Service without a name"], id="empty name"),
        pytest.param(
            service(5), ["metadata.name: expected a string, got an integer (quote it)"], id="name that is a number"
        ),
        pytest.param(
            service(namespace=True),
            ["metadata.namespace: expected a string, got a boolean (quote it)"],
            id="namespace that is a boolean",
        ),
        pytest.param(
            service(labels={"a": "b", "c": None}, annotations={"x": 5, "y": {"z": 1}}),
            [
                "metadata.labels[c]: expected a string, got null",
                "metadata.annotations[x]: expected a string, got an integer (quote it)",
                "metadata.annotations[y]: expected a string, got an object",
            ],
            id="values that are no texts",
        ),
        pytest.param(
            service(finalizers="a", ownerReferences=["b", {}]),
            [
                "metadata.finalizers: expected a list, got a string",
                "metadata.ownerReferences[0]: expected an object, got a string",
            ],
            id="lists of metadata",
        ),
        pytest.param(
            service(finalizers=["a", 1]),
            ["metadata.finalizers[1]: expected a string, got an integer (quote it)"],
            id="finalizer",
        ),
        pytest.param(service(labels=["a"]), ["metadata.labels: expected an object, got a list"], id="labels as a list"),
        pytest.param(
            service(annotations="x" * 100),
            ["metadata.annotations: expected an object, got a string"],
            id="annotations as a long text",
        ),
        pytest.param(service(labels=None, annotations=None, namespace=None), [], id="metadata given as null"),
    ],
)
def test_an_object_needs_a_type_a_name_and_texts_for_labels(document: Any, expected: list[str]) -> None:
    assert problems(document) == expected


def test_an_empty_document_holds_no_object() -> None:
    assert list(parts_of(None)) == []


def test_lists_of_lists_are_taken_apart() -> None:
    inner = {"apiVersion": "v1", "kind": "ServiceList", "items": [service("b"), service("c")]}
    document = {
        "apiVersion": "v1",
        "kind": "List",
        "items": [service("a"), inner, {"apiVersion": "v1", "kind": "List", "items": None}],
    }

    assert [(part.value["metadata"]["name"], part.where) for part in parts_of(document)] == [
        ("a", "items[0]"),
        ("b", "items[1].items[0]"),
        ("c", "items[1].items[1]"),
    ]


def test_items_of_a_typed_list_take_its_type_where_they_have_none() -> None:
    items = [{"metadata": {"name": "a"}}, {"apiVersion": "v2", "kind": None, "metadata": {"name": "b"}}]

    parts = list(parts_of({"apiVersion": "apps/v1", "kind": "DeploymentList", "items": items}))

    assert [(part.value["apiVersion"], part.value["kind"], part.problems) for part in parts] == [
        ("apps/v1", "Deployment", ()),
        ("v2", "Deployment", ()),
    ]
    assert items[0] == {"metadata": {"name": "a"}}


def test_a_kind_that_only_sounds_like_a_list_is_an_object() -> None:
    (part,) = parts_of({"apiVersion": "example.org/v1", "kind": "AllowList", "metadata": {"name": "a"}})

    assert (part.where, part.problems) == ("", ())


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        pytest.param({"apiVersion": "v1", "kind": "List", "items": []}, [], id="empty"),
        pytest.param({"apiVersion": "v1", "kind": "List"}, ["a List without items"], id="no items"),
        pytest.param({"kind": "List", "items": []}, ["a List without apiVersion"], id="no version"),
        pytest.param(
            {"apiVersion": "v1", "kind": "PodList", "items": {"a": 1}},
            ["items: expected a list, got an object"],
            id="items that are no list",
        ),
        pytest.param(
            {"apiVersion": "v1", "kind": "List", "items": [service(), 5, service("")]},
            ["items[1]: expected an object, got an integer", "items[2]: a Service without a name"],
            id="bad items",
        ),
    ],
)
def test_a_list_and_its_items_are_judged_each(document: Any, expected: list[str]) -> None:
    assert problems(document) == expected
