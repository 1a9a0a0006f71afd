"""Whether plain manifests have the shape that the rules rely on.

An API server has checked this before it stored an object; files and callers have not. Each shape names, with its path,
whatever cannot stand where it stands; absent and null are the same. Views are made of what was checked, so they pass.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.names import dns_label_problem
from hedgerow.machinery.objects import ObjectKey, Resource, key_of
from hedgerow.resource_manager.network_policies.annotations import INGRESSES, NAMESPACES, SERVICES
from hedgerow.resource_manager.network_policies.views import (
    Ingress,
    IngressView,
    Namespace,
    NamespaceView,
    Service,
    ServiceView,
)

_INT32: Final = range(-(2**31), 2**31)
_Shape: TypeAlias = Callable[[Any, str], Iterator[tuple[str, str]]]
"""Takes a value and its path, yields paths and problems."""


def _text(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if value is not None and not isinstance(value, str):
        yield path, "must be a string"


def _number(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if value is not None and not _is_number(value):
        yield path, "must be a number"


def _required_number(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if not _is_number(value):
        yield path, "is missing" if value is None else "must be a number"


def _number_or_name(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if value is not None and not _is_number(value) and not isinstance(value, str):
        yield path, "must be a number or a name"


def _required_name(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Services and Namespaces are called as a DNS label; of an Ingress, whose name nobody reads, no more is asked."""
    if not isinstance(value, str) or not value:
        yield path, "is missing" if value is None or value == "" else "must be a string"
    elif problem := dns_label_problem(value):
        yield path, problem


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Texts by text, as labels, annotations and selectors are."""
    if value is not None and not isinstance(value, Mapping):
        yield path, "must be a mapping"
        return
    for name, entry in (value or {}).items():
        if not isinstance(name, str):
            yield path, f"key {name} must be a string"
        elif not isinstance(entry, str):
            yield f'{path}["{name}"]', "must be a string"


def _structure(fields: Mapping[str, _Shape]) -> _Shape:
    """A mapping with these fields, whatever else it holds."""

    def problems(value: Any, path: str) -> Iterator[tuple[str, str]]:
        if value is not None and not isinstance(value, Mapping):
            yield path, "must be a mapping"
            return
        for name, shape in fields.items():
            yield from shape((value or {}).get(name), f"{path}.{name}".removeprefix("."))

    return problems


def _list_of(shape: _Shape) -> _Shape:
    """A list of values of one shape."""

    def problems(value: Any, path: str) -> Iterator[tuple[str, str]]:
        if value is not None and not isinstance(value, list | tuple):
            yield path, "must be a list"
            return
        for position, entry in enumerate(value or ()):
            yield from shape(entry, f"{path}[{position}]")

    return problems


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value in _INT32


_PORT: Final = {"port": _required_number, "targetPort": _number_or_name, "protocol": _text, "name": _text}
_BACKEND: Final = {"name": _text, "port": _structure({"name": _text, "number": _number})}
_PATH: Final = {"backend": _structure({"service": _structure(_BACKEND)})}
_RULE: Final = {"http": _structure({"paths": _list_of(_structure(_PATH))})}

_SERVICE: Final = _structure(
    {
        "metadata": _structure({"name": _required_name, "namespace": _required_name, "annotations": _texts}),
        "spec": _structure({"selector": _texts, "ports": _list_of(_structure(_PORT))}),
    }
)
_NAMESPACE: Final = _structure({"metadata": _structure({"name": _required_name, "labels": _texts})})
_INGRESS: Final = _structure(
    {
        "metadata": _structure({"name": _text, "namespace": _required_name}),
        "spec": _structure({"rules": _list_of(_structure(_RULE))}),
    }
)


_SHAPES: Final[Mapping[Resource, _Shape]] = {SERVICES: _SERVICE, NAMESPACES: _NAMESPACE, INGRESSES: _INGRESS}
_VIEWS: Final = (ServiceView, NamespaceView, IngressView)


def shape_failures(resource: Resource, objects: Iterable[Service | Namespace | Ingress]) -> tuple[DomainFailure, ...]:
    """What keeps manifests from being read as what they should be, field by field; empty for all that is stored."""
    shape = _SHAPES[resource]
    failures = [
        DomainFailure(resource, _key(each), field, problem)
        for each in objects
        if not isinstance(each, _VIEWS)
        for field, problem in shape(each, "")
    ]
    return tuple(sorted(failures, key=str))


def _key(value: Any) -> ObjectKey:
    has_metadata = isinstance(value, Mapping) and isinstance(value.get("metadata"), Mapping)
    return key_of(value) if has_metadata else ObjectKey("", "")


def name_of(namespace: object) -> str | None:
    """The name of a Namespace whose shape is not known yet; none where it has none."""
    if isinstance(namespace, NamespaceView):
        return namespace.name
    metadata = namespace.get("metadata") if isinstance(namespace, Mapping) else None
    return metadata.get("name") if isinstance(metadata, Mapping) else None
