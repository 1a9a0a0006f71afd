"""Which events lead to a decision about a seed, and what it reads for it (§4.1, §4.2); whole sequences (§4.6)."""

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hedgerow.api.registrations import CONTROLLER_INSTALLATIONS, CONTROLLER_REGISTRATIONS, SEEDS
from hedgerow.machinery import snapshot_of
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change, Context, Controller, concerned_keys
from hedgerow.machinery.objects import Kind, Manifest, ObjectKey, key_of
from hedgerow.machinery.plan import Create, Plan
from hedgerow.machinery.questions import Answer, Found, ListQuestion, NotAnswered, ObjectQuestion
from hedgerow.machinery.steps import AtOnce, Step
from hedgerow.registration.finalizers import PROTECTIONS, finalizer_controller
from hedgerow.registration.planning import PlanningConfig
from hedgerow.registration.seed_controller import reconcile, seed_controller
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.memory.clock import SettableClock
from hedgerow_adapters.memory.kinds import DEFAULT_RESOURCES
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.simulation.planning import settle
from tests.executions import executed
from tests.unit.core.controllers.registration_worlds import seed_world
from tests.unit.core.controllers.stage import LAGS, lagging
from tests.unit.core.registration.garden import GOING, bucket, domain_secret, entry, resource, shoot, versioned
from tests.unit.core.registration.objects import KINDS, condition, deployment, installation, registration, seed

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CONTROLLER = seed_controller(PlanningConfig())
KEY = ObjectKey("", "s")
SEED = versioned(seed(spec={}))
FOO_AS_MADE = registration("foo", resource("Extension", "foo"))
FOO = versioned(FOO_AS_MADE)
NEEDS_FOO = shoot("x", extensions=[{"type": "foo"}])
Perform = Callable[[Step[Any]], Any]


def enqueued(old: Manifest | None, new: Manifest | None, *others: Manifest) -> set[str]:
    """The Seeds that a change enqueues, while these objects exist beside a Seed."""
    kind = Kind.of(new or old or {})
    (watch,) = (each for each in CONTROLLER.watches if each.resource.object_kind == kind)
    snapshot = snapshot_of(CONTROLLER, [SEED, *others]).unwrap()
    change = Change(old and watch.transform(old), new and watch.transform(new))
    return {key.name for key in concerned_keys(watch, change, snapshot)}


def changed(manifest: Manifest, **sections: Any) -> Manifest:
    return {**manifest, **{name: {**manifest.get(name, {}), **fields} for name, fields in sections.items()}}


@pytest.mark.parametrize(
    ("change", "passes"),
    [
        ({"spec": {"provider": {"type": "x"}}}, True),
        ({"metadata": {"labels": {"a": "b"}}}, True),
        ({"metadata": {"annotations": {"a": "b"}}}, True),
        ({"metadata": {"resourceVersion": "2"}}, False),
        ({"metadata": {"labels": {}}}, False),
        ({"status": {"clusterIdentity": "x"}}, False),
    ],
)
def test_a_seed_is_decided_about_when_something_of_it_decides(change: dict[str, Any], passes: bool) -> None:  # noqa: FBT001 -- a case
    assert bool(enqueued(SEED, changed(SEED, **change))) is passes


def test_a_seed_in_deletion_is_decided_about_at_every_update() -> None:
    going = changed(SEED, metadata=GOING)

    assert enqueued(going, going) == enqueued(None, SEED) == enqueued(SEED, None) == {"s"}


def test_registrations_concern_every_seed_while_they_exist() -> None:
    other = versioned(seed("t", spec={}))

    assert enqueued(None, FOO, other) == enqueued(FOO, FOO, other) == {"s", "t"}
    assert enqueued(FOO, None, other) == set()


def test_a_deployment_concerns_every_seed_if_a_registration_refers_to_it() -> None:
    referring = registration("r", deploymentRefs=[{"name": "d"}])

    assert enqueued(None, deployment("d"), referring) == {"s"}
    assert enqueued(None, deployment("e"), referring) == set()
    assert enqueued(deployment("d"), None, referring) == set()


