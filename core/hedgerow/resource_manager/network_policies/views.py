"""What the rules read: Services, Namespaces, Ingresses and the configuration, and whether manifests have that shape.

A view is made from a parsed manifest, which may come from a file: it gets the defaults of an API server, whose checks a
shape makes. A shape names every field of another type, with its path; absent and null are the same.

Source: network-and-nodes §2.3.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from hedgerow.api.kubernetes import INGRESSES, METADATA_NAME, NAMESPACES, SERVICES
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.names import dns_label_problem
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, annotations_of, is_terminating, key_of
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.resource_manager.network_policies.ports import PolicyPort, is_int32, number_if_digits

_NOTHING: Mapping[str, Any] = {}


class ServicePort(NamedTuple):
    """One port of a Service: its own name and number, and the container port behind it."""

    name: str
    number: object
    target: PolicyPort


class ServiceView(NamedTuple):
    """A Service as the rules see it."""

    key: ObjectKey
    annotations: Mapping[str, str]
    selector: Mapping[str, str]
    """Empty where the Service selects no pods."""
    ports: tuple[ServicePort, ...]
    terminating: bool = False

    @classmethod
    def of(cls, service: "Manifest | ServiceView") -> "ServiceView":
        """The view of a manifest; a view is returned as it is."""
        if isinstance(service, ServiceView):
            return service
        spec = service.get("spec") or _NOTHING
        selector, ports = spec.get("selector") or _NOTHING, tuple(map(_service_port, spec.get("ports") or ()))
        return cls(key_of(service), annotations_of(service), selector, ports, is_terminating(service))


def _service_port(port: Mapping[str, Any]) -> ServicePort:
    target = port.get("targetPort") or port.get("port")
    if isinstance(target, str):
        target = number_if_digits(target)
    return ServicePort(port.get("name") or "", port.get("port"), PolicyPort(port.get("protocol") or "TCP", target))


class NamespaceView(NamedTuple):
    """A Namespace as the rules see it."""

    name: str
    labels: Mapping[str, str]
    terminating: bool = False

    @classmethod
    def of(cls, namespace: "Manifest | NamespaceView") -> "NamespaceView":
        """The view of a manifest, with the name label that every stored Namespace carries; a view as it is."""
        if isinstance(namespace, NamespaceView):
            return namespace
        metadata = namespace.get("metadata") or _NOTHING
        name = metadata.get("name") or ""
        labels = metadata.get("labels") or _NOTHING
        if labels.get(METADATA_NAME) != name:
            labels = {**labels, METADATA_NAME: name}
        return cls(name, labels, bool(metadata.get("deletionTimestamp")))


class Backend(NamedTuple):
    """A Service port that a path of an Ingress leads to."""

    service: str
    port_name: str
    port_number: int | None


class IngressView(NamedTuple):
    """An Ingress as the rules see it: the Service backends of its paths. Its default backend does not count."""

    namespace: str
    backends: tuple[Backend, ...]

    @classmethod
    def of(cls, ingress: "Manifest | IngressView") -> "IngressView":
        """The view of a manifest; a view is returned as it is."""
        if isinstance(ingress, IngressView):
            return ingress
        rules = (ingress.get("spec") or _NOTHING).get("rules") or ()
        paths = [path for rule in rules for path in (rule.get("http") or _NOTHING).get("paths") or ()]
        services = [(path.get("backend") or _NOTHING).get("service") or _NOTHING for path in paths]
        named = [(service["name"], service.get("port") or _NOTHING) for service in services if service.get("name")]
        backends = [Backend(name, port.get("name") or "", port.get("number")) for name, port in named]
        return cls(key_of(ingress).namespace, tuple(backends))


Service: TypeAlias = Manifest | ServiceView
Namespace: TypeAlias = Manifest | NamespaceView
Ingress: TypeAlias = Manifest | IngressView


@dataclass(frozen=True, slots=True)
class IngressController:
    """Where the pods of the ingress controller run, so that the backends of Ingresses can be opened to them."""

    namespace: str
    pod_selector: LabelSelector


@dataclass(frozen=True, slots=True)
class NetworkPolicyConfig:
    """Which Services are handled, and who their Ingresses' traffic comes from."""

    namespace_selectors: tuple[LabelSelector, ...] = ()
    """The Services in namespaces that any of these matches are handled; none: those of all."""
    ingress_controller: IngressController | None = None
    """None: Ingresses are not read."""


