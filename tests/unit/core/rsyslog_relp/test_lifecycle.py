"""What becomes of an Extension, from its creation to the clean nodes that it leaves behind."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from hedgerow.api.gardener import CLUSTERS, EXTENSIONS
from hedgerow.api.kubernetes import CONFIG_MAPS, SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.extensions.operations import asks_for_operation, changes_generation
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change, Context
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.plan import ApiError, Plan, WriteResult
from hedgerow.machinery.questions import NotAnswered, ObjectQuestion
from hedgerow.rsyslog_relp.cleaning import CleanerImages
from hedgerow.rsyslog_relp.lifecycle import LifecycleConfig, lifecycle_controller
from hedgerow_adapters.memory import Answered, Fault
from hedgerow_adapters.memory.kinds import Kind
from hedgerow_adapters.protocol.transport import Response
from tests.executions import LiveSnapshot, executed, performed
from tests.in_memory import InMemory
from tests.unit.core.controllers.definitions import lose_definitions
from tests.unit.core.controllers.stage import Stage, World, in_target
from tests.unit.core.rsyslog_relp.configs import plain, secured

NAMESPACE = "shoot--bar--foo"
TYPE = "shoot-rsyslog-relp"
KEY = ObjectKey(NAMESPACE, TYPE)
FINALIZER = f"extensions.gardener.cloud/{TYPE}"
OPERATION = "gardener.cloud/operation"
DELETED: dict[str, Any] = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
CLEANER = ObjectKey(NAMESPACE, "extension-shoot-rsyslog-relp-configuration-cleaner")
MONITORING = ObjectKey(NAMESPACE, "shoot-rsyslog-relp-prometheus")
KINDS = (
    Kind(EXTENSIONS, has_status=True, has_generation=True),
    Kind(CLUSTERS),
    Kind(MANAGED_RESOURCES, has_status=True, has_generation=True),
)
RUNNING: Manifest = {"metadata": {"name": "foo"}, "spec": {}, "status": {}}
LONG_AGO = {"lastUpdateTime": "2020-01-01T00:00:00Z", "description": ""}
SUCCEEDED = {"type": "Create", "state": "Succeeded", "progress": 100, **LONG_AGO}
BAD = {"type": "Reconcile", "state": "Error", "progress": 50, **LONG_AGO}
TIMEOUT = "retry failed with context deadline exceeded, last error: "


def extension(
    operation: str = "", last: Mapping[str, Any] | None = None, kind: str = TYPE, **metadata: Any
) -> dict[str, Any]:
    annotations = {"annotations": {OPERATION: operation}} if operation else {}
    return {
        "apiVersion": EXTENSIONS.api_version,
        "kind": EXTENSIONS.kind,
        "metadata": {"namespace": NAMESPACE, "name": TYPE, **annotations, **metadata},
        "spec": {"type": kind},
        **({"status": {"lastOperation": last}} if last else {}),
    }


def cluster(shoot: Manifest | None) -> Manifest:
    spec = {"shoot": shoot} if shoot is not None else {}
    return {"apiVersion": CLUSTERS.api_version, "kind": CLUSTERS.kind, "metadata": {"name": NAMESPACE}, "spec": spec}


class Seed:
    """A seed with one Extension, in which others do what a test says."""

    def __init__(self, extension: Manifest, shoot: Manifest | None = RUNNING, *others: Manifest, **config: Any) -> None:
        clusters = [cluster(shoot)] if shoot is None or shoot else []
        objects = in_target(extension, *clusters, *others)
        controller = lifecycle_controller(replace(LifecycleConfig(), **config))
        self.stage = Stage(World(controller, objects, objects[0], kinds=KINDS))

    def turn(self) -> Plan:
        self.stage.turn(KEY)
        return self.stage.turns[-1].plan

    def get(self, resource: Any, key: ObjectKey) -> Any:
        return self.stage.clusters[Cluster.TARGET].get(resource, key)

    @property
    def extension(self) -> Any:
        return self.get(EXTENSIONS, KEY)

    @property
    def last_operation(self) -> tuple[str, str, int]:
        last = self.extension["status"]["lastOperation"]
        return last["type"], last["state"], last["progress"]

    def become_healthy(self) -> None:
        managed_resource = self.get(MANAGED_RESOURCES, CLEANER)
        conditions = [{"type": each, "status": "True"} for each in ("ResourcesApplied", "ResourcesHealthy")]
        status = {"observedGeneration": managed_resource["metadata"]["generation"], "conditions": conditions}
        self.stage.patch(in_target(managed_resource)[0], {"status": status}, "status")

    def hold(self) -> None:
        """A resource manager holds the cleaner."""
        held = {"metadata": {"finalizers": ["resources.gardener.cloud/gardener-resource-manager"]}}
        self.stage.patch(in_target(self.get(MANAGED_RESOURCES, CLEANER))[0], held)


def error_of(plan: Plan) -> str:
    (failure,) = plan.failures
    assert failure.retryable
    return failure.problem.text


# Creation and reconciliation.


def test_a_new_extension_gets_its_monitoring() -> None:
    seed = Seed(extension())

    plan = seed.turn()

    assert plan.requeue_after == 3600
    assert seed.last_operation == ("Create", "Succeeded", 100)
    assert seed.extension["status"]["observedGeneration"] == seed.extension["metadata"]["generation"]
    assert seed.extension["metadata"]["finalizers"] == [FINALIZER]
    assert "alerting_rules" in seed.get(CONFIG_MAPS, MONITORING)["data"]


def test_a_request_for_a_reconciliation_is_taken_off_and_followed() -> None:
    seed = Seed(extension("reconcile", SUCCEEDED))

    seed.turn()

    assert seed.last_operation == ("Reconcile", "Succeeded", 100)
    assert OPERATION not in seed.extension["metadata"].get("annotations", {})


def test_the_request_to_make_a_new_extension_goes_with_the_first_write() -> None:
    seed = Seed(extension("reconcile"))

    assert error_of(turn_with(seed, writing("started"))) == BOOM
    assert seed.extension["metadata"]["finalizers"] == [FINALIZER]
    assert OPERATION not in seed.extension["metadata"].get("annotations", {})
    seed.turn()

    assert seed.last_operation == ("Create", "Succeeded", 100)


OF_TLS = {"spec": {"type": TYPE, "providerConfig": secured(permittedPeer=["peer"])}}
WITH_RESOURCE = {
    **RUNNING,
    "spec": {"resources": [{"name": "rsyslog-tls", "resourceRef": {"kind": "Secret", "name": "tls"}}]},
}


def certificates(**data: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": NAMESPACE, "name": "ref-tls"}, "data": data}


def same_key(_kind: str, value: object) -> bytes:
    return str(value).encode()


def test_certificates_that_do_not_belong_to_their_key_are_an_error() -> None:
    secret = certificates(ca="YQ==", crt="Yg==", key="Yw==")
    seed = Seed({**extension(), **OF_TLS}, WITH_RESOURCE, secret, public_key=same_key)

    problem = error_of(seed.turn())

    assert (
        problem
        == f"secret {NAMESPACE}/ref-tls has a key value that does not belong to the certificate of its crt value"
    )
    assert seed.extension["status"]["lastError"]["description"] == f"Error reconciling Extension: {problem}"
    assert seed.extension["status"]["lastError"]["codes"] == ["ERR_CONFIGURATION_PROBLEM"]
    assert seed.get(CONFIG_MAPS, MONITORING) is not None


@pytest.mark.parametrize(
    ("extension", "shoot", "secrets", "config"),
    [
        ({**extension(), **OF_TLS}, WITH_RESOURCE, [certificates(ca="YQ==", crt="Yg==", key="Yg==")], True),
        ({**extension(), **OF_TLS}, WITH_RESOURCE, [certificates(ca="YQ==", crt="Yg==", key="Yw==")], False),
        ({**extension(), **OF_TLS}, WITH_RESOURCE, [], True),
        ({**extension(), **OF_TLS}, RUNNING, [], True),
        ({**extension(), "spec": {"type": TYPE, "providerConfig": plain()}}, WITH_RESOURCE, [certificates()], True),
        (
            {**extension(), "spec": {"type": TYPE, "providerConfig": {"port": "x"}}},
            WITH_RESOURCE,
            [certificates()],
            True,
        ),
    ],
    ids=["good", "unseen", "not-there-yet", "not-referred-to", "without-tls", "undecodable"],
)
def test_what_the_webhook_looks_at_is_no_error_of_the_extension(
    extension: Manifest,
    shoot: Manifest,
    secrets: list[Manifest],
    config: bool,  # noqa: FBT001 -- of a table
) -> None:
    seed = Seed(extension, shoot, *secrets, **({"public_key": same_key} if config else {}))

    seed.turn()

    assert seed.last_operation == ("Create", "Succeeded", 100)


def test_a_success_rests_for_an_hour_whoever_starts_the_process_anew() -> None:
    seed = Seed(extension())
    seed.turn()
    seed.stage.restart()
    seed.stage.pass_time(600)

    assert seed.turn() == Plan(requeue_after=3000)
    assert not seed.stage.turns[-1].steps


HAS_FAILED: Manifest = {**RUNNING, "status": {"lastOperation": {"state": "Failed"}}}


@pytest.mark.parametrize(("operation", "shoot"), [("wait-for-state", RUNNING), ("reconcile", HAS_FAILED)])
def test_nothing_is_done_while_a_state_is_awaited_or_the_shoot_has_failed(operation: str, shoot: Manifest) -> None:
    seed = Seed(extension(operation), shoot)

    assert seed.turn() == Plan()
    assert not seed.stage.sent


def test_an_extension_of_another_type_is_left_alone() -> None:
    seed = Seed(extension(kind="other"))

    assert seed.turn() == Plan()
    assert not seed.stage.sent


def test_without_a_cluster_nothing_is_begun() -> None:
    seed = Seed(extension("reconcile"), {})

    assert error_of(seed.turn()) == f'clusters.extensions.gardener.cloud "{NAMESPACE}" not found'
    assert not seed.stage.sent


def test_a_cluster_without_shoot_is_an_error_after_the_monitoring_is_there() -> None:
    seed = Seed(extension(), None)

    assert error_of(seed.turn()) == "cluster.shoot is not yet populated"
    status = seed.extension["status"]
    assert status["lastError"]["description"] == "Error reconciling Extension: cluster.shoot is not yet populated"
    assert seed.last_operation == ("Create", "Error", 50)
    assert seed.get(CONFIG_MAPS, MONITORING)


def test_a_field_of_another_type_is_a_failure_that_names_it() -> None:
    broken: Any = {**RUNNING, "spec": {"hibernation": {"enabled": "yes"}}}
    seed = Seed(extension(finalizers=[FINALIZER], **DELETED), broken)

    (failure,) = seed.turn().failures

    assert str(failure.problem) == "spec.hibernation.enabled: expected a boolean, got a string"


# Deletion.


def deleted(shoot: Manifest = RUNNING, *others: Manifest, **config: Any) -> Seed:
    return Seed(extension(finalizers=[FINALIZER], **DELETED), shoot, *others, **config)


def test_the_finalizer_goes_once_every_node_is_clean() -> None:
    seed = deleted()

    assert seed.turn().requeue_after == 120
    assert seed.last_operation == ("Delete", "Processing", 1)
    seed.become_healthy()
    assert seed.turn() == Plan()

    assert seed.extension is None
    assert seed.get(MANAGED_RESOURCES, CLEANER) is None


def test_the_state_of_the_deletion_is_told_once() -> None:
    seed = deleted()
    seed.turn()
    seed.stage.pass_time(30)

    assert seed.turn().requeue_after == 90
    assert [action.reason for action in seed.stage.sent].count("started") == 1


def test_a_cleaner_that_stays_unhealthy_is_an_error_after_two_minutes() -> None:
    seed = deleted()
    seed.turn()
    seed.stage.pass_time(120)

    error = error_of(seed.turn())

    component = "failed to deploy the rsyslog relp configuration cleaner component: "
    assert error == f"{component}{TIMEOUT}managed resource {CLEANER} is not healthy"
    assert seed.extension["status"]["lastError"]["description"] == f"Error deleting the Extension: {error}"
    assert seed.extension["metadata"]["finalizers"] == [FINALIZER]
    assert seed.get(MANAGED_RESOURCES, CLEANER)


def test_a_cleaner_that_vanishes_is_an_error_at_once() -> None:
    seed = deleted()
    seed.turn()
    seed.stage.remove(in_target(seed.get(MANAGED_RESOURCES, CLEANER))[0])

    assert error_of(seed.turn()).endswith(f'managedresources.resources.gardener.cloud "{CLEANER.name}" not found')


def test_a_cleaner_that_stays_is_an_error_after_two_further_minutes() -> None:
    seed = deleted()
    seed.turn()
    seed.hold()
    seed.become_healthy()
    assert seed.turn().requeue_after == 120
    seed.stage.pass_time(120)

    error = error_of(seed.turn())

    component = "failed to destroy the rsyslog relp configuration cleaner component: "
    assert error == f"{component}{TIMEOUT}resource {CLEANER} still exists"
    assert seed.extension["metadata"]["finalizers"] == [FINALIZER]


def test_a_process_that_starts_anew_waits_as_long_again() -> None:
    seed = deleted()
    seed.turn()
    seed.stage.pass_time(100)
    seed.stage.restart()

    assert seed.turn().requeue_after == 120


def test_nothing_is_cleaned_where_there_are_no_nodes() -> None:
    seed = deleted({"spec": {"hibernation": {"enabled": True}}, "status": {"hibernated": True}})

    seed.turn()

    assert seed.extension is None
    assert seed.get(MANAGED_RESOURCES, CLEANER) is None


def test_a_shoot_that_falls_asleep_has_nodes() -> None:
    seed = deleted({"spec": {"hibernation": {"enabled": True}}, "status": {"hibernated": False}})

    assert seed.turn().requeue_after == 120


def test_with_a_shoot_goes_a_cleaner_that_was_left() -> None:
    seed = deleted()
    seed.turn()
    seed.stage.restart()
    seed.stage.put(Cluster.TARGET, cluster({**RUNNING, "metadata": DELETED}))

    seed.turn()

    assert seed.get(MANAGED_RESOURCES, CLEANER) is None
    assert seed.extension is None


@pytest.mark.parametrize(("value", "is_forced"), [("true", True), ("T", True), ("yes", False)])
def test_a_forced_deletion_waits_for_nothing(value: str, *, is_forced: bool) -> None:
    seed = deleted({"metadata": {"annotations": {"confirmation.gardener.cloud/force-deletion": value}}})

    seed.turn()

    assert (seed.extension is None) is is_forced


def test_an_extension_that_is_not_ours_to_hold_is_left_alone() -> None:
    seed = Seed(extension(finalizers=["other/keep"], **DELETED))

    assert seed.turn() == Plan()
    assert not seed.stage.sent


def test_a_missing_image_is_named() -> None:
    seed = deleted(images=CleanerImages(alpine=""))

    assert error_of(seed.turn()) == "failed to find the alpine image: no image is configured"


# Moves to another seed.


def test_a_migration_takes_every_finalizer_and_touches_no_node() -> None:
    seed = Seed(extension("migrate", finalizers=[FINALIZER, "other/keep"]))

    assert seed.turn() == Plan()
    assert seed.last_operation == ("Migrate", "Succeeded", 100)
    assert not seed.extension["metadata"].get("finalizers")
    assert {action.resource for action in seed.stage.sent} == {EXTENSIONS}


def test_nothing_follows_a_migration_but_a_restoration() -> None:
    seed = Seed(extension("migrate"))
    seed.turn()
    seed.stage.pass_time(7200)
    before = len(seed.stage.sent)

    assert seed.turn() == Plan()
    assert len(seed.stage.sent) == before

    seed.stage.patch(seed.stage.world.subject, {"metadata": {"annotations": {OPERATION: "restore"}}})
    assert seed.turn() == Plan()
    assert seed.last_operation == ("Restore", "Succeeded", 100)
    assert seed.get(CONFIG_MAPS, MONITORING)


def test_a_migration_goes_before_a_deletion() -> None:
    seed = Seed(extension("migrate", finalizers=[FINALIZER], **DELETED))

    assert seed.turn() == Plan()
    assert seed.extension is None


# What brings a turn.


@pytest.mark.parametrize(
    ("old", "new", "is_asked_for"),
    [
        (None, extension(), True),
        (None, extension(last=SUCCEEDED), False),
        (None, extension(last=BAD), True),
        (extension(), extension(last=BAD), False),
        (extension(), extension("reconcile"), True),
        (extension(), extension("wait-for-state"), False),
        (extension(), extension(**DELETED), True),
        (extension(), extension(last=BAD, **DELETED), True),
        (extension(**DELETED), extension(last=BAD, **DELETED), False),
        (extension(uid="one"), extension(uid="two", last=BAD), True),
        (extension(), None, False),
    ],
)
def test_an_annotation_a_deletion_or_a_status_asks_for_an_operation(
    old: Manifest | None, new: Manifest | None, *, is_asked_for: bool
) -> None:
    assert asks_for_operation(Change(old, new)) is is_asked_for


@pytest.mark.parametrize(
    ("old", "new", "is_followed"),
    [
        (None, extension(last=SUCCEEDED), True),
        (extension(generation=1), extension("reconcile", generation=1), False),
        (extension(generation=1), extension(generation=2), True),
        (extension(generation=1), None, False),
    ],
)
def test_a_controller_that_ignores_annotations_follows_specifications(
    old: Manifest | None, new: Manifest | None, *, is_followed: bool
) -> None:
    assert changes_generation(Change(old, new)) is is_followed


# What cannot be read or written.

BOOM = "Internal error occurred: boom"
REFUSED = ApiError(500, "InternalError", BOOM)


def turn_with(seed: Seed, fault: Callable[[Any], bool], state: object = None, error: ApiError | None = REFUSED) -> Plan:
    """A turn in which the steps fail that a fault concerns; without an error, what is written is gone then."""
    surroundings, now = InMemory(seed.stage.clusters), datetime(2026, 1, 2, tzinfo=UTC)
    snapshot = LiveSnapshot(seed.stage.snapshot)

    def perform(step: Any) -> Any:
        if fault(step):
            if isinstance(step, ObjectQuestion):
                return NotAnswered(500, "InternalError", BOOM)
            return WriteResult(step, error=error)
        reply = performed(step, surroundings, lambda: now)
        snapshot.advance()
        return reply

    controller = seed.stage.world.controller
    return executed(controller.reconcile(KEY, snapshot, Context(now, controller.config, state)), perform)[0]


def reading(resource: Resource) -> Callable[[Any], bool]:
    return lambda step: isinstance(step, ObjectQuestion) and step.resource == resource


def writing(reason: str, resource: Resource = EXTENSIONS) -> Callable[[Any], bool]:
    return lambda step: getattr(step, "reason", "") == reason and step.resource == resource


DEPLOY = "failed to deploy the rsyslog relp configuration cleaner component: "


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (reading(SECRETS), f"{DEPLOY}{BOOM}"),
        (reading(MANAGED_RESOURCES), f"{DEPLOY}{BOOM}"),
        (writing("extension-deleted", SECRETS), f"{DEPLOY}{BOOM}"),
        (writing("extension-deleted", MANAGED_RESOURCES), f"{DEPLOY}{BOOM}"),
        (writing("started"), BOOM),
    ],
)
def test_a_cleaning_that_cannot_begin_says_why(fault: Callable[[Any], bool], error: str) -> None:
    seed = deleted()

    assert error_of(turn_with(seed, fault)) == error
    assert seed.extension["metadata"]["finalizers"] == [FINALIZER]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (writing("monitoring", CONFIG_MAPS), BOOM),
        (writing("held"), f"failed to add finalizer: {BOOM}"),
        (writing("succeeded"), BOOM),
    ],
)
def test_a_reconciliation_that_fails_says_why(fault: Callable[[Any], bool], error: str) -> None:
    assert error_of(turn_with(Seed(extension()), fault)) == error


def test_monitoring_is_read_only_where_there_may_be_some() -> None:
    assert turn_with(Seed(extension()), reading(CONFIG_MAPS)).failures == ()
    assert error_of(turn_with(Seed(extension("reconcile", SUCCEEDED)), reading(CONFIG_MAPS))) == BOOM


def test_monitoring_that_a_new_extension_finds_is_corrected() -> None:
    metadata = {"namespace": NAMESPACE, "name": MONITORING.name, "labels": {"theirs": "stays"}}
    found = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"alerting_rules": "old"}}
    seed, empty = Seed(extension(), RUNNING, found), Seed(extension())
    seed.turn()
    empty.turn()

    stored, created = seed.get(CONFIG_MAPS, MONITORING), empty.get(CONFIG_MAPS, MONITORING)
    assert stored["data"] == created["data"]
    assert stored["metadata"]["labels"] == {**created["metadata"]["labels"], "theirs": "stays"}
    assert seed.last_operation == ("Create", "Succeeded", 100)


@pytest.mark.parametrize("reason", ["operation-taken", "started"])
def test_a_request_that_cannot_be_taken_off_is_told(reason: str) -> None:
    seed = Seed(extension("reconcile", {**SUCCEEDED, "lastUpdateTime": "2026-01-01T23:59:00Z"}))

    assert error_of(turn_with(seed, writing(reason))) == BOOM
    seed.turn()
    assert seed.last_operation == ("Reconcile", "Succeeded", 100)


def test_monitoring_that_is_as_it_should_be_is_left_alone() -> None:
    seed = Seed(extension())
    seed.turn()
    seed.stage.pass_time(3600)
    before = len(seed.stage.sent)

    seed.turn()

    assert {action.resource for action in seed.stage.sent[before:]} == {EXTENSIONS}


def left_over(**metadata: Any) -> tuple[Manifest, Manifest]:
    """The cleaner's ManagedResource of an earlier deletion, and its Secret."""
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"namespace": NAMESPACE, "name": "former", **metadata}}
    managed_resource = {
        "apiVersion": MANAGED_RESOURCES.api_version,
        "kind": MANAGED_RESOURCES.kind,
        "metadata": {"namespace": NAMESPACE, "name": CLEANER.name},
        "spec": {"secretRefs": [{"name": "former"}]},
    }
    return secret, managed_resource