@pytest.mark.parametrize(
    ("old", "new", "keys"),
    [
        (None, bucket("b", "x"), {"s"}),
        (bucket("b", "x"), None, {"s"}),
        (bucket("b", "x"), bucket("b", "y"), {"s"}),
        (bucket("b", "x"), bucket("b", "x", "t"), {"s", "t"}),
        (bucket("b", "x"), changed(bucket("b", "x"), metadata={"labels": {"a": "b"}}), set()),
        (None, bucket("b", "x", ""), set()),
        (entry("e", "b"), entry("e", "c"), {"s"}),
        (entry("e", "b"), entry("e", "b"), set()),
        (None, domain_secret("x", "internal-domain"), {"s"}),
        (None, changed(domain_secret("x", "internal-domain"), metadata={"namespace": "other"}), set()),
        (None, changed(bucket("b", "x"), spec={"seedName": 1}), set()),
    ],
)
def test_what_belongs_to_a_seed_concerns_it(old: Manifest | None, new: Manifest | None, keys: set[str]) -> None:
    assert enqueued(old, new) == keys


@pytest.mark.parametrize(
    ("new", "keys"),
    [
        (shoot(), set()),
        (shoot(kubernetes={"version": "2"}, networking={"pods": "10.0.0.0/8"}), set()),
        (shoot(networking={"type": "n"}), {"s"}),
        (shoot(provider={"type": "p"}), {"s"}),
        (shoot(provider={"workers": [{"name": "w"}]}), {"s"}),
        (shoot(extensions=[{"type": "e"}]), {"s"}),
        (shoot(extensions=[], dns={}), set()),
        (shoot(dns={"domain": "d"}), {"s"}),
        (shoot(extensions="all"), {"s"}),
        (shoot(seed="t"), {"s", "t"}),
        (shoot(seed=None), {"s"}),
        (shoot(status={"seedName": "t"}), {"s", "t"}),
    ],
)
def test_a_shoot_concerns_its_seeds_if_it_needs_something_else(new: Manifest, keys: set[str]) -> None:
    assert enqueued(shoot(), new) == keys


@pytest.mark.parametrize(
    ("old", "new", "keys"),
    [
        (None, "False", {"s"}),
        ("True", None, {"s"}),
        ("True", "False", {"s"}),
        ("Unknown", "True", {"s"}),
        ("Unknown", "False", set()),
        ("True", "True", set()),
    ],
)
def test_an_installation_concerns_its_seed_when_it_is_required_or_is_no_longer(
    old: str | None, new: str | None, keys: set[str]
) -> None:
    one, other = (
        None if status is None else installation("i", conditions=(condition("Required", status),))
        for status in (old, new)
    )

    assert enqueued(one, other) == keys


def answering(live: Sequence[Manifest], asked: list[str]) -> Perform:
    """Live reads of a garden, which notes what was read."""

    def perform(step: Step[Any]) -> Any:
        assert isinstance(step, AtOnce)
        if all(isinstance(each, ObjectQuestion) for each in step.steps):
            return (Found(({"metadata": {}},)),) * len(step.steps)  # no definition is being deleted
        questions = [each for each in step.steps if isinstance(each, ListQuestion)]
        asked.extend(each.resource.kind for each in questions)
        return tuple(
            Found(tuple(each for each in live if Kind.of(each) == question.resource.object_kind))
            for question in questions
        )

    return perform


def planned(
    *objects: Manifest,
    live: Sequence[Manifest] | None = None,
    asked: list[str] | None = None,
    perform: Perform | None = None,
    state: object = None,
) -> Plan:
    """The plan for a seed while caches show some objects, and live reads the same or others."""
    snapshot = snapshot_of(CONTROLLER, objects).unwrap()
    noted = [] if asked is None else asked
    answers = answering(objects if live is None else live, noted)
    plan, _ = executed(reconcile(KEY, snapshot, Context(NOW, CONTROLLER.config, state=state)), perform or answers)
    return plan


def test_nothing_is_decided_about_a_seed_that_is_gone() -> None:
    assert planned(FOO) == Plan()


def test_a_seed_that_has_what_it_needs_costs_no_request() -> None:
    (create,) = planned(SEED, FOO, NEEDS_FOO).actions
    assert isinstance(create, Create)
    asked: list[str] = []

    assert planned(SEED, FOO, NEEDS_FOO, versioned(create.manifest), asked=asked) == Plan()
    assert not asked


