"""Whether plain manifests have the shape that the rules rely on.

An API server has checked this before it stored an object; files and callers have not. Views are made from what has
been checked, so they pass.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.names import dns_label_problem
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.resource_manager.network_policies.annotations import INGRESSES, NAMESPACES, SERVICES
from hedgerow.resource_manager.network_policies.views import (
    Ingress,
    IngressView,
    Namespace,
    NamespaceView,
    Service,
    ServiceView,
)

_NOTHING: Mapping[str, Any] = {}


class _Problem(NamedTuple):
    """What is wrong with one field."""

    field: str
    text: str


def shape_failures(
    service: Service, namespaces: Iterable[Namespace], ingresses: Iterable[Ingress]
) -> tuple[DomainFailure, ...]:
    """What keeps manifests from being read as what they should be, field by field; empty for all that is stored."""
    return (
        *_failures(SERVICES, () if isinstance(service, ServiceView) else (service,), _service_problems),
        *_failures(NAMESPACES, (each for each in namespaces if not isinstance(each, NamespaceView)), _namespace_problems),
        *_failures(INGRESSES, (each for each in ingresses if not isinstance(each, IngressView)), _ingress_problems),
    )


def _failures(
    resource: Resource, manifests: Iterable[Manifest], problems: Callable[[Manifest], Iterator[_Problem]]
) -> Iterator[DomainFailure]:
    for manifest in manifests:
        for field, problem in problems(manifest):
            yield DomainFailure(resource, _key(manifest), field, problem)


def _key(manifest: Manifest) -> ObjectKey:
    """The key as far as there is one, so that the failure names the object that it is about."""
    return key_of(manifest) if isinstance(manifest.get("metadata"), Mapping) else ObjectKey("", "")


def _service_problems(service: Manifest) -> Iterator[_Problem]:
    yield from _metadata_problems(service, "namespace", "name")
    yield from _text_map_problems(service, "metadata", "annotations")
    spec = service.get("spec")
    if problem := _wrong_type("spec", spec, Mapping):
        yield problem
    elif spec:
        yield from _text_map_problems(service, "spec", "selector")
        yield from _each("spec.ports", spec.get("ports"), _port_problems)


def _port_problems(field: str, port: Manifest) -> Iterator[_Problem]:
    if not _is_number(port.get("port")):
        yield _Problem(f"{field}.port", "is missing" if port.get("port") is None else "must be a number")
    target = port.get("targetPort")
    if target is not None and not _is_number(target) and not isinstance(target, str):
        yield _Problem(f"{field}.targetPort", "must be a number or a name")
    for name in ("protocol", "name"):
        if problem := _wrong_type(f"{field}.{name}", port.get(name), str):
            yield problem


def _namespace_problems(namespace: Manifest) -> Iterator[_Problem]:
    yield from _metadata_problems(namespace, "name")
    yield from _text_map_problems(namespace, "metadata", "labels")


def _ingress_problems(ingress: Manifest) -> Iterator[_Problem]:
    yield from _metadata_problems(ingress, "namespace", "name")
    spec = ingress.get("spec")
    if problem := _wrong_type("spec", spec, Mapping):
        yield problem
    elif spec:
        yield from _each("spec.rules", spec.get("rules"), _rule_problems)


def _rule_problems(field: str, rule: Manifest) -> Iterator[_Problem]:
    http = rule.get("http")
    if problem := _wrong_type(f"{field}.http", http, Mapping):
        yield problem
    elif http:
        yield from _each(f"{field}.http.paths", http.get("paths"), _path_problems)


def _path_problems(field: str, path: Manifest) -> Iterator[_Problem]:
    """The backend of a path, down to the Service port: each part is there or not, and if it is, it is a mapping."""
    part: Mapping[str, Any] = path
    for name in ("backend", "service", "port"):
        field = f"{field}.{name}"
        if problem := _wrong_type(field, part.get(name), Mapping):
            yield problem
            return
        if name == "port" or 