GOING: Manifest = {"metadata": DELETED}
DESTROY = "failed to destroy the rsyslog relp configuration cleaner component: "


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (reading(MANAGED_RESOURCES), f"{DESTROY}{BOOM}"),
        (reading(SECRETS), f"{DESTROY}{BOOM}"),
        (writing("cleaned", SECRETS), f"{DESTROY}{BOOM}"),
        (writing("cleaned", MANAGED_RESOURCES), f"{DESTROY}{BOOM}"),
        (reading(CONFIG_MAPS), BOOM),
    ],
)
def test_a_cleaner_that_cannot_be_removed_is_told(fault: Callable[[Any], bool], error: str) -> None:
    seed = deleted(GOING, *left_over())

    assert error_of(turn_with(seed, fault)) == error
    assert seed.extension["metadata"]["finalizers"] == [FINALIZER]


@pytest.mark.parametrize(
    "fault",
    [
        reading(MANAGED_RESOURCES),
        lambda step: getattr(step, "reason", "") == "unused",
        lambda step: reading(SECRETS)(step) and step.key.name == "former",
    ],
)
def test_former_secrets_are_left_to_garbage_collection_first(fault: Callable[[Any], bool]) -> None:
    seed = deleted(RUNNING, *left_over())

    assert error_of(turn_with(seed, fault)) == f"{DEPLOY}{BOOM}"


