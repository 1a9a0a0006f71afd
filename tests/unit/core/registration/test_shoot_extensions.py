"""The Extensions of a Shoot are made, deleted and awaited in order (§12.2, §12.3)."""

from typing import Any

import pytest

from hedgerow.api.gardener import EXTENSIONS, SHOOTS
from hedgerow.api.kubernetes import NAMESPACES
from hedgerow.api.registrations import CONTROLLER_REGISTRATIONS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change, concerned_keys
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, annotations_of, key_of, labels_of
from hedgerow.machinery.plan import Plan
from hedgerow.registration.shoot_extensions import (
    FINALIZER,
    GENERATION,
    shoot_extensions_controller,
)
from hedgerow_adapters.memory import Answered, Fault
from hedgerow_adapters.memory import requests as picks
from hedgerow_adapters.protocol.transport import Response
from tests.unit.core.controllers.definitions import lose_definitions
from tests.unit.core.controllers.stage import Stage, World, in_source, in_target
from tests.unit.core.registration.objects import (
    KINDS,
    SHOOT,
    SHOOT_NAMESPACE,
    extension,
    kube_apiserver,
    made,
    registration,
    shoot,
)

EARLY: dict[str, Any] = {
    "kind": "Extension",
    "type": "early",
    "lifecycle": {"reconcile": "BeforeKubeAPIServer", "delete": "AfterKubeAPIServer"},
}
LATE: dict[str, Any] = {"kind": "Extension", "type": "late"}
BOTH = ({"type": "early"}, {"type": "late"})
NAMESPACE = made(NAMESPACES, {"name": SHOOT_NAMESPACE})
LABELLED = made(
    NAMESPACES,
    {
        "name": SHOOT_NAMESPACE,
        "labels": {f"extensions.gardener.cloud/{type_}": "true" for type_ in ("early", "late")},
    },
)
UP, DOWN = kube_apiserver(), kube_apiserver(replicas=0)
THEN = "2025-12-31T23:59:00Z"
"""A minute before the clock of the API servers."""


class Seed:
    """A seed with one Shoot, whose extension controllers are the test."""

    def __init__(self, *seed: Manifest, of: Manifest | None = None, garden: tuple[Manifest, ...] | None = None) -> None:
        garden = (registration("r", EARLY, LATE),) if garden is None else garden
        placed = (*in_source(of or shoot(extensions=BOTH), *garden), *in_target(*seed))
        controller = shoot_extensions_controller("s")
        self.stage = Stage(World(controller, placed, placed[0], kinds=KINDS))

    def turn(self) -> Plan:
        self.stage.turn(SHOOT)
        return self.stage.turns[-1].plan

    @property
    def extensions(self) -> dict[str, Manifest]:
        return {key_of(each).name: each for each in self.stage.clusters[Cluster.TARGET].objects(EXTENSIONS)}

    @property
    def shoot(self) -> Manifest | None:
        return self.stage.clusters[Cluster.SOURCE].get(SHOOTS, SHOOT)

    @property
    def labels(self) -> dict[str, str]:
        namespace = self.stage.clusters[Cluster.TARGET].get(NAMESPACES, ObjectKey("", SHOOT_NAMESPACE)) or {}
        return {name: text for name, text in labels_of(namespace).items() if name.startswith("extensions.")}

    def succeed(self, *names: str) -> None:
        """Extension controllers do what is asked of them."""
        for name in names:
            self.told(name, state="Succeeded")

    def told(self, name: str, *, state: str = "Processing", error: str | None = None) -> None:
        existing = self.extensions[name]
        now = self.stage._clock()  # the time of the API servers
        last = {"type": "Reconcile", "state": state, "lastUpdateTime": now.isoformat().replace("+00:00", "Z")}
        status = {
            "lastOperation": last,
            "observedGeneration": existing["metadata"]["generation"],
            "lastError": error and {"description": error},
        }
        (placed,) = in_target(existing)
        self.stage.patch(placed, {"metadata": {"annotations": {"gardener.cloud/operation": None}}})
        self.stage.patch(placed, {"status": status}, "status")

    def put(self, *manifests: Manifest) -> None:
        for each in in_target(*manifests):
            self.stage.put(*each)

    def change(self, patch: Manifest) -> None:
        self.stage.patch(self.stage.world.subject, patch)

    def lose_unseen(self) -> None:
        """The Shoot goes, and caches do not show it."""
        seen = len(self.stage._changes)
        self.stage.remove(self.stage.world.subject)
        self.stage.lag = len(self.stage._changes) - seen

    def refuse(self, verb: str, path: str, cluster: Cluster = Cluster.TARGET) -> None:
        body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "boom", "code": 500}
        self.stage.clusters[cluster].faults.append(Fault(picks(verb, path), Answered(Response(500, body)), times=None))


