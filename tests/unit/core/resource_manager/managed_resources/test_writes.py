"""What every write of a reconciliation respects, whatever the objects are like and whatever happens meanwhile."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_resources import (
    FINALIZE_DELETION_AFTER,
    FINALIZER,
    GARBAGE_COLLECTABLE,
    IGNORE,
    KEEP_OBJECT,
    MANAGED_RESOURCES,
    MODE,
    OPERATION,
    ORIGIN,
)
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, annotations_of, is_terminating, key_of, labels_of
from hedgerow.machinery.plan import Action, Create, Delete, JsonPatch, MergePatch, Update
from hedgerow.machinery.questions import ObjectQuestion
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.machinery.snapshot import Index, Snapshot, Value
from hedgerow.machinery.steps import AtOnce, Step
from hedgerow.resource_manager.managed_resources.reconciliation import ManagedResourceConfig
from tests.unit.core.resource_manager.managed_resources.harness import (
    CLAIMS,
    CONFIG_MAPS,
    KEY,
    STATEFUL_SETS,
    CrashError,
    Harness,
    Report,
    config_map,
    managed_resource,
    secret,
)

OWN: Final = "default/example"
FOREIGN: Final = ("default/other", "seed:default/other", "seed:default/example-2")
NAMES: Final = ("a", "b", "c")
KINDS: Final[tuple[Resource, ...]] = (CONFIG_MAPS, STATEFUL_SETS)
MOST_TURNS: Final = 30


def stateful_set(name: str, **metadata: Any) -> dict[str, Any]:
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": name, "namespace": "default", **metadata},
        "spec": {
            "selector": {"matchLabels": labels},
            "serviceName": name,
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "main", "image": "registry.local/app:v1"}]},
            },
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}],
        },
    }


def claim(name: str, app: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "labels": {"app": app}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata}


@st.composite
def contents(draw: st.DrawFn, names: st.SearchStrategy[Sequence[str]]) -> list[dict[str, Any]]:
    """ConfigMaps and StatefulSets; some of them are ignored in one way or the other."""
    annotations = st.sampled_from([{}, {}, {}, {"note": "1"}, {MODE: "Ignore"}, {IGNORE: "true"}])
    makers = st.sampled_from([config_map, stateful_set])
    return [draw(makers)(name, annotations=draw(annotations)) for name in draw(names)]


LIVE: Final[dict[str, dict[str, Any]]] = {
    "kept": {"annotations": {KEEP_OBJECT: "1"}},
    "collected": {"labels": {GARBAGE_COLLECTABLE: "true"}},
    "held": {"finalizers": ["somebody/else"], "annotations": {FINALIZE_DELETION_AFTER: "1m"}},
    "drifted": {"labels": {"drift": "x"}},
    "without origin": {"annotations": {ORIGIN: None}},
    **{f"of {origin}": {"annotations": {ORIGIN: origin}} for origin in FOREIGN},
}
"""What others do to a live object."""


def objects_of(made: Harness) -> list[tuple[Resource, Manifest]]:
    return [(kind, each) for kind in KINDS for each in made.target.objects(kind)]


def is_kept(resource: Resource, live: Manifest) -> bool:
    """Whether an object stays although no manifest lists it."""
    return (
        annotations_of(live).get(KEEP_OBJECT) == "1"
        or annotations_of(live).get(ORIGIN) in FOREIGN
        or (resource == CONFIG_MAPS and labels_of(live).get(GARBAGE_COLLECTABLE) == "true")
    )


class Watchman:
    """Checks each write before it is sent, against the cluster as it is then."""

    def __init__(self, made: Harness, listed: Sequence[Manifest]) -> None:
        self.made = made
        self.lists(listed)
        made.before_write = self.check

    def lists(self, listed: Sequence[Manifest]) -> None:
        """The Secret lists other objects."""
        self.listed = {
            (each["kind"], key_of(each).name) for each in listed if MODE not in each["metadata"]["annotations"]
        }
        self.released = {(each["kind"], key_of(each).name) for each in listed} - self.listed

    def check(self, action: Action) -> None:
        """Preconditions, order and ownership."""
        self._has_precondition(action)
        if action.resource in KINDS:
            self._is_in_charge()
            live = self.made.get(action.resource, action.key.name)
            match action:
                case Delete():
                    self._may_be_deleted(action, live)
                case Create() | Update():
                    self._may_be_written(action)
                case _:
                    assert live is None or annotations_of(live).get(ORIGIN) == OWN or is_terminating(live)
        elif action.resource == CLAIMS:
            assert self.managed_resource["spec"].get("deletePersistentVolumeClaims") is True
            assert action.key.name.startswith("data-")

    @property
    def managed_resource(self) -> Manifest:
        return self.made.managed_resource()

    def _has_precondition(self, action: Action) -> None:
        """Somebody else's write in between makes every write fail that could undo it, or hit another object."""
        match action:
            case Delete():
                assert action.uid, "a new object of that name would be deleted"
            case Update():
                assert action.manifest["metadata"].get("resourceVersion")
            case MergePatch() if "finalizers" in action.patch.get("metadata", {}):
                assert action.resource_version, "finalizers of others would be lost"
            case JsonPatch() if action.resource != MANAGED_RESOURCES:
                assert action.operations[0]["op"] == "test"
            case _:
                pass

    def _is_in_charge(self) -> None:
        mr = self.managed_resource
        assert FINALIZER in mr["metadata"].get("finalizers", []), "it may go while its objects stay"
        assert IGNORE not in annotations_of(mr) or is_terminating(mr)
        assert "class" not in mr["spec"], "another instance is responsible"

    def _may_be_deleted(self, action: Delete, live: Manifest | None) -> None:
        assert live is not None
        assert live["metadata"]["uid"] == action.uid
        assert not is_kept(action.resource, live)
        mr = self.managed_resource
        assert is_terminating(mr) or (action.resource.kind, action.key.name) not in self.listed | self.released
        assert not (is_terminating(mr) and mr["spec"].get("keepObjects"))
        if action.resource == STATEFUL_SETS:
            assert action.propagation == "Foreground"
            if mr["spec"].get("deletePersistentVolumeClaims"):
                claims = {key_of(each).name for each in self.made.target.objects(CLAIMS) if not is_terminating(each)}
                assert f"data-{action.key.name}-0" not in claims, "nothing leads to its claims any more"

    def _may_be_written(self, action: Create | Update) -> None:
        mr = self.managed_resource
        assert not is_terminating(mr)
        assert (action.resource.kind, action.key.name) in self.listed
        referred = {(each["kind"], each["name"]) for each in mr["status"].get("resources", ())}
        assert (action.resource.kind, action.key.name) in referred, "it would be forgotten if this process died now"
        leaving = [
            (each["kind"], each["name"])
            for each in mr["status"].get("resources", ())
            if (each["kind"], each["name"]) not in self.listed | self.released
        ]
        for resource, live in objects_of(self.made):
            if (resource.kind, key_of(live).name) in leaving:
                assert is_kept(resource, live), "what is no longer listed goes first"