@pytest.mark.parametrize("labels", [{}, {"resources.gardener.cloud/garbage-collectable-reference": "true"}])
def test_a_former_secret_is_marked_once(labels: Mapping[str, str]) -> None:
    seed = deleted(RUNNING, *left_over(labels=labels))

    seed.turn()

    assert [action.reason for action in seed.stage.sent].count("unused") == (0 if labels else 1)
    assert seed.get(SECRETS, ObjectKey(NAMESPACE, "former"))["metadata"]["labels"] != {}


def test_a_former_secret_that_is_gone_is_none_of_our_business() -> None:
    seed = deleted(RUNNING, left_over()[1])

    assert seed.turn().requeue_after == 120


def test_an_extension_that_is_gone_leaves_nothing_to_do() -> None:
    seed = Seed(extension())
    snapshot = LiveSnapshot(seed.stage.snapshot)
    seed.stage.remove(seed.stage.world.subject)
    now = datetime(2026, 1, 2, tzinfo=UTC)
    controller = seed.stage.world.controller

    plan, _ = executed(
        controller.reconcile(KEY, snapshot, Context(now, controller.config)),
        lambda step: performed(step, InMemory(seed.stage.clusters), lambda: now),
    )

    assert plan == Plan()
    assert seed.get(CONFIG_MAPS, MONITORING) is None