def problems(plan: Plan) -> list[str]:
    return [str(failure) for failure in plan.failures]


def test_extensions_come_before_and_after_the_kube_apiserver() -> None:
    seed = Seed(NAMESPACE)
    plan = seed.turn()

    assert ([*seed.extensions], plan.requeue_after) == (["early"], 180)
    seed.turn()
    assert [*seed.extensions] == ["early"]

    seed.succeed("early")
    assert seed.turn().requeue_after is None
    assert [*seed.extensions] == ["early"]

    seed.put(UP)
    assert seed.turn().requeue_after == 180
    assert [*seed.extensions] == ["early", "late"]

    seed.succeed("late")
    assert seed.turn() == Plan()


def test_one_says_what_is_asked_of_it_and_for_which_shoot() -> None:
    seed = Seed(NAMESPACE, of=shoot(extensions=({"type": "early", "providerConfig": {"a": 1}},)))
    seed.turn()

    made_one = seed.extensions["early"]
    assert made_one["spec"] == {"type": "early", "providerConfig": {"a": 1}}
    assert annotations_of(made_one) == {
        "gardener.cloud/operation": "reconcile",
        "gardener.cloud/timestamp": "2026-01-01T00:00:00.000000000Z",
        GENERATION: "1",
    }


@pytest.mark.parametrize("stored", [{"b": 2}, {"a": None, "b": 1, "e": [{"f": None}]}, None])
def test_a_null_in_a_configuration_is_not_asked_for_again_and_again(stored: Manifest | None) -> None:
    config = {"a": None, "b": 1, "c": {"d": None}, "e": [{"f": None}]}
    existing = {**extension("early"), "spec": {"type": "early", "providerConfig": stored}}
    seed = Seed(NAMESPACE, existing, of=shoot(extensions=({"type": "early", "providerConfig": config},)))
    seed.turn()
    sent = len(seed.stage.sent)
    seed.succeed("early")

    assert seed.turn() == Plan()
    assert len(seed.stage.sent) == sent
    assert seed.extensions["early"]["spec"]["providerConfig"] == {"b": 1, "c": {}, "e": [{}]}


def test_what_comes_before_has_to_be_ready_before_what_comes_after() -> None:
    seed = Seed(NAMESPACE, UP)
    seed.turn()
    seed.stage.pass_time(170)

    assert seed.turn().requeue_after == 10
    assert [*seed.extensions] == ["early"]


def test_a_change_of_the_shoot_is_followed_in_order() -> None:
    seed = Seed(NAMESPACE, UP)
    seed.turn()
    seed.succeed("early")
    seed.turn()
    seed.succeed("late")
    seed.turn()

    seed.change({"spec": {"region": "other"}})
    seed.turn()

    asked = {name: annotations_of(each).get("gardener.cloud/operation") for name, each in seed.extensions.items()}
    assert asked == {"early": "reconcile", "late": None}
    seed.succeed("early")
    seed.turn()
    assert {name: annotations_of(each)[GENERATION] for name, each in seed.extensions.items()} == {
        "early": "2",
        "late": "2",
    }


