"""Whether a plain manifest has the shape that the rules rely on.

An API server has checked this before it stored an object; files and callers have not.
"""

from collections.abc import Iterator, Mapping

from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.names import dns_label_problem
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.resource_manager.network_policies.annotations import SERVICES, annotation_field


def service_failures(service: Manifest) -> tuple[DomainFailure, ...]:
    """What keeps a manifest from being read as a Service, field by field; empty for every stored Service."""
    problems = list(_problems(service))
    if not problems:
        return ()
    metadata = service.get("metadata")
    key = key_of(service) if isinstance(metadata, Mapping) else ObjectKey("", "")
    return tuple(DomainFailure(SERVICES, key, field, problem) for field, problem in problems)


def _problems(service: Manifest) -> Iterator[tuple[str, str]]:
    metadata = service.get("metadata")
    if not isinstance(metadata, Mapping):
        yield "metadata", "is missing" if metadata is None else "must be a mapping"
        return
    yield from _metadata_problems(metadata)
    spec = service.get("spec")
    if spec is None:
        return
    if not isinstance(spec, Mapping):
        yield "spec", "must be a mapping"
        return
    yield from _string_map_problems("spec.selector", spec.get("selector"))
    yield from _ports_problems(spec.get("ports"))


def _metadata_problems(metadata: Manifest) -> Iterator[tuple[str, str]]:
    for field in ("name", "namespace"):
        value = metadata.get(field)
        if not isinstance(value, str) or not value:
            yield f"metadata.{field}", "is missing" if not value else "must be a string"
        elif problem := dns_label_problem(value):
            yield f"metadata.{field}", problem
    annotations = metadata.get("annotations")
    if annotations is None:
        return
    if not isinstance(annotations, Mapping):
        yield "metadata.annotations", "must be a mapping"
        return
    for name, value in annotations.items():
        if not isinstance(value, str):
            yield annotation_field(name), "must be a string"


def _string_map_problems(field: str, value: object) -> Iterator[tuple[str, str]]:
    if value is None:
        return
    if not isinstance(value, Mapping):
        yield field, "must be a mapping"
        return
    for name, entry in value.items():
        if not isinstance(entry, str):
            yield f'{field}["{name}"]', "must be a string"


def _ports_problems(ports: object) -> Iterator[tuple[str, str]]:
    if ports is None:
        return
    if not isinstance(ports, list | tuple):
        yield "spec.ports", "must be a list"
        return
    for position, port in enumerate(ports):
        field = f"spec.ports[{position}]"
        if not isinstance(port, Mapping):
            yield field, "must be a mapping"
            continue
        if not _is_number(port.get("port")):
            yield f"{field}.port", "is missing" if port.get("port") is None else "must be a number"
        target = port.get("targetPort")
        if target is not None and not _is_number(target) and not isinstance(target, str):
            yield f"{field}.targetPort", "must be a number or a name"
        for name in ("protocol", "name"):
            if port.get(name) is not None and not isinstance(port[name], str):
                yield f"{field}.{name}", "must be a string"


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