@pytest.mark.parametrize("resource", [SECRETS, MANAGED_RESOURCES])
def test_a_deletion_that_has_no_shoot_to_look_at_is_an_error(resource: Resource) -> None:
    seed = Seed(extension(finalizers=[FINALIZER], **DELETED), None)

    assert error_of(seed.turn()) == "cluster.shoot is not yet populated"
    assert resource not in {action.resource for action in seed.stage.sent}


@pytest.mark.parametrize(("phase", "prefix"), [("healthy", DEPLOY), ("gone", DESTROY)])
def test_a_cleaner_that_cannot_be_read_while_it_is_waited_for_is_told(phase: str, prefix: str) -> None:
    seed = deleted()
    seed.turn()
    if phase == "gone":
        seed.hold()
        seed.become_healthy()
        seed.turn()
    state = seed.stage.turns[-1].plan.state

    assert error_of(turn_with(seed, reading(MANAGED_RESOURCES), state)) == f"{prefix}{BOOM}"


def test_the_changes_of_an_extension_bring_turns_unless_its_shoot_has_failed() -> None:
    watch = lifecycle_controller().watches[0]
    seed, failed = Seed(extension()), Seed(extension(), {"status": {"lastOperation": {"state": "Failed"}}})

    for each, keys in ((seed, [KEY]), (failed, []), (Seed(extension(), {}), [])):
        assert [*watch.enqueue(watch.transform(each.extension), each.stage.snapshot())] == keys
    assert [*watch.enqueue(watch.transform(extension(kind="other")), seed.stage.snapshot())] == []