def test_a_shoot_that_hibernates_has_the_inverted_order() -> None:
    seed = Seed(NAMESPACE, UP, of=shoot(extensions=BOTH, hibernation={"enabled": True}))
    seed.turn()
    assert [*seed.extensions] == ["late"]

    seed.succeed("late")
    seed.turn()
    assert [*seed.extensions] == ["late"]

    seed.put(DOWN)
    seed.turn()
    assert [*seed.extensions] == ["early", "late"]


def test_a_kube_apiserver_that_is_not_available_is_neither_up_nor_down() -> None:
    starting = kube_apiserver(available=0)
    awake, asleep = (
        Seed(NAMESPACE, starting),
        Seed(NAMESPACE, starting, of=shoot(extensions=BOTH, hibernation={"enabled": True})),
    )
    for seed, name in ((awake, "early"), (asleep, "late")):
        seed.turn()
        seed.succeed(name)
        seed.turn()
        assert [*seed.extensions] == [name]


def test_an_extension_that_takes_too_long_is_a_failure() -> None:
    seed = Seed(NAMESPACE)
    seed.turn()
    seed.told("early")
    seed.stage.pass_time(180)

    (problem,) = problems(plan := seed.turn())
    assert problem == (
        f"Shoot garden-a/x: Error while waiting for Extension {SHOOT_NAMESPACE}/early to become ready: "
        "extension state is not succeeded but Processing"
    )
    assert plan.failures[0].retryable


def test_an_error_that_its_controller_tells_is_one_after_half_a_minute() -> None:
    seed = Seed(NAMESPACE)
    seed.turn()
    seed.told("early", state="Error", error="no quota")

    assert seed.turn() == Plan(requeue_after=30)
    seed.stage.pass_time(30)
    (problem,) = problems(seed.turn())
    assert problem == (
        f"Shoot garden-a/x: Error while waiting for Extension {SHOOT_NAMESPACE}/early to become ready: "
        "error during reconciliation: no quota"
    )


def test_what_the_shoot_does_not_have_is_deleted_with_a_confirmation() -> None:  # G14
    stale = extension("stale", finalizers=["example.com/controller"])
    seed = Seed(NAMESPACE, stale, extension("other", type_="early"))
    assert seed.turn().requeue_after == 180

    deleted = seed.extensions["stale"]
    assert deleted["metadata"]["deletionTimestamp"]
    assert annotations_of(deleted)["confirmation.gardener.cloud/deletion"] == "true"
    assert "deletionTimestamp" not in seed.extensions["other"]["metadata"]


def test_a_deletion_that_takes_too_long_is_a_failure() -> None:
    stale = extension("stale", finalizers=["example.com/controller"], error="still in use")
    seed = Seed(NAMESPACE, stale, of=shoot())
    seed.turn()
    seed.stage.pass_time(180)

    about = f"Extension {SHOOT_NAMESPACE}/stale"
    assert problems(seed.turn()) == [
        f"Shoot garden-a/x: Failed to delete {about}: {about} is still present, last observed error: still in use"
    ]


def test_one_of_another_type_is_replaced() -> None:
    seed = Seed(NAMESPACE, extension("early", type_="former"))
    seed.turn()

    assert seed.extensions["early"]["spec"]["type"] == "early"


def test_one_that_is_being_deleted_is_made_anew_once_it_is_gone() -> None:
    going = extension("early", finalizers=["example.com/controller"], deletionTimestamp=THEN)
    seed = Seed(NAMESPACE, going, of=shoot(extensions=BOTH, finalizers=[FINALIZER]))
    assert seed.turn().requeue_after == 120

    seed.stage.remove(in_target(going)[0])
    seed.turn()
    assert "deletionTimestamp" not in seed.extensions["early"]["metadata"]


