"""Whether plain manifests have the shape that the rules rely on.

An API server has checked this before it stored an object; files and callers have not. Each shape names, with its path,
whatever cannot stand where it stands; absent and null are the same. Views are made of what was checked, so they pass.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from hedgerow.api.kubernetes import INGRESSES, NAMESPACES, SERVICES
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.names import dns_label_problem
from hedgerow.machinery.objects import ObjectKey, Resource, key_of
from hedgerow.resource_manager.network_policies.views import (
    Ingress,
    IngressView,
    Namespace,
    NamespaceView,
    Service,
    ServiceView,
)

_NOTHING: Mapping[str, Any] = {}
_INT32: Final = range(-(2**31), 2**31)
_Problem: TypeAlias = tuple[str, str]
"""A path below the value that was looked at, empty for the value itself, and what is wrong there."""
_Shape: TypeAlias = Callable[[Any], Sequence[_Problem]]
"""Everything that is wrong with a value. Almost nothing is, so that paths grow from the problem outwards."""


def _text(value: Any) -> Sequence[_Problem]:
    return () if value is None or isinstance(value, str) else _wrong("must be a string")


def _number(value: Any) -> Sequence[_Problem]:
    return () if value is None or _is_number(value) else _wrong("must be a number")


def _required_number(value: Any) -> Sequence[_Problem]:
    return () if _is_number(value) else _wrong("is missing" if value is None else "must be a number")


def _number_or_name(value: Any) -> Sequence[_Problem]:
    fits = value is None or isinstance(value, str) or _is_number(value)
    return () if fits else _wrong("must be a number or a name")


def _required_name(value: Any) -> Sequence[_Problem]:
    """Services and Namespaces are called as a DNS label; of an Ingress, whose name nobody reads, no more is asked."""
    if not isinstance(value, str) or not value:
        return _wrong("is missing" if value is None or value == "" else "must be a string")
    problem = dns_label_problem(value)
    return _wrong(problem) if problem else ()


def _texts(value: Any) -> Sequence[_Problem]:
    """Texts by text, as labels, annotations and selectors are."""
    if not isinstance(value, (dict, Mapping)):
        return () if value is None else _wrong("must be a mapping")
    problems: list[_Problem] = []
    for name, entry in value.items():
        if not isinstance(name, str):
            problems.append(("", f"key {name} must be a string"))
        elif not isinstance(entry, str):
            problems.append((f'["{name}"]', "must be a string"))
    return problems


def _structure(fields: Mapping[str, _Shape]) -> _Shape:
    """A mapping with these fields, whatever else it holds."""

    def problems(value: Any) -> Sequence[_Problem]:
        if value is not None and not isinstance(value, (dict, Mapping)):
            return _wrong("must be a mapping")
        present = value or _NOTHING
        found: list[_Problem] = []
        for name, shape in fields.items():
            if inside := shape(present.get(name)):
                found += [(f".{name}{path}", problem) for path, problem in inside]
        return found

    return problems


def _list_of(shape: _Shape) -> _Shape:
    """A list of values of one shape."""

    def problems(value: Any) -> Sequence[_Problem]:
        if value is not None and not isinstance(value, (list, tuple)):
            return _wrong("must be a list")
        return [
            (f"[{position}]{path}", problem)
            for position, entry in enumerate(value or ())
            for path, problem in shape(entry)
        ]

    return problems


def _wrong(problem: str) -> Sequence[_Problem]:
    return (("", problem),)


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
        DomainFailure(resource, _key(each), path.removeprefix("."), problem)
        for each in objects
        if not isinstance(each, _VIEWS)
        for path, problem in shape(each)
    ]
    return tuple(sorted(failures, key=str))


def _key(value: Any) -> ObjectKey:
    has_metadata = isinstance(value, Mapping) and isinstance(value.get("metadata"), Mapping)
    return key_of(value) if has_metadata else ObjectKey("", "")


def name_of(namespace: object) -> str | None:
    """The name of a Namespace whose shape is not known yet; none where it has none."""
    if not isinstance(namespace, (dict, Mapping)):
        return namespace.name if isinstance(namespace, NamespaceView) else None
    metadata = namespace.get("metadata")
    name = metadata.get("name") if isinstance(metadata, (dict, Mapping)) else None
    return name if isinstance(name, str) else None