def test_changes_of_the_cleaner_bring_turns() -> None:
    watch = lifecycle_controller().watches[2]
    manifest = left_over()[1]

    assert [*watch.enqueue(watch.transform(manifest), Seed(extension()).stage.snapshot())] == [KEY]


def test_a_managed_resource_that_cannot_be_read_is_told() -> None:
    secret, managed_resource = left_over()
    broken = {**managed_resource, "metadata": {**managed_resource["metadata"], "labels": {}}, "spec": {"secretRefs": 1}}
    seed = deleted(RUNNING, secret, broken)

    error = error_of(seed.turn())

    assert error.startswith(DEPLOY)
    assert "secretRefs" in error


def test_an_extension_that_goes_with_its_last_finalizer_needs_no_further_change() -> None:
    seed = Seed(extension("migrate", finalizers=[FINALIZER], **DELETED))

    assert turn_with(seed, writing("migrated"), error=None) == Plan()


def test_a_migration_that_failed_goes_on_without_being_asked_for_again() -> None:
    seed = Seed(extension(last={**BAD, "type": "Migrate"}, finalizers=[FINALIZER]))

    seed.turn()

    assert seed.last_operation == ("Migrate", "Succeeded", 100)
    assert "operation-taken" not in [action.reason for action in seed.stage.sent]