def settled(made: Harness) -> Harness:
    """The harness once nothing is left to do; a minute passes with every turn."""
    calm = 0
    for _ in range(MOST_TURNS):
        calm = calm + 1 if not made.turn().writes else 0
        made.clock.advance(60)
        if calm > 1:
            return made
    raise AssertionError("it does not come to rest")


def prepared(
    before: Sequence[Manifest], live: dict[str, str], *, deletes_claims: bool
) -> tuple[Harness, dict[str, Any]]:
    """What was applied, and then changed by others."""
    made = Harness(ManagedResourceConfig(garbage_collection=True))
    spec: dict[str, Any] = {"deletePersistentVolumeClaims": True} if deletes_claims else {}
    made.put(secret(objects=before), managed_resource("secret", **spec))
    settled(made)
    for resource, each in objects_of(made):
        name = key_of(each).name
        if resource == STATEFUL_SETS:
            made.put(claim(f"data-{name}-0", name), claim(f"backup-{name}", name))
        if name in live:
            made.patch(resource, name, {"metadata": LIVE[live[name]]})
    return made, spec


MANY: Final = settings(max_examples=150)


@MANY
@given(
    contents(st.just(NAMES)),
    contents(st.lists(st.sampled_from(NAMES), unique=True)),
    st.fixed_dictionaries(dict.fromkeys(NAMES, st.sampled_from(sorted(LIVE)))),
    st.booleans(),
    st.sampled_from(["edited", "deleted", "deleted but for its objects"]),
    st.none() | st.integers(0, 24),
    st.booleans(),
)
def test_every_write_respects_what_belongs_to_others_and_the_order(  # noqa: PLR0917 -- dimensions
    before: list[Manifest],
    after: list[Manifest],
    live: dict[str, str],
    deletes_claims: bool,  # noqa: FBT001 -- drawn
    fate: str,
    crash_at: int | None,
    caches_are_fresh: bool,  # noqa: FBT001 -- drawn
) -> None:
    made, spec = prepared(before, live, deletes_claims=deletes_claims)
    found = {(resource.kind, key_of(each).name): each for resource, each in objects_of(made)}
    kept = {
        at
        for (resource, each) in objects_of(made)
        if is_kept(resource, each)
        for at in [(resource.kind, key_of(each).name)]
    }
    made.caches_are_fresh = caches_are_fresh
    watchman = Watchman(made, after)
    made.put(secret(objects=after), managed_resource("secret", keepObjects="but" in fate, **spec))
    if fate != "edited":
        made.delete(MANAGED_RESOURCES, KEY.name)
    steps = iter(range(10_000))

    def crash(_step: Step[Any]) -> None:
        if next(steps) == crash_at:
            raise CrashError

    made.before_step = crash
    try:
        settled(made)
    except CrashError:
        made.restart()
        settled(made)

    left = {(resource.kind, key_of(each).name) for resource, each in objects_of(made)}
    if fate == "edited":
        assert left == watchman.listed | kept | (watchman.released & found.keys())
    else:
        assert left == (found.keys() if "but" in fate else kept)
        assert made.source.get(MANAGED_RESOURCES, KEY) is None
    claims = {key_of(each).name for each in made.target.objects(CLAIMS)}
    sets = {name for kind, name in found if kind == "StatefulSet"}
    assert {f"backup-{name}" for name in sets} <= claims
    gone = {name for name in sets if ("StatefulSet", name) not in left}
    assert {f"data-{name}-0" for name in gone}.isdisjoint(claims) is (deletes_claims or not gone)


