"""Landscapes, and what people do to them: all from a seed, and the same whatever the controller does meanwhile.

What people do depends on nothing that the controller writes, and asks for nothing that cannot be understood: so that
where all came out well the policies in the end follow from the seed alone.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from typing_extensions import override

from hedgerow.machinery.controller import plans
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.resource_manager.network_policies import IngressController, NetworkPolicyConfig, network_policy_controller
from hedgerow_adapters.memory.reads import OnClose, OnEvent, Subscription
from hedgerow_adapters.protocol.transport import Request, Response
from hedgerow_adapters.simulation.planning import settle
from tests.snapshots import snapshot_over
from tests.unit.adapters.runtime.world import (
    DOMAIN,
    NAMESPACES,
    PODS_OF_WEB,
    POLICIES,
    SCRAPED,
    SERVICES,
    World,
    service,
)

INGRESSES: Final = Resource("networking.k8s.io", "v1", "ingresses", "Ingress")
CONTROLLER: Final = network_policy_controller(
    NetworkPolicyConfig(ingress_controller=IngressController("web", LabelSelector((("app", "nginx"),))))
)
HOMES: Final = ("shop", "web", "back", "batch")
TIERS: Final = ("web", "data", "none")
ANNOTATIONS: Final[Sequence[Mapping[str, str]]] = (
    {},
    PODS_OF_WEB,
    SCRAPED,
    {**SCRAPED, f"{DOMAIN}/namespace-selectors": '[{"matchLabels":{"tier":"data"}},{"matchLabels":{"tier":"web"}}]'},
    {f"{DOMAIN}/from-world-to-ports": '[{"protocol":"TCP","port":8080}]'},
)
LONG_ENOUGH: Final = 700.0
"""Virtual seconds after which nothing waits any more: no back-off, no guard, no watch that has to run out."""


Lens: TypeAlias = Callable[[OnEvent, OnClose], OnEvent]
"""What makes of the listener to a watch another that hears the same otherwise; it may end the watch."""


def clear(on_event: OnEvent, _on_close: OnClose) -> OnEvent:
    """The lens that changes nothing."""
    return on_event


class Landscape(World):
    """A cluster with Services in several Namespaces, and people at work in it."""

    def __init__(self, seed: int, services: int = 8) -> None:
        super().__init__()
        self.numbers = random.Random(seed)  # noqa: S311 -- no secret, but the same numbers every time
        self.people: dict[ObjectKey, str] = {}
        """The Services that exist, and what is to be known of each."""
        self.lens: Lens = clear
        """Through what the watches that are opened from now on are seen."""
        self._born = 0
        for home in HOMES[2:]:
            self.create(NAMESPACES, {"metadata": {"name": home, "labels": {"tier": self.numbers.choice(TIERS)}}})
        for _ in range(services):
            self.add_service()

    @override
    def watch(self, request: Request, on_event: OnEvent, on_close: OnClose | None = None) -> Subscription | Response:
        closed = on_close or (lambda _error: None)
        return super().watch(request, self.lens(on_event, closed), closed)

    def happen(self) -> None:
        """Somebody does something."""
        choose: Callable[..., list[Callable[[], None]]] = self.numbers.choices
        (deed,) = choose(list(self._deeds), weights=list(self._deeds.values()))
        deed()

    @property
    def _deeds(self) -> dict[Callable[[], None], int]:
        """What people do, and how often."""
        return {
            self.add_service: 6,
            self.remove_service: 5,
            self.change_annotations: 6,
            self.change_ports: 4,
            self.relabel_namespace: 2,
            self.edit_policy: 4,
            self.delete_policy: 4,
            self.change_ingress: 3,
            self.end_namespace: 1,
        }

    def add_service(self) -> None:
        self._born += 1
        key = ObjectKey(self.numbers.choice(HOMES), f"svc-{self._born}")
        port = self.numbers.choice((8080, 9090))
        self.create(SERVICES, service(key, self.numbers.choice(ANNOTATIONS), port))
        self.people[key] = f"ingress-to-{key.name}-tcp-{port}"

    def remove_service(self) -> None:
        if key := self._any_service():
            self.delete(SERVICES, key)
            del self.people[key]

    def change_annotations(self) -> None:
        if key := self._any_service():
            nothing = dict.fromkeys(name for annotations in ANNOTATIONS for name in annotations)
            self.annotate(key, {**nothing, **self.numbers.choice(ANNOTATIONS)})

    def change_ports(self) -> None:
        if key := self._any_service():
            ports = self.numbers.sample((8080, 9090, "http"), k=self.numbers.randint(1, 3))
            spec = [{"name": f"p{port}", "port": 80 + at, "targetPort": port} for at, port in enumerate(ports)]
            self.patch(SERVICES, key, {"spec": {"ports": spec}})
            self.people[key] = f"ingress-to-{key.name}-tcp-{ports[0]}"

    def relabel_namespace(self) -> None:
        home = self.numbers.choice(HOMES[1:])
        self.patch(NAMESPACES, ObjectKey("", home), {"metadata": {"labels": {"tier": self.numbers.choice(TIERS)}}})

    def edit_policy(self) -> None:
        if policy := self._any_policy():
            self.patch(POLICIES, policy, {"spec": {"podSelector": {"matchLabels": {"by": "hand"}}}})

    def delete_policy(self) -> None:
        if policy := self._any_policy():
            self.delete(POLICIES, policy)

    def change_ingress(self) -> None:
        key = self._any_service()
        if key is None:
            return
        backend = {"service": {"name": key.name, "port": {"number": 80}}}
        paths = [{"path": "/", "pathType": "Prefix", "backend": backend}]
        manifest: dict[str, Any] = {
            "apiVersion": INGRESSES.api_version,
            "kind": INGRESSES.kind,
            "metadata": {"name": "front", "namespace": key.namespace},
            "spec": {"rules": [{"http": {"paths": paths}}]},
        }
        if self.get(INGRESSES, ObjectKey(key.namespace, "front")) is None:
            self.create(INGRESSES, manifest)
        elif self.numbers.random() < 0.3:
            self.delete(INGRESSES, ObjectKey(key.namespace, "front"))
        else:
            self.patch(INGRESSES, ObjectKey(key.namespace, "front"), {"spec": manifest["spec"]})

    def end_namespace(self) -> None:
        """A Namespace ends with all that is in it, and begins anew."""
        self.delete(NAMESPACES, ObjectKey("", "batch"))
        self.run_controllers()
        self.create(NAMESPACES, {"metadata": {"name": "batch", "labels": {"tier": "data"}}})
        self.people = {key: policy for key, policy in self.people.items() if key.namespace != "batch"}

    def _any_service(self) -> ObjectKey | None:
        return self.numbers.choice(list(self.people)) if self.people else None

    def _any_policy(self) -> ObjectKey | None:
        """A policy that the controller owns, if it exists already; which one does not depend on that."""
        if (owner := self._any_service()) is None:
            return None
        policy = ObjectKey(owner.namespace, self.people[owner])
        return policy if self.get(POLICIES, policy) is not None else None

    @property
    def wanted(self) -> set[ObjectKey]:
        """The policies that should exist: what would be created if there were none."""
        everything = {watch.resource: self.objects(watch.resource) for watch in CONTROLLER.watches}
        decided = plans(CONTROLLER, snapshot_over(CONTROLLER, {**everything, POLICIES: ()}), self.now())
        return {action.key for _, plan in decided for action in plan.actions}


def neglected(seed: int, deeds: int = 14) -> Landscape:
    """A landscape that was settled once, and in which some things have happened since."""
    world = Landscape(seed)
    assert not settle(world, [CONTROLLER]).unrest
    for _ in range(deeds):
        world.happen()
    return world