@pytest.mark.parametrize("fault", [reading(CONFIG_MAPS), writing("succeeded"), writing("released")])
def test_what_is_clean_is_not_cleaned_again(fault: Callable[[Any], bool]) -> None:
    seed = deleted()
    seed.turn()
    seed.become_healthy()

    plan = turn_with(seed, fault, seed.stage.turns[-1].plan.state)
    assert error_of(plan) == BOOM
    plan = turn_with(seed, lambda _step: False, plan.state)

    assert plan == Plan()
    assert seed.extension is None
    assert seed.get(MANAGED_RESOURCES, CLEANER) is None


def test_a_cleaner_that_goes_for_an_unknown_reason_is_followed_by_another() -> None:
    seed = deleted()
    seed.turn()
    seed.hold()
    seed.become_healthy()
    seed.turn()
    seed.stage.restart()

    assert seed.turn().requeue_after == 120
    seed.stage.remove(in_target(seed.get(MANAGED_RESOURCES, CLEANER))[0])
    assert seed.turn().requeue_after == 120
    seed.become_healthy()
    assert seed.turn() == Plan()
    assert seed.extension is None


@pytest.mark.parametrize(("follows", "is_due"), [(True, True), (False, False)])
def test_a_change_of_the_specification_is_due_where_annotations_are_ignored(*, follows: bool, is_due: bool) -> None:
    seed = Seed(extension(), ignore_operation_annotation=follows)
    seed.turn()
    seed.stage.patch(seed.stage.world.subject, {"spec": {"providerConfig": {"a": 1}}})

    seed.turn()

    assert bool(seed.stage.turns[-1].steps) is is_due