@dataclass(frozen=True, slots=True)
class ServiceFacts:
    """A Service, and all that its policies depend on."""

    service: ServiceView
    namespaces: Mapping[str, NamespaceView]
    ingresses: tuple[IngressView, ...]
    config: NetworkPolicyConfig

    @property
    def own_namespace(self) -> NamespaceView:
        """The Service's namespace; one that is missing counts as one without labels."""
        name = self.service.key.namespace
        return self.namespaces.get(name) or NamespaceView(name, {})


_Problem: TypeAlias = tuple[str, str]
"""A path below the value that was looked at, empty for the value itself, and what is wrong there."""
_Shape: TypeAlias = Callable[[Any], Sequence[_Problem]]
"""The problems of a value. Almost none has any, so that paths grow from the problem outwards."""


def _wrong(problem: str) -> Sequence[_Problem]:
    return (("", problem),)


def _scalar(expected: str, fits: Callable[[Any], bool]) -> _Shape:
    """A value that fits; it may be absent."""
    wrong = _wrong(f"must be {expected}")
    return lambda value: () if value is None or fits(value) else wrong


def _required_number(value: Any) -> Sequence[_Problem]:
    return () if is_int32(value) else _wrong("is missing" if value is None else "must be a number")


def _required_name(value: Any) -> Sequence[_Problem]:
    """The names of Services and Namespaces are DNS labels."""
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
            problems.append((f"[{name}]", "must be a string"))
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


_TEXT: Final = _scalar("a string", lambda value: isinstance(value, str))
_NUMBER: Final = _scalar("a number", is_int32)
_NUMBER_OR_NAME: Final = _scalar("a number or a name", lambda value: isinstance(value, str) or is_int32(value))
_PORT: Final = {"port": _required_number, "targetPort": _NUMBER_OR_NAME, "protocol": _TEXT, "name": _TEXT}
_BACKEND: Final = {"name": _TEXT, "port": _structure({"name": _TEXT, "number": _NUMBER})}
_PATH: Final = {"backend": _structure({"service": _structure(_BACKEND)})}
_RULE: Final = {"http": _structure({"paths": _list_of(_structure(_PATH))})}
_SHAPES: Final[Mapping[Resource, _Shape]] = {
    SERVICES: _structure(
        {
            "metadata": _structure({"name": _required_name, "namespace": _required_name, "annotations": _texts}),
            "spec": _structure({"selector": _texts, "ports": _list_of(_structure(_PORT))}),
        }
    ),
    NAMESPACES: _structure({"metadata": _structure({"name": _required_name, "labels": _texts})}),
    INGRESSES: _structure(
        {
            "metadata": _structure({"name": _TEXT, "namespace": _required_name}),
            "spec": _structure({"rules": _list_of(_structure(_RULE))}),
        }
    ),
}
_VIEWS: Final = (ServiceView, NamespaceView, IngressView)


def shape_problems(resource: Resource, manifest: Manifest) -> list[Problem]:
    """The fields in which a manifest has another shape than objects of the resource that an API server stores."""
    return [Problem(path.removeprefix("."), problem) for path, problem in _SHAPES[resource](manifest)]


def shape_failures(resource: Resource, objects: Iterable[Service | Namespace | Ingress]) -> tuple[Failure, ...]:
    """The same of several manifests; views have been checked."""
    unchecked = [manifest for manifest in objects if not isinstance(manifest, _VIEWS)]
    failures = [Failure(resource, _key(one), found) for one in unchecked for found in shape_problems(resource, one)]
    return tuple(sorted(failures, key=str))


def _key(value: object) -> ObjectKey:
    """The key of an object of any shape, its parts of any type."""
    metadata = value.get("metadata") if isinstance(value, (dict, Mapping)) else None
    return key_of({"metadata": metadata if isinstance(metadata, (dict, Mapping)) else None})


def name_of(namespace: object) -> str | None:
    """The name of a Namespace of any shape; none if it has none."""
    name: object = namespace.name if isinstance(namespace, NamespaceView) else _key(namespace).name
    return name if isinstance(name, str) else None
