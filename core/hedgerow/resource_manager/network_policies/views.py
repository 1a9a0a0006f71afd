"""What the rules read of Services, Namespaces and Ingresses.

A view is made from a plain parsed manifest, and only here are defaults filled in that an API server has filled in
already: files and fakes have not. Every function of this package takes manifests and views alike.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

from hedgerow.api.kubernetes import METADATA_NAME
from hedgerow.machinery.objects import Manifest, ObjectKey, annotations_of, is_terminating, key_of, uid_of
from hedgerow.resource_manager.network_policies.ports import PolicyPort, number_if_digits

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
    uid: str | None = None

    @classmethod
    def of(cls, service: "Manifest | ServiceView") -> "ServiceView":
        """The view of a manifest; a view is returned as it is."""
        if isinstance(service, ServiceView):
            return service
        spec = service.get("spec") or _NOTHING
        return cls(
            key=key_of(service),
            annotations=annotations_of(service),
            selector=spec.get("selector") or _NOTHING,
            ports=tuple([_service_port(port) for port in spec.get("ports") or ()]),
            terminating=is_terminating(service),
            uid=uid_of(service),
        )


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
        backends = [_backend((path.get("backend") or _NOTHING).get("service")) for path in paths]
        return cls(key_of(ingress).namespace, tuple([backend for backend in backends if backend]))


def _backend(service: Mapping[str, Any] | None) -> Backend | None:
    if not service or not service.get("name"):
        return None
    port = service.get("port") or _NOTHING
    return Backend(service["name"], port.get("name") or "", port.get("number"))


Service: TypeAlias = Manifest | ServiceView
Namespace: TypeAlias = Manifest | NamespaceView
Ingress: TypeAlias = Manifest | IngressView