def test_a_migration_that_fails_at_its_finalizers_is_taken_up_again() -> None:
    seed = Seed(extension(last={**BAD, "type": "Migrate"}, finalizers=[FINALIZER]))

    assert error_of(turn_with(seed, writing("migrated"))) == BOOM
    seed.turn()

    assert seed.last_operation == ("Migrate", "Succeeded", 100)
    assert not seed.extension["metadata"].get("finalizers")


# With its definition.


def lose_definition(seed: Seed) -> None:
    lose_definitions(seed.stage, [each for each in KINDS if each.resource == EXTENSIONS])


@pytest.mark.parametrize("shoot", [RUNNING, {}], ids=["a Cluster", "no Cluster"])
def test_nodes_and_monitoring_stay_as_they_are_when_somebody_deletes_the_definition(shoot: Manifest) -> None:
    monitoring = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": MONITORING._asdict()}
    seed = Seed(extension(finalizers=[FINALIZER]), shoot, monitoring)
    lose_definition(seed)

    (event,) = seed.turn().events

    assert (event.reason, event.note) == (
        "DefinitionTerminating",
        "the definition of Extension is being deleted, so what it has brought about stays",
    )
    assert seed.extension is None
    assert (seed.get(MANAGED_RESOURCES, CLEANER), seed.get(CONFIG_MAPS, MONITORING) is None) == (None, False)


