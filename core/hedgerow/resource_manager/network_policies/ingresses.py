"""Which container ports of a Service its Ingresses lead to.

Source: network-and-nodes §2.5, Service-port to target-port translation.
"""

from collections.abc import Iterable

from hedgerow.machinery.objects import ObjectKey
from hedgerow.resource_manager.network_policies.ports import PolicyPort
from hedgerow.resource_manager.network_policies.views import (
    Backend,
    Ingress,
    IngressView,
    Service,
    ServicePort,
    ServiceView,
)


def ingress_backend_ports(service: Service, ingresses: Iterable[Ingress]) -> tuple[PolicyPort, ...]:
    """The container ports of a Service that Ingresses of its namespace route to, each once, in order of appearance.

    A backend that names a port means the Service port of that name, one with a number the port of that number; a
    backend that fits no port of the Service opens nothing.
    """
    view = ServiceView.of(service)
    backends = [
        backend
        for ingress in map(IngressView.of, ingresses)
        if ingress.namespace == view.key.namespace
        for backend in ingress.backends
        if backend.service == view.key.name
    ]
    ports = [port.target for backend in backends for port in view.ports if _leads_to(backend, port)]
    return tuple(dict.fromkeys(ports))


def _leads_to(backend: Backend, port: ServicePort) -> bool:
    if backend.port_name:
        return port.name == backend.port_name
    return backend.port_number is not None and port.number == backend.port_number


def services_of_ingress(ingress: Ingress) -> frozenset[ObjectKey]:
    """The keys of the Services that the paths of an Ingress lead to."""
    view = IngressView.of(ingress)
    return frozenset(ObjectKey(view.namespace, backend.service) for backend in view.backends)
