"""Which container ports of a Service its Ingresses lead to.

Source: network-and-nodes §2.5, Service-port to target-port translation.
"""

from collections import defaultdict
from collections.abc import Iterable

from hedgerow.machinery.objects import ObjectKey
from hedgerow.resource_manager.network_policies.ports import PolicyPort
from hedgerow.resource_manager.network_policies.views import (
    Ingress,
    IngressView,
    Service,
    ServiceView,
)


def ingress_backend_ports(service: Service, ingresses: Iterable[Ingress]) -> tuple[PolicyPort, ...]:
    """The container ports of a Service that Ingresses of its namespace route to, each once, in order of appearance.

    A backend that names a port means the Service port of that name, one with a number the port of that number; a
    backend that fits no port of the Service opens nothing.
    """
    view = ServiceView.of(service)
    targets: defaultdict[object, list[PolicyPort]] = defaultdict(list)
    for port in view.ports:
        targets[port.name].append(port.target)
        targets[port.number].append(port.target)
    backends = dict.fromkeys(
        backend
        for ingress in map(IngressView.of, ingresses)
        if ingress.namespace == view.key.namespace
        for backend in ingress.backends
        if backend.service == view.key.name
    )
    meant = (backend.port_name or backend.port_number for backend in backends)
    return tuple(dict.fromkeys(target for each in meant if each is not None for target in targets.get(each, ())))


def services_of_ingress(ingress: Ingress) -> frozenset[ObjectKey]:
    """The keys of the Services that the paths of an Ingress lead to."""
    view = IngressView.of(ingress)
    return frozenset(ObjectKey(view.namespace, backend.service) for backend in view.backends)