def test_who_creates_for_the_first_time_has_seen_what_is_installed_and_asks_nothing_later() -> None:
    asked: list[str] = []

    first = planned(SEED, FOO, NEEDS_FOO, asked=asked)
    later = planned(SEED, FOO, NEEDS_FOO, asked=asked, state=first.state)

    assert [[type(each).__name__ for each in plan.actions] for plan in (first, later)] == [["Create"]] * 2
    assert asked == ["ControllerInstallation"]


def test_who_creates_asks_until_caches_have_shown_what_was_found() -> None:
    theirs = versioned(installation("foo-x1y2z", registration="foo", deployment=None))
    asked: list[str] = []

    first = planned(SEED, FOO, NEEDS_FOO, live=[theirs], asked=asked)
    second = planned(SEED, FOO, NEEDS_FOO, live=[theirs], asked=asked, state=first.state)
    shown = planned(SEED, FOO, NEEDS_FOO, theirs, asked=asked, state=second.state)
    gone = planned(SEED, FOO, NEEDS_FOO, asked=asked, state=shown.state)

    assert [[type(each).__name__ for each in plan.actions] for plan in (first, second, shown, gone)] == [
        *[["MergePatch"]] * 3,
        ["Create"],
    ]
    assert asked == ["ControllerInstallation"] * 2


CHANGES = ["another Shoot", "no Shoot", "another label", "no deployment", "another policy"]


@given(
    required=st.dictionaries(st.sampled_from(["foo", "worker", "always"]), st.sampled_from(["True", "False"])),
    has_shoot=st.booleans(),
    change=st.sampled_from(CHANGES),
    lags=LAGS,
    takes_over=st.booleans(),
)
@example(required={"foo": "True"}, has_shoot=True, change="another Shoot", lags=[5], takes_over=True)
def test_caches_that_lag_behind_never_lead_to_a_second_installation(
    required: dict[str, str],
    has_shoot: bool,  # noqa: FBT001 -- drawn
    change: str,
    lags: list[int],
    takes_over: bool,  # noqa: FBT001 -- drawn
) -> None:
    stage = lagging(seed_world(required, has_shoot=has_shoot, environment="dev"), change, lags, takes_over=takes_over)

    found = stage.clusters[Cluster.SOURCE].objects(CONTROLLER_INSTALLATIONS)
    assert [text for text, number in Counter(map(_registration_and_seed, found)).items() if number > 1] == []


def _registration_and_seed(manifest: Manifest) -> str:
    return " in ".join(manifest["spec"][reference]["name"] for reference in ("registrationRef", "seedRef"))


def test_two_decisions_at_once_create_one_installation() -> None:
    one, other = (planned(SEED, FOO, NEEDS_FOO, live=[]).actions for _ in range(2))

    assert [action.key for action in one] == [action.key for action in other]
    assert len(one) == 1


def test_who_deletes_has_seen_everything_that_may_need_it() -> None:
    idle = versioned(installation("i", registration="foo", deployment=None))
    asked: list[str] = []

    assert [type(each).__name__ for each in planned(SEED, FOO, idle, asked=asked).actions] == ["Delete"]
    assert asked == ["ControllerInstallation", "Shoot", "BackupEntry"]
    kept = planned(SEED, FOO, idle, live=[idle, NEEDS_FOO, shoot("y", seed="t")])
    assert [type(each).__name__ for each in kept.actions] == ["MergePatch"]


