"""Kubernetes objects out of decoded documents: lists taken apart, each object with what is wrong with it."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from hedgerow.machinery.failures import Problem
from hedgerow.machinery.manifests import object_problems, type_problems, wrong_type

_LIST: Final = "List"


class Part(NamedTuple):
    """An object of a document, or what stands in the place of one."""

    value: Any
    where: str
    """Its place in the lists that hold it, such as `items[3]`; empty for a document that is no list."""
    problems: tuple[Problem, ...]


def parts_of(document: Any, *, sent: bool = False) -> Iterator[Part]:
    """All objects that a document holds, each with what is wrong with it; none for an empty document.

    Args:
        document: any JSON value, of bounded nesting.
        sent: whether the objects are as somebody sends them to an API server, and not as one holds them.
    """
    if document is not None:
        yield from _parts(document, "", sent=sent)


def _parts(value: Any, where: str, *, sent: bool) -> Iterator[Part]:
    if not _is_list(value):
        yield Part(value, where, object_problems(value, sent=sent))
        return
    items, problems = _items(value)
    if problems:
        yield Part(value, where, problems)
    for position, item in enumerate(items):
        yield from _parts(_typed_as_item(item, value), f"{where}.items[{position}]".removeprefix("."), sent=sent)


def _is_list(value: Any) -> bool:
    """Whether a value is a list of objects, as `kubectl get -o yaml` and API servers write them."""
    kind = value.get("kind") if isinstance(value, dict) else None
    return isinstance(kind, str) and (kind == _LIST or (kind.endswith(_LIST) and "items" in value))


def _items(value: Mapping[str, Any]) -> tuple[list[Any], tuple[Problem, ...]]:
    """The items of a list of objects, and what is wrong with the list itself."""
    problems = tuple(type_problems(value))
    if "items" not in value:
        return [], (*problems, Problem("", "a List without items"))
    items = value["items"]
    if items is not None and not isinstance(items, list):
        return [], (*problems, wrong_type("items", "a list", items))
    return items or [], problems


def _typed_as_item(item: Any, parent: Mapping[str, Any]) -> Any:
    """An item with the type that a list such as a PodList implies for items that do not say theirs."""
    kind = parent["kind"].removesuffix(_LIST)
    if not isinstance(item, dict) or not kind:
        return item
    implied = {"apiVersion": parent.get("apiVersion"), "kind": kind}
    missing = {name: value for name, value in implied.items() if item.get(name) is None}
    return {**implied, **item, **missing}