def test_the_namespace_names_the_types() -> None:
    labels = {"extensions.gardener.cloud/old": "true", "extensions.gardener.cloud/early": "no", "team": "x"}
    seed = Seed(made(NAMESPACES, {"name": SHOOT_NAMESPACE, "labels": labels}))
    seed.turn()

    assert seed.labels == {"extensions.gardener.cloud/early": "true", "extensions.gardener.cloud/late": "true"}


UNREADABLE = {**registration("bad"), "spec": {"resources": 3}}


def test_nothing_goes_while_a_registration_cannot_be_read() -> None:
    labels = {"extensions.gardener.cloud/old": "true"}
    namespace = made(NAMESPACES, {"name": SHOOT_NAMESPACE, "labels": labels})
    seed = Seed(namespace, extension("old"), garden=(registration("r", EARLY), UNREADABLE))

    assert problems(seed.turn()) == ["ControllerRegistration bad: spec.resources: expected a list, got an integer"]
    assert [*seed.extensions] == ["early", "old"]
    assert {"extensions.gardener.cloud/early", *labels} <= seed.labels.keys()


def test_a_shoot_is_held_while_it_may_have_extensions() -> None:
    seed = Seed(NAMESPACE)
    seed.turn()

    assert (seed.shoot or {})["metadata"]["finalizers"] == [FINALIZER]


GOING = shoot(extensions=BOTH, finalizers=[FINALIZER, "theirs.example.com/x"], deletionTimestamp=THEN)


def test_extensions_go_before_and_after_the_kube_apiserver() -> None:
    seed = Seed(NAMESPACE, UP, extension("early"), extension("late", finalizers=["example.com/controller"]), of=GOING)
    assert seed.turn().requeue_after == 180
    assert "deletionTimestamp" in seed.extensions["late"]["metadata"]

    seed.stage.remove(in_target(seed.extensions["late"])[0])
    seed.turn()
    assert [*seed.extensions] == ["early"]

    seed.put(DOWN)
    seed.turn()
    assert seed.extensions == {}
    assert (seed.shoot or {})["metadata"]["finalizers"] == ["theirs.example.com/x"]


def test_what_nobody_registers_any_more_goes_before_the_kube_apiserver() -> None:
    seed = Seed(NAMESPACE, UP, extension("early"), of=GOING, garden=())
    seed.turn()

    assert seed.extensions == {}


def test_a_shoot_is_not_let_go_while_the_cache_lacks_an_extension() -> None:
    seed = Seed(NAMESPACE, extension("late"), of=GOING)
    seed.stage.lag = 1
    seed.turn()

    assert (seed.shoot or {})["metadata"]["finalizers"] == [FINALIZER, "theirs.example.com/x"]


def test_nor_while_its_extensions_cannot_be_listed() -> None:
    seed = Seed(NAMESPACE, of=GOING)
    seed.refuse("GET", "extensions")

    assert problems(seed.turn()) == ["Shoot garden-a/x: boom"]
    assert FINALIZER in (seed.shoot or {})["metadata"]["finalizers"]


def test_a_shoot_is_let_go_where_there_are_no_extensions_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    seed = Seed(NAMESPACE, of=GOING)
    monkeypatch.setattr(seed.stage.clusters[Cluster.TARGET], "serves", lambda _resource: False)
    seed.turn()

    assert (seed.shoot or {})["metadata"]["finalizers"] == ["theirs.example.com/x"]


def test_nothing_is_asked_about_a_shoot_that_is_let_go_already() -> None:
    seed = Seed(NAMESPACE, of=shoot(extensions=BOTH, finalizers=["theirs.example.com/x"], deletionTimestamp=THEN))
    seed.turn()

    assert seed.stage.turns[-1].steps == ()


def test_an_extension_that_is_gone_meanwhile_is_deleted() -> None:
    seed = Seed(NAMESPACE, DOWN, extension("late"), of=GOING)
    seed.stage.at_moment = lambda _moment: seed.stage.remove(in_target(extension("late"))[0])

    assert seed.turn().failures == ()
    assert (seed.shoot or {})["metadata"]["finalizers"] == ["theirs.example.com/x"]