@pytest.mark.parametrize(
    ("definition", "warning", "failure"),
    [
        (
            Found(({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}},)),
            "the definition of Shoot is gone, in deletion or created anew, so nothing is uninstalled",
            "",
        ),
        (
            Found(({"metadata": {"creationTimestamp": "2026-01-01T00:00:01Z"}},)),
            "the definition of Shoot is gone, in deletion or created anew, so nothing is uninstalled",
            "",
        ),
        (
            NotAnswered(403, "Forbidden", "you may not"),
            "",
            "Seed s: could not read whether definitions are being deleted, so nothing is uninstalled: you may not",
        ),
    ],
    ids=["being deleted", "created anew", "unknown"],
)
def test_nothing_is_uninstalled_unless_the_definitions_stay_of_what_may_need_it(
    definition: Answer, warning: str, failure: str
) -> None:
    created = "2026-01-01T00:00:00Z"
    idle = versioned(installation("i", registration="foo", deployment=None, creationTimestamp=created))
    always = registration("always", policy="Always")
    usual = answering([idle], [])

    def perform(step: Step[Any]) -> Any:
        assert isinstance(step, AtOnce)
        names = [each.key.name for each in step.steps if isinstance(each, ObjectQuestion)]
        stays = usual(step)
        return [definition if name.startswith("shoots.") else stays[0] for name in names] or stays

    plan = planned(SEED, FOO, idle, always, perform=perform)

    assert [type(each).__name__ for each in plan.actions] == ["Create"], "all else goes on"
    assert [each.note for each in plan.events if each.reason == "DefinitionTerminating"] == [warning][: len(warning)]
    assert [str(each) for each in plan.failures] == [failure][: len(failure)]
    assert plan.requeue_after == (30 if warning else None)


def test_of_live_reads_only_that_is_held_which_the_decision_reads() -> None:
    idle = versioned(installation("i", registration="foo", deployment=None))
    other_shoot = shoot("y", seed="t", extensions=[{"type": "foo"}])
    other_installation = versioned(installation("j", registration="foo", seed="t"))
    all_objects = [idle, other_installation, shoot("x", kubernetes={"version": "1"}), other_shoot]
    held: list[Manifest] = []

    def perform(step: Step[Any]) -> Any:
        assert isinstance(step, AtOnce)
        questions = [each for each in step.steps if isinstance(each, ListQuestion)]
        for question in questions:
            objects = [each for each in all_objects if Kind.of(each) == question.resource.object_kind]
            held.extend(kept for each in objects if (kept := question.keep(each)) is not None)
            assert all(question.keep(each) == each for each in held if Kind.of(each) == question.resource.object_kind)
        return answering(all_objects, [])(step)

    assert [type(each).__name__ for each in planned(SEED, FOO, idle, perform=perform).actions] == ["Delete"]
    assert [key_of(each).name for each in held] == ["i", "j", "x"]
    assert "kubernetes" not in held[-1]["spec"]


def test_a_read_without_an_answer_is_tried_again() -> None:
    idle = versioned(installation("i", registration="foo", deployment=None))
    plan = planned(SEED, FOO, idle, perform=lambda _step: (NotAnswered(500, "", "no answer"),) * 3)

    assert [(str(each), each.retryable) for each in plan.failures] == [
        ("ControllerInstallation objects: no answer", True)
    ]
    assert not plan.actions


def test_a_shoot_counts_for_the_seed_that_it_is_on_and_for_the_one_that_it_moves_to() -> None:  # A31, A32
    policy = registration("p", policy="AlwaysExceptNoShoots")

    assert planned(SEED, policy, shoot(seed="other", status={"seedName": "s"})).actions
    assert not planned(SEED, policy, shoot(seed=None)).actions


class Garden:
    """A garden with the controllers that decide for all its seeds."""

    def __init__(self, *objects: Manifest) -> None:
        kinds = (*DEFAULT_RESOURCES, *KINDS)
        self.cluster = InMemoryCluster(resources=kinds, now=SettableClock(), namespaces=["garden-a"])
        self.controllers: list[Controller[Any]] = [
            seed_controller(PlanningConfig(seed_provider_extensions=False)),
            *map(finalizer_controller, PROTECTIONS),
        ]
        self.has(seed(spec={}), *objects)

    def has(self, *objects: Manifest) -> None:
        """Objects are created."""
        for each in objects:
            resource = self.cluster.resource_of(Kind.of(each))
            assert resource is not None
            assert self.cluster.handle(requests.create(resource, each, key_of(each).namespace)).is_success
        self.settle()

    def loses(self, *objects: Manifest) -> None:
        """Objects are deleted."""
        for each in objects:
            resource = self.cluster.resource_of(Kind.of(each))
            assert resource is not None
            assert self.cluster.handle(requests.delete(resource, key_of(each))).is_success
        self.settle()

    def requires(self, *, status: str) -> None:
        """Extension objects come or go, as the condition of every installation says."""
        for each in self.cluster.objects(CONTROLLER_INSTALLATIONS):
            told = {"status": {"conditions": [condition("Required", status)]}}
            request = requests.merge_patch(CONTROLLER_INSTALLATIONS, key_of(each), told, subresource="status")
            assert self.cluster.handle(request).is_success
        self.settle()

    def settle(self) -> None:
        assert not settle(self.cluster, self.controllers).unrest

    @property
    def installed(self) -> list[str]:
        """The registrations that are installed, each as often as it is."""
        installations = self.cluster.objects(CONTROLLER_INSTALLATIONS)
        return sorted(each["spec"]["registrationRef"]["name"] for each in installations)

    @property
    def registered(self) -> list[str]:
        return [key_of(each).name for each in self.cluster.objects(CONTROLLER_REGISTRATIONS)]


