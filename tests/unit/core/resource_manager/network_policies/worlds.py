"""Small clusters as hypothesis draws them, and a server that keeps them: the truth that a view may lag behind.

Names are chosen so that no two Services ask for policies of the same name, which nothing guards against. Strategies are
made once, and draw as little as possible: that takes longer than everything that is decided.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from itertools import chain, permutations, product
from typing import Any

from hypothesis import strategies as st

from hedgerow.api.kubernetes import INGRESSES, NAMESPACES, NETWORK_POLICIES, SERVICES, namespace_key
from hedgerow.api.network_policies import POLICY_DESCRIPTION, service_of_policy
from hedgerow.machinery.controller import Context, all_keys
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, is_terminating, key_of, labels_of
from hedgerow.machinery.patches import apply_merge_patch
from hedgerow.machinery.plan import Action, Create, Delete, MergePatch, Plan
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.resource_manager.network_policies import IngressController, NetworkPolicyConfig, network_policy_controller
from hedgerow_adapters.cache import StoreSnapshot
from tests.executions import plan_of
from tests.snapshots import snapshot_over
from tests.unit.core.resource_manager.network_policies.objects import backend, ingress, namespace, policy, service

RESOURCES = {resource.kind: resource for resource in (SERVICES, NAMESPACES, INGRESSES, NETWORK_POLICIES)}
NOW = datetime(2026, 1, 1, tzinfo=UTC)
GOING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
NAMESPACE_NAMES = ("a", "b", "c")
SERVICE_KEYS = tuple(ObjectKey(home, name) for home, name in product(("a", "b"), ("db", "web")))
TEAM_X = LabelSelector((("team", "x"),))
SELECTORS = ("[]", "null", "[{}]", '[{"matchLabels":{"team":"x"}}]', '[{"matchLabels":{"team":"y"}},{}]', "", "[null]")
WORLD_PORTS = ("[]", "null", '[{"port":"443","protocol":"TCP"}]', '[{"protocol":"UDP"}]', '[{"port":""}]', "notjson")
ALIAS_PORTS = (
    "[]",
    '[{"port":9090},{"port":"metrics","protocol":"UDP"}]',
    '[{"port":9090}]',
    '[{"port":0},{"port":9091}]',
    '[{"port":80},{"port":80,"endPort":90}]',
    '[{"protocol":"TCP"}]',
    "notjson",
)
ANNOTATIONS = {
    "namespace-selectors": SELECTORS,
    "pod-label-selector-namespace-alias": ("", "all-foos", "no label"),
    "from-world-to-ports": WORLD_PORTS,
    "from-all-bars-allowed-ports": ALIAS_PORTS,
    "from-All_Bars-allowed-ports": ALIAS_PORTS[:3],
    "unrelated": ("x",),
}
PORTS: Sequence[Mapping[str, Any]] = (
    {"port": 80, "protocol": "TCP", "targetPort": 8080, "name": "http"},
    {"port": 81, "targetPort": "http", "name": "named"},
    {"port": 82, "targetPort": 8080, "name": "again"},
    {"port": 53, "protocol": "UDP", "name": "dns"},
    {"port": 83, "targetPort": 70000, "name": "bad"},
    {"port": 84, "targetPort": "http-from-b", "name": "clash"},
)


def configs() -> st.SearchStrategy[NetworkPolicyConfig]:
    """Everything handled or team x alone; no ingress controller, or one that lives in a or in c."""
    controllers = [None, *(IngressController(home, LabelSelector((("app", "nginx"),))) for home in ("a", "c"))]
    return st.builds(NetworkPolicyConfig, st.sampled_from([(), (TEAM_X,)]), st.sampled_from(controllers))


SELDOM = st.sampled_from([False] * 7 + [True])
"""True in one of eight cases, so that most of a world is alive."""
ANNOTATION_VALUES = st.tuples(*(st.sampled_from([None] * len(values) + [*values]) for values in ANNOTATIONS.values()))
"""Of each annotation its value, or none in half of the cases."""
PORT_LISTS = st.sampled_from([*chain.from_iterable(permutations(PORTS, number) for number in range(4))])
"""Up to three different ports in any order."""


@cache
def namespaces(name: str) -> st.SearchStrategy[Manifest]:
    """A Namespace of some team, which may be terminating."""
    labels = st.sampled_from([{"team": "x"}, {"team": "x"}, {"team": "y"}, {}])
    return st.builds(lambda team, going: namespace(name, team, terminating=going), labels, SELDOM)


@cache
def services(key: ObjectKey) -> st.SearchStrategy[Manifest]:
    """A Service with any of our annotations, readable or not."""
    return st.builds(partial(service_of, key), ANNOTATION_VALUES, PORT_LISTS, SELDOM, SELDOM)


def service_of(
    key: ObjectKey,
    values: tuple[str | None, ...],
    ports: Sequence[Mapping[str, Any]],
    selects_nothing: bool,  # noqa: FBT001 -- hypothesis passes it
    is_going: bool,  # noqa: FBT001 -- as above
) -> Manifest:
    annotations = {name: value for name, value in zip(ANNOTATIONS, values, strict=True) if value is not None}
    selector = {} if selects_nothing else {"app": key.name, "tier": "x"}
    return service(annotations, ports, selector, name=key.name, namespace=key.namespace, **(GOING if is_going else {}))


@cache
def ingresses(name: str) -> st.SearchStrategy[Manifest]:
    """An Ingress of namespace a that leads to a few ports, some of them to none."""
    ports = st.sampled_from([80, 81, "http", "dns", 9999])
    backends = st.lists(st.builds(backend, ports, st.sampled_from(["web", "db"])), max_size=3)
    return backends.map(lambda found: ingress(*found, name=name, namespace="a"))


@st.composite
def surroundings(draw: st.DrawFn) -> tuple[Manifest, ...]:
    """Namespaces, Services and Ingresses; now and then something is missing."""
    return (
        *(draw(namespaces(name)) for name in NAMESPACE_NAMES if not draw(SELDOM)),
        *(draw(services(key)) for key in SERVICE_KEYS if not draw(SELDOM)),
        *(draw(ingresses(name)) for name in ("web", "other") if draw(st.booleans())),
    )


@dataclass(frozen=True)
class World:
    """A configuration, what people wrote, and the policies that exist."""

    config: NetworkPolicyConfig
    objects: tuple[Manifest, ...]
    policies: tuple[Manifest, ...]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """A cluster with policies that fit it, policies of an earlier state, policies edited by hand, and foreign ones."""
    config, objects, earlier = draw(configs()), draw(surroundings()), draw(surroundings())
    known = {**settled(World(config, earlier, ())), **settled(World(config, objects, ()))}
    kept = [apply_merge_patch(known[key], edit) for key in sorted(known) if (edit := draw(EDITS)) is not None]
    return World(config, objects, (*kept, *FOREIGN, policy("stale", "a/web", namespace="c"), policy("gone", "x/gone")))


FOREIGN = tuple(policy(name, None, namespace=home) for name, home in product(("deny-all", "egress-to-x"), ("a", "c")))


EDITS = st.sampled_from(
    [
        *[None] * 5,
        {},
        {},
        {"spec": {"podSelector": {"matchLabels": {"by": "hand"}}, "ingress": []}},
        {"metadata": {"annotations": {POLICY_DESCRIPTION: "Mine.", "own": "x"}, "labels": {"own": "x"}}},
        {"metadata": {"labels": labels_of(policy("x", "b/db"))}},
    ]
)
"""What somebody did to a policy: deleted it, nothing, or gave it another spec, description, further labels, or the
labels of another Service."""


def changes() -> st.SearchStrategy[Manifest | tuple[Resource, ObjectKey]]:
    """Something that people do: an object as it is from now on, or the key of one that they delete."""
    keys = [
        *((SERVICES, key) for key in SERVICE_KEYS),
        *((NAMESPACES, namespace_key(name)) for name in NAMESPACE_NAMES),
        (INGRESSES, ObjectKey("a", "web")),
    ]
    return st.one_of(
        st.sampled_from(SERVICE_KEYS).flatmap(services),
        st.sampled_from(SERVICE_KEYS).flatmap(services),
        st.sampled_from(NAMESPACE_NAMES).flatmap(namespaces),
        ingresses("web"),
        st.sampled_from(keys),
    )


class Cluster:
    """The true state with its history. Writes happen under the conditions that an API server checks."""

    def __init__(self, config: NetworkPolicyConfig) -> None:
        self.controller = network_policy_controller(config)
        self.objects: dict[Resource, dict[ObjectKey, Manifest]] = {resource: {} for resource in RESOURCES.values()}
        self._history: list[tuple[Resource, ObjectKey, Manifest | None]] = []
        self._keeps = {watch.resource: watch.transform for watch in self.controller.watches}
        self._current = snapshot_over(self.controller)

    @classmethod
    def of(cls, world: World) -> "Cluster":
        """A server that holds a world."""
        cluster = cls(world.config)
        for manifest in (*world.objects, *world.policies):
            cluster.put(manifest)
        return cluster

    def put(self, manifest: Manifest) -> None:
        """Store an object, with a version of its own."""
        version = str(len(self._history) + 1)
        uid = manifest["metadata"].get("uid", f"uid-{version}")
        self.hold({**manifest, "metadata": {**manifest["metadata"], "uid": uid, "resourceVersion": version}})

    def hold(self, manifest: Manifest) -> None:
        """Store an object as it is."""
        self._note(RESOURCES[manifest["kind"]], key_of(manifest), manifest)

    def remove(self, resource: Resource, key: ObjectKey) -> None:
        """Forget an object."""
        self._note(resource, key, None)

    def _note(self, resource: Resource, key: ObjectKey, manifest: Manifest | None) -> None:
        self._history.append((resource, key, manifest))
        changed(self.objects[resource], key, manifest)
        if keep := self._keeps.get(resource):
            store = self._current.store(resource)
            _ = store.remove(key) if manifest is None else store.put(keep(manifest))

    def happen(self, change: Manifest | tuple[Resource, ObjectKey]) -> None:
        """Let people do something."""
        if isinstance(change, tuple):
            self.remove(*change)
        else:
            self.put(change)

    @property
    def policies(self) -> Mapping[ObjectKey, Manifest]:
        """The policies that exist."""
        return self.objects[NETWORK_POLICIES]

    def snapshot(self, behind: int = 0) -> StoreSnapshot:
        """What a cache shows that has not seen the latest changes."""
        if not behind:
            return self._current
        seen: dict[Resource, dict[ObjectKey, Manifest]] = {resource: {} for resource in self._keeps}
        for resource, key, manifest in self._history[:-behind]:
            if resource in seen:
                changed(seen[resource], key, manifest)
        return snapshot_over(self.controller, {resource: held.values() for resource, held in seen.items()})

    def plan(self, key: ObjectKey, behind: int = 0) -> Plan:
        """What the controller decides from such a cache."""
        return plan_of(self.controller.reconcile(key, self.snapshot(behind), Context(NOW, self.controller.config)))

    def every_key(self) -> list[ObjectKey]:
        """All keys that the controller has anything to do with."""
        return all_keys(self.controller, self.snapshot())

    def carry_out(self, action: Action) -> bool:
        """Do what an action asks for, unless its condition does not hold; whether it was done."""
        live = self.policies.get(action.key)
        match action:
            case Create() if live is None:
                home = self.objects[NAMESPACES].get(namespace_key(action.key.namespace))
                if home and is_terminating(home):
                    return False
                self.put(action.manifest)
            case MergePatch(patch=patch, resource_version=version) if live and is_of_version(live, version):
                self.put(apply_merge_patch(live, patch))
            case Delete(uid=uid, resource_version=version) if live and is_of_version(live, version):
                assert live["metadata"]["uid"] == uid
                self.remove(NETWORK_POLICIES, action.key)
            case _:
                return False
        return True

    def settle(self) -> list[Action]:
        """Look at every key once, on what is true at that time; what was done."""
        return [action for key in self.every_key() for action in self.plan(key).actions if self.carry_out(action)]


def changed(held: dict[ObjectKey, Manifest], key: ObjectKey, manifest: Manifest | None) -> None:
    """Make objects what they are after a change of one of them."""
    held.pop(key, None)
    if manifest is not None:
        held[key] = manifest


def is_of_version(live: Manifest, version: str | None) -> bool:
    """Whether an object still is the version that a decision has seen."""
    return bool(live["metadata"]["resourceVersion"] == version)


def settled(world: World) -> dict[ObjectKey, Manifest]:
    """The policies that a world ends up with, without what a server adds."""
    cluster = Cluster.of(world)
    cluster.settle()
    return {key: without_server_fields(manifest) for key, manifest in cluster.policies.items()}


def without_server_fields(manifest: Manifest) -> Manifest:
    """An object as it was sent."""
    metadata = {name: value for name, value in manifest["metadata"].items() if name not in ("uid", "resourceVersion")}
    return {**manifest, "metadata": metadata}


def managed(policies: Iterable[Manifest]) -> Mapping[ObjectKey, tuple[Any, ...]]:
    """What is ours of the policies that belong to a Service: owner, description and spec."""
    return {
        key_of(manifest): (owner, manifest["metadata"].get("annotations", {}).get(POLICY_DESCRIPTION), manifest["spec"])
        for manifest in policies
        if (owner := service_of_policy(manifest))
    }