def test_nothing_is_cleaned_while_nobody_knows_what_becomes_of_the_definition() -> None:
    seed = Seed(extension(finalizers=[FINALIZER], **DELETED))
    refused = Answered(Response(403, {"kind": "Status", "status": "Failure", "reason": "Forbidden", "message": "no"}))
    faults = seed.stage.clusters[Cluster.TARGET].faults
    faults.append(Fault(lambda request: "customresourcedefinitions" in request.path, refused))

    assert error_of(seed.turn()) == "could not read the definition of Extension, so nothing is deleted: no"
    assert seed.get(MANAGED_RESOURCES, CLEANER) is None


def test_an_extension_that_is_gone_before_it_is_released_needs_nothing() -> None:
    seed = Seed(extension(finalizers=[FINALIZER]))
    lose_definition(seed)
    asked = seed.stage.moments + 1
    seed.stage.at_moment = lambda now: seed.stage.remove(seed.stage.world.subject) if now == asked else None

    assert seed.turn() == Plan()


def test_an_extension_that_cannot_be_released_is_tried_again() -> None:
    seed = Seed(extension(finalizers=[FINALIZER]))
    lose_definition(seed)
    refused = Answered(Response(500, {"kind": "Status", "status": "Failure", "message": "a fault"}))
    seed.stage.clusters[Cluster.TARGET].faults.append(Fault(lambda request: request.method == "PATCH", refused))

    assert error_of(seed.turn()) == "a fault"