BACKUP = registration("r", resource("BackupBucket", "x"), resource("BackupEntry", "x"), policy="OnDemand")
ONE, ITS_ENTRY = bucket("one", "x"), entry("e", "one")


def test_a_bucket_is_served_while_it_exists() -> None:
    garden = Garden(BACKUP)
    assert garden.installed == []
    garden.has(ONE)
    assert garden.installed == ["r"]
    garden.loses(ONE)
    assert garden.installed == []


def test_what_is_required_stays_until_it_is_no_longer() -> None:
    garden = Garden(BACKUP, ONE)
    garden.requires(status="True")
    garden.loses(ONE)
    assert garden.installed == ["r"]
    garden.requires(status="False")
    assert garden.installed == []


def test_a_bucket_may_go_together_with_its_entry() -> None:
    garden = Garden(BACKUP, ONE, ITS_ENTRY)
    assert garden.installed == ["r"]
    garden.loses(ONE, ITS_ENTRY)
    assert garden.installed == []


def test_a_shoot_gets_one_installation_of_what_serves_all_its_kinds() -> None:
    kinds = ("ControlPlane", "Infrastructure", "Worker", "Network", "Extension", "OperatingSystemConfig")
    worker = {"machine": {"image": {"name": "x"}}, "cri": {"containerRuntimes": [{"type": "x"}]}}
    of = shoot(
        provider={"type": "x", "workers": [worker]},
        networking={"type": "x"},
        extensions=[{"type": "x"}],
        dns={"domain": "d", "providers": [{"type": "x", "primary": True}]},
    )
    served = (*kinds, "ContainerRuntime", "DNSRecord")
    garden = Garden(registration("r", *(resource(kind, "x") for kind in served)))
    assert garden.installed == []
    garden.has(of)
    assert garden.installed == ["r"]
    garden.loses(of)
    assert garden.installed == []


def test_what_is_always_installed_goes_with_its_registration() -> None:
    always = registration("r", policy="Always")
    garden = Garden(always)
    assert garden.installed == ["r"]
    garden.loses(always)
    assert garden.installed == garden.registered == []


def test_what_shoots_always_have_comes_with_the_first_and_goes_with_the_last() -> None:
    policy = registration("r", policy="AlwaysExceptNoShoots")
    garden = Garden(policy)
    assert garden.installed == []
    garden.has(shoot("a"))
    garden.has(shoot("b"))
    assert garden.installed == ["r"]
    garden.loses(shoot("a"))
    assert garden.installed == ["r"]
    garden.loses(shoot("b"))
    assert garden.installed == []
    garden.has(shoot("a"))
    garden.loses(policy)
    assert garden.installed == garden.registered == []


def test_what_a_shoot_needs_outlives_the_deletion_of_its_registration() -> None:
    garden = Garden(FOO_AS_MADE, NEEDS_FOO)
    garden.loses(FOO_AS_MADE)
    assert garden.installed == garden.registered == ["foo"]
    garden.loses(NEEDS_FOO)
    assert garden.installed == garden.registered == []


def test_a_seed_goes_after_its_installations() -> None:
    garden = Garden(registration("r", policy="Always"))
    garden.requires(status="True")
    garden.loses(seed())
    assert garden.installed == ["r"]
    garden.requires(status="False")
    assert garden.installed == []
    assert not garden.cluster.objects(SEEDS)