def parts_of(step: Step[Any]) -> Sequence[Step[Any]]:
    return step.steps if isinstance(step, AtOnce) else (step,)


WHILE: Final = {
    "the Secret is read": lambda step: step == ObjectQuestion(SECRETS, ObjectKey("default", "secret"), Cluster.SOURCE),
    "new objects are recorded": lambda step: isinstance(step, JsonPatch) and step.resource == MANAGED_RESOURCES,
}
CHANGES: Final[dict[str, Callable[[Harness], None]]] = {
    "ignored": lambda made: made.annotate(**{IGNORE: "true"}),
    "moved": lambda made: made.put(managed_resource("secret", **{"class": "seed"})),
    "deleted": lambda made: made.delete(MANAGED_RESOURCES, KEY.name),
    "asked to wait": lambda made: made.annotate(**{OPERATION: "wait-for-state"}),
    "edited": lambda made: made.put(managed_resource("secret", injectLabels={"injected": "x"})),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("moment", WHILE)
def test_a_managed_resource_that_changes_while_something_is_read_or_written_is_decided_about_anew(
    moment: str, change: str
) -> None:
    made = Harness()
    made.put(secret(objects=[config_map("a"), config_map("old")]), managed_resource("secret"))
    settled(made)
    made.put(secret(objects=[config_map("a", {"k": "2"}), config_map("b")]))
    if moment == "new objects are recorded":
        made.put(secret(objects=[config_map("a", {"k": "2"}), config_map("old"), config_map("b")]))
    changed: list[str] = []
    sent: list[Action] = []

    def before_step(step: Step[Any]) -> None:
        if not changed and any(map(WHILE[moment], parts_of(step))):
            changed.append(change)
            CHANGES[change](made)

    made.before_step = before_step
    made.before_write = sent.append
    made.turn()

    assert changed
    writes = [action for action in sent if action.resource == CONFIG_MAPS]
    if change == "edited":
        assert all(labels_of(each.manifest)["injected"] == "x" for each in writes if isinstance(each, Create | Update))
    else:
        assert [each for each in writes if not isinstance(each, Delete)] == []
        assert {each.key.name for each in writes} == ({"a", "old"} if change == "deleted" else set())


def test_what_others_write_while_objects_are_looked_for_does_not_hold_a_release_up() -> None:
    made = Harness()
    made.put(secret(objects=[config_map("a")]), managed_resource("secret"))
    settled(made)
    made.patch(MANAGED_RESOURCES, KEY.name, {"metadata": {"finalizers": [FINALIZER, "somebody/else"]}})
    made.delete(MANAGED_RESOURCES, KEY.name)
    made.turn()
    looked_for: list[Step[Any]] = []

    def before_step(step: Step[Any]) -> None:
        if ObjectQuestion(CONFIG_MAPS, ObjectKey("default", "a"), Cluster.TARGET) in parts_of(step):
            looked_for.append(step)
            made.annotate(other="x")

    made.before_step = before_step
    report = made.turn()

    assert looked_for
    assert report.plan.failures == ()
    assert made.managed_resource()["metadata"]["finalizers"] == ["somebody/else"]


@pytest.mark.parametrize("annotations", [{}, {IGNORE: "true"}, {OPERATION: "reconcile"}])
def test_a_managed_resource_of_another_class_is_not_touched(annotations: dict[str, str]) -> None:
    made = Harness()
    made.put(secret(objects=[config_map("a")]), managed_resource("secret", **{"class": "seed"}))
    made.annotate(**annotations)

    report = made.turn()

    assert (report.requests, report.plan.requeue_after) == (0, 600), "that nobody takes it up is told then"


class CachesOfTwoTimes:
    """Caches of which those of one cluster are older than those of the other."""

    def __init__(self, of: Mapping[Cluster, Snapshot]) -> None:
        self._of = of

    def get(self, resource: Resource, key: ObjectKey, cluster: Cluster = Cluster.TARGET) -> Manifest | None:
        return self._of[cluster].get(resource, key, cluster)

    def has_synced(self, resource: Resource, cluster: Cluster = Cluster.TARGET) -> bool:
        return self._of[cluster].has_synced(resource, cluster)

    def list(
        self,
        resource: Resource,
        *,
        namespace: str | None = None,
        selector: LabelSelector | None = None,
        cluster: Cluster = Cluster.TARGET,
    ) -> Sequence[Manifest]:
        return self._of[cluster].list(resource, namespace=namespace, selector=selector, cluster=cluster)

    def by_index(self, index: Index[Value], value: Value) -> Sequence[Manifest]:
        return self._of[index.cluster].by_index(index, value)


class Lagging(Harness):
    """An instance whose caches are some events of others behind; they always show its own writes."""

    def __init__(self) -> None:
        super().__init__(ManagedResourceConfig(garbage_collection=True))
        self.lag: Mapping[Cluster, int] = dict.fromkeys(Cluster, 0)
        self._history = [super().caches()]

    def noted(self) -> None:
        """Somebody else has written something."""
        self._history.append(super().caches())

    def caches(self) -> Snapshot:
        times = (*self._history[:-1], super().caches())
        return CachesOfTwoTimes({cluster: times[max(0, len(times) - 1 - lag)] for cluster, lag in self.lag.items()})

    def turn(self, key: ObjectKey = KEY, *, looks_once: bool = False) -> Report:
        report = super().turn(key, looks_once=looks_once)
        if report.outcomes:
            self._history = [super().caches()]
        return report


NAMED: Final = st.sampled_from(NAMES)
EVENTS: Final = st.tuples(st.lists(NAMED, unique=True) | st.tuples(NAMED, st.sampled_from(sorted(LIVE))), st.booleans())
"""The Secret lists some objects, or others change a live one; and whether a turn follows."""


LAGS: Final = st.fixed_dictionaries(
    {Cluster.SOURCE: st.sampled_from([0, 0, 0, 1, 3]), Cluster.TARGET: st.integers(0, 5)}
)


@MANY
@given(LAGS, st.lists(EVENTS, min_size=1, max_size=6))
@example({Cluster.SOURCE: 0, Cluster.TARGET: 5}, [(("a", "kept"), False), (["b", "c"], True)])
@example({Cluster.SOURCE: 0, Cluster.TARGET: 5}, [(("a", f"of {FOREIGN[0]}"), False), ([], True)])
def test_stale_caches_lead_to_no_wrong_write_and_do_not_matter_in_the_end(
    lag: dict[Cluster, int], events: list[tuple[list[str] | tuple[str, str], bool]]
) -> None:
    made, listed = Lagging(), [config_map(name, annotations={}) for name in NAMES]
    made.put(secret(objects=listed), managed_resource("secret"))
    settled(made)
    watchman = Watchman(made, listed)
    made.lag = lag
    given_up = set[str]()  # what was not ours when it was no longer listed stays, whoever it belongs to later
    for event, takes_turn in events:
        if isinstance(event, list):
            listed = [config_map(name, annotations={}) for name in event]
            made.put(secret(objects=listed))
            watchman.lists(listed)
        elif made.get(CONFIG_MAPS, event[0]) is not None:
            made.patch(CONFIG_MAPS, event[0], {"metadata": LIVE[event[1]]})
        made.noted()
        given_up |= {key_of(each).name for each in made.target.objects(CONFIG_MAPS) if is_kept(CONFIG_MAPS, each)}
        if takes_turn:
            made.turn()

    made.lag = dict.fromkeys(Cluster, 0)
    settled(made)

    left = {key_of(each).name: each for each in made.target.objects(CONFIG_MAPS)}
    wanted = {key_of(each).name for each in listed}
    assert wanted <= left.keys()
    assert left.keys() <= wanted | given_up