def test_an_answer_that_does_not_show_the_extension_is_no_readiness() -> None:
    seed = Seed(NAMESPACE, UP)
    created = Answered(Response(201, "created"))
    seed.stage.clusters[Cluster.TARGET].faults.append(Fault(picks("POST", "extensions"), created))

    assert seed.turn() == Plan()
    assert seed.extensions == {}


def test_nothing_is_made_or_deleted_for_a_shoot_that_only_the_cache_shows() -> None:
    of = shoot(extensions=BOTH, finalizers=[FINALIZER])
    for seed in (
        Seed(NAMESPACE, of=of),
        Seed(LABELLED, of=of),
        Seed(LABELLED, extension("other"), of=of),
        Seed(NAMESPACE, extension("early"), of=GOING),
    ):
        existing = seed.extensions
        seed.lose_unseen()

        assert seed.turn() == Plan()
        assert (seed.extensions, seed.stage.sent) == (existing, [])


def test_nothing_is_made_while_the_shoot_cannot_be_read() -> None:
    seed = Seed(LABELLED, of=shoot(extensions=BOTH, finalizers=[FINALIZER]))
    seed.lose_unseen()
    seed.refuse("GET", "shoots", Cluster.SOURCE)

    assert problems(seed.turn()) == ["Shoot garden-a/x: boom"]


REFUSED = {
    "the hold": ("PATCH", "shoots", Cluster.SOURCE),
    "the labels": ("PATCH", "namespaces", Cluster.TARGET),
    "an Extension": ("POST", "extensions", Cluster.TARGET),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_is_a_failure(name: str) -> None:
    seed = Seed(NAMESPACE)
    seed.refuse(*REFUSED[name])

    assert problems(seed.turn()) == ["Shoot garden-a/x: boom"]
    assert seed.extensions == {}


@pytest.mark.parametrize("verb", ["PATCH", "DELETE"])
def test_a_deletion_that_is_refused_is_a_failure(verb: str) -> None:
    seed = Seed(NAMESPACE, extension("late"), of=GOING)
    seed.refuse(verb, "extensions")

    assert problems(seed.turn()) == ["Shoot garden-a/x: boom"]


LEFT_ALONE = {
    "of another seed": shoot(extensions=BOTH, seed="t"),
    "not scheduled": shoot(extensions=BOTH, seed=None),
    "that moves here": shoot(extensions=BOTH, former="t"),
    "without a namespace yet": shoot(extensions=BOTH, namespace=None),
}


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_a_shoot_is_left_alone_that_is(name: str) -> None:
    seed = Seed(NAMESPACE, of=LEFT_ALONE[name])

    assert seed.turn() == Plan()
    assert seed.stage.sent == []


@pytest.mark.parametrize(
    "namespace",
    [(), (made(NAMESPACES, {"name": SHOOT_NAMESPACE, "deletionTimestamp": THEN, "finalizers": ["a.example/b"]}),)],
    ids=["none", "going"],
)
def test_nothing_is_made_without_a_namespace(namespace: tuple[Manifest, ...]) -> None:
    seed = Seed(*namespace)

    assert seed.turn() == Plan()
    assert seed.stage.sent == []


def test_a_shoot_without_extensions_is_left_as_it_is() -> None:
    seed = Seed(NAMESPACE, of=shoot())

    assert seed.turn() == Plan()
    assert seed.stage.sent == []


def test_a_shoot_that_is_gone_needs_nothing() -> None:
    seed = Seed(NAMESPACE)
    seed.stage.turn(ObjectKey("garden-a", "gone"))

    assert seed.stage.turns[-1].plan == Plan()


def test_a_shoot_that_cannot_be_read_is_a_failure() -> None:
    seed = Seed(NAMESPACE, of=shoot(extensions=({"type": 3},)))

    assert problems(seed.turn()) == ["Shoot garden-a/x: spec.extensions[0].type: expected a string, got an integer"]


def test_an_extension_that_cannot_be_read_is_a_failure() -> None:
    unreadable = {**extension("early"), "status": {"lastError": 3}}
    seed = Seed(NAMESPACE, unreadable)

    assert problems(seed.turn()) == [
        f"Extension {SHOOT_NAMESPACE}/early: status.lastError: expected an object, got an integer"
    ]


def enqueued(seed: Seed, new: Manifest, old: Manifest | None = None) -> set[ObjectKey]:
    (watch,) = (each for each in seed.stage.world.controller.watches if each.resource.kind == new["kind"])
    change = Change(old and watch.transform(old), watch.transform(new))
    return set(concerned_keys(watch, change, seed.stage.snapshot()))


def test_whatever_changes_brings_a_turn_of_the_shoots_that_it_concerns() -> None:
    seed = Seed(NAMESPACE)

    for manifest in (NAMESPACE, UP, extension("early"), registration("r"), shoot()):
        assert enqueued(seed, manifest) == {SHOOT}, manifest["kind"]
    assert enqueued(seed, shoot(seed="t")) == set()
    assert enqueued(seed, registration("r", LATE), registration("r", EARLY)) == {SHOOT}
    assert enqueued(seed, registration("r", LATE, policy="Always"), registration("r", LATE)) == set()
    assert enqueued(seed, made(NAMESPACES, {"name": "other"})) == set()


def test_caches_keep_no_state_of_extension_controllers() -> None:
    watch = next(each for each in shoot_extensions_controller("s").watches if each.resource == EXTENSIONS)
    status = {"observedGeneration": 1, "lastError": {"description": "no quota"}, "lastOperation": {"state": "Error"}}

    kept = watch.transform({**extension("early"), "status": {**status, "state": {"large": 1}, "providerStatus": {}}})

    assert kept["status"] == status


def test_caches_know_how_old_extensions_are() -> None:
    watch = next(each for each in shoot_extensions_controller("s").watches if each.resource == EXTENSIONS)
    created = {"creationTimestamp": "2026-01-01T00:00:00Z"}
    early = extension("early")

    kept = watch.transform({**early, "metadata": {**early["metadata"], **created}})

    assert created.items() <= kept["metadata"].items(), "definitions that were created later are lost ones"


# With a definition.


def lose_definition(seed: Seed, resource: Resource) -> None:
    lose_definitions(seed.stage, [each for each in KINDS if each.resource == resource])


@pytest.mark.parametrize("resource", [SHOOTS, CONTROLLER_REGISTRATIONS], ids=lambda resource: resource.kind)
def test_extensions_stay_when_somebody_deletes_the_definition_of_what_asks_for_them(resource: Resource) -> None:
    seed = Seed(NAMESPACE, UP, extension("early"), extension("late"), of=shoot(extensions=BOTH, finalizers=[FINALIZER]))
    lose_definition(seed, resource)

    (event,) = seed.turn().events

    what = "is being deleted" if resource == SHOOTS else "is gone, in deletion or created anew"
    assert event.note == f"the definition of {resource.kind} {what}, so its Extensions stay"
    assert event.reason == "DefinitionTerminating"
    assert [*seed.extensions] == ["early", "late"]
    assert (seed.shoot is None) is (resource == SHOOTS), "the finalizer goes"


def test_no_extension_is_deleted_while_nobody_knows_what_becomes_of_the_definition() -> None:
    seed = Seed(NAMESPACE, UP, extension("early"), of=GOING)
    asked = Answered(Response(403, {"kind": "Status", "status": "Failure", "reason": "Forbidden", "message": "no"}))
    faults = seed.stage.clusters[Cluster.SOURCE].faults
    faults.append(Fault(lambda request: "customresourcedefinitions" in request.path, asked))

    (failure,) = seed.turn().failures

    assert failure.retryable
    assert failure.problem.text == "could not read whether definitions are being deleted, so no Extension is: no"
    assert [*seed.extensions] == ["early"]
