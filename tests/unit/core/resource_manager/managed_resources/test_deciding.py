"""Whose ManagedResources are, and what becomes of them as a whole; MR-… are the examples of managed-resources §7.14."""

from typing import Any

import pytest

from hedgerow.api.definition import build_definition
from hedgerow.api.kubernetes import CUSTOM_RESOURCE_DEFINITIONS, SECRETS
from hedgerow.api.managed_resources import (
    DESCRIPTION,
    FINALIZER,
    IGNORE,
    KEEP_OBJECT,
    MANAGED_RESOURCES,
    ORIGIN,
    ClassFilter,
)
from hedgerow.api.resources_v1alpha1 import MANAGED_RESOURCE
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.questions import NotAnswered
from hedgerow.resource_manager.managed_resources.reconciliation import ManagedResourceConfig
from hedgerow_adapters.protocol import requests
from tests.unit.core.resource_manager.managed_resources.harness import (
    CONFIG_MAPS,
    KEY,
    Harness,
    config_map,
    managed_resource,
    new_cluster,
    secret,
)

GOING = "The resources are currently being deleted."
IGNORED = "ManagedResourceIgnored"


def applied(*objects: Manifest, **spec: Any) -> Harness:
    made = Harness()
    made.put(secret(objects=objects or [config_map("a")]), managed_resource("secret", **spec))
    made.turn()
    return made


class TestDeletion:
    def test_mr_12_objects_go_first_and_then_the_finalizer(self) -> None:
        made = applied(config_map("a", finalizers=["example.com/held"]))
        made.delete(MANAGED_RESOURCES, KEY.name)

        report = made.turn()

        assert made.said() == {
            "ResourcesHealthy": "False/DeletionPending",
            "ResourcesProgressing": "True/DeletionPending",
            "ResourcesApplied": "Progressing/DeletionPending",
        }
        assert made.condition("ResourcesHealthy").message == made.condition("ResourcesProgressing").message == GOING
        assert made.condition().message.startswith("Could not clean all old resources: 1 error occurred: ")
        assert report.plan.requeue_after == 5
        assert made.turn().status_writes == 0
        made.patch(CONFIG_MAPS, "a", {"metadata": {"finalizers": None}})
        assert made.turn().plan.requeue_after is None
        assert made.source.get(MANAGED_RESOURCES, KEY) is None

    def test_what_goes_at_once_is_confirmed_by_a_second_look(self) -> None:
        made = applied()
        made.delete(MANAGED_RESOURCES, KEY.name)

        assert made.turn().plan.requeue_after == 5
        assert made.managed_resource()["metadata"]["finalizers"] == [FINALIZER]
        made.turn()
        assert made.source.get(MANAGED_RESOURCES, KEY) is None

    def test_mr_13_objects_that_are_to_be_kept_stay_as_they_are(self) -> None:
        made = applied(keepObjects=True)
        before = made.live(CONFIG_MAPS, "a")
        made.delete(MANAGED_RESOURCES, KEY.name)

        report = made.turn()

        assert made.live(CONFIG_MAPS, "a") == before
        assert made.source.get(MANAGED_RESOURCES, KEY) is None
        assert report.status_writes == 1

    def test_mr_25_one_that_is_ignored_goes_as_any_other(self) -> None:
        made = applied()
        made.annotate(**{IGNORE: "true"})
        made.turn()
        made.delete(MANAGED_RESOURCES, KEY.name)
        made.turn()
        made.turn()

        assert (made.get(CONFIG_MAPS, "a"), made.source.get(MANAGED_RESOURCES, KEY)) == (None, None)

    def test_it_does_not_take_its_secrets(self) -> None:
        made = applied()
        made.delete(SECRETS, "secret")
        made.delete(MANAGED_RESOURCES, KEY.name)

        assert not [each for each in made.turn().questions if each.resource == SECRETS]
        assert made.get(CONFIG_MAPS, "a") is None

    def test_one_that_was_never_held_is_let_go(self) -> None:
        made = Harness()
        held = managed_resource("secret")
        made.put({**held, "metadata": {**held["metadata"], "finalizers": ["example.com/other"]}})
        made.delete(MANAGED_RESOURCES, KEY.name)

        assert made.turn().plan.requeue_after is None


class TestDefinition:
    def deleted_with_its_definition(self, made: Harness) -> None:
        name = "managedresources.resources.gardener.cloud"
        made.put(
            {
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": {"name": name, "finalizers": ["example.com/instances"]},
                "spec": build_definition(MANAGED_RESOURCE)["spec"],
            },
            cluster=made.source,
        )
        made.source.handle(requests.delete(CUSTOM_RESOURCE_DEFINITIONS, ObjectKey("", name)))
        made.delete(MANAGED_RESOURCES, KEY.name)

    def test_objects_stay_while_it_is_terminating_and_a_warning_says_so(self) -> None:
        made = applied(config_map("a"), config_map("b"))
        before = made.live(CONFIG_MAPS, "a")
        self.deleted_with_its_definition(made)

        report = made.turn()

        assert made.source.get(MANAGED_RESOURCES, KEY) is None
        assert (made.live(CONFIG_MAPS, "a"), made.get(CONFIG_MAPS, "b") is None) == (before, False)
        assert report.events == (
            "Warning DefinitionTerminating: the definition of ManagedResource is being deleted, so the objects stay",
        )

    def test_it_counts_in_the_source_cluster(self) -> None:
        made = Harness(source=new_cluster())
        made.put(secret(objects=[config_map("a")]), managed_resource("secret"))
        made.turn()
        self.deleted_with_its_definition(made)

        made.turn()

        assert (made.source.get(MANAGED_RESOURCES, KEY), made.get(CONFIG_MAPS, "a") is None) == (None, False)

    def test_what_is_pending_when_it_begins_to_terminate_stays(self) -> None:
        made = applied(config_map("a", finalizers=["example.com/held"]), config_map("b"))
        made.patch(CONFIG_MAPS, "b", {"metadata": {"annotations": {KEEP_OBJECT: "true"}}})
        made.delete(MANAGED_RESOURCES, KEY.name)
        made.turn()
        made.patch(CONFIG_MAPS, "b", {"metadata": {"annotations": {KEEP_OBJECT: None}}})
        self.deleted_with_its_definition(made)

        made.turn()

        assert (made.source.get(MANAGED_RESOURCES, KEY), made.get(CONFIG_MAPS, "b") is None) == (None, False)

    @pytest.mark.parametrize(
        ("problem", "conditions"),
        [
            pytest.param(NotAnswered(403, "Forbidden", "you may not"), "False/DeletionFailed", id="forbidden"),
            pytest.param(NotAnswered(500, "", "timed out"), "True/ApplySucceeded", id="not answered"),
        ],
    )
    def test_nothing_is_deleted_as_long_as_it_cannot_be_read(self, problem: NotAnswered, conditions: str) -> None:
        made = applied()
        made.delete(MANAGED_RESOURCES, KEY.name)
        made.answer = lambda question: problem if question.resource == CUSTOM_RESOURCE_DEFINITIONS else None

        report = made.turn()

        assert made.get(CONFIG_MAPS, "a") is not None
        assert made.said()["ResourcesApplied"] == conditions
        (failure,) = report.plan.failures
        assert failure.retryable
        assert failure.problem.text == (
            f"could not read the definition of ManagedResource, so nothing is deleted: {problem.message}"
        )
        assert not made.turn().writes, "it is said once"
        made.answer = lambda _question: None
        made.turn()
        made.turn()
        assert (made.source.get(MANAGED_RESOURCES, KEY), made.get(CONFIG_MAPS, "a")) == (None, None)

    def test_it_is_not_read_where_objects_stay_anyway(self) -> None:
        made = applied(keepObjects=True)
        made.delete(MANAGED_RESOURCES, KEY.name)

        assert not made.turn().questions


class TestClasses:
    def test_a_move_is_told_by_conditions_and_a_warning(self) -> None:
        made = applied()
        made.put(managed_resource("secret", **{"class": "seed"}))

        report = made.turn()

        assert made.said() == {
            "ResourcesHealthy": "Unknown/HandedOver",
            "ResourcesProgressing": "Unknown/HandedOver",
            "ResourcesApplied": "Progressing/HandedOver",
        }
        for condition in made.said():
            assert made.condition(condition).message == 'The resources are handed over to class "seed".'
        assert report.events == ('Warning HandedOver: handed over to class "seed"; its objects stay',)
        assert made.turn().events == ()

    def test_mr_14_what_is_of_another_class_is_left_alone(self) -> None:
        made = Harness()
        made.put(secret(objects=[config_map("a")]), managed_resource("secret", **{"class": "test"}))

        assert made.turn().requests == 0
        assert "status" not in made.managed_resource()

    def test_what_no_instance_takes_up_in_time_is_warned_of_once(self) -> None:
        made = Harness()
        made.put(secret(objects=[config_map("a")]), managed_resource("secret", **{"class": "sede"}))

        waiting = made.turn()
        made.clock.advance(599)
        almost = made.turn()
        made.clock.advance(1)
        late = made.turn()

        assert (waiting.plan.requeue_after, almost.plan.requeue_after, late.plan.requeue_after) == (600, 1, None)
        assert (waiting.events, almost.events) == ((), ())
        assert late.events == (
            'Warning ClassNotHandled: class "sede" is not handled: no instance has taken this ManagedResource up',
        )

    def test_what_another_instance_has_taken_up_needs_no_warning(self) -> None:
        made = Harness()
        taken_up = managed_resource("secret", **{"class": "seed"})
        taken_up["metadata"]["finalizers"] = [f"{FINALIZER}-seed"]
        made.put(secret(objects=[config_map("a")]), taken_up)

        assert made.turn().plan == Plan()

    def test_mr_15_the_new_instance_applies_what_the_old_one_has_let_go(self) -> None:
        old = applied()
        new = Harness(ManagedResourceConfig(ClassFilter("seed")), target=old.target)
        old.put(managed_resource("secret", **{"class": "seed"}))

        assert (new.turn().requests, new.turn().plan.requeue_after) == (0, 5)
        old.turn()
        old.turn()
        assert "finalizers" not in old.managed_resource()["metadata"]
        assert old.turn().requests == 0
        new.turn()
        assert new.managed_resource()["metadata"]["finalizers"] == [f"{FINALIZER}-seed"]
        assert new.said()["ResourcesApplied"] == "True/ApplySucceeded"
        assert new.get(CONFIG_MAPS, "a") is not None
        assert old.turn().requests == 0

    def test_with_kept_objects_it_takes_over_the_very_same_ones(self) -> None:
        old = applied(keepObjects=True)
        uid = old.live(CONFIG_MAPS, "a")["metadata"]["uid"]
        new = Harness(ManagedResourceConfig(ClassFilter("seed")), target=old.target)
        old.put(managed_resource("secret", keepObjects=True, **{"class": "seed"}))

        old.turn()
        new.turn()

        assert new.live(CONFIG_MAPS, "a")["metadata"]["uid"] == uid
        assert new.said()["ResourcesApplied"] == "True/ApplySucceeded"

    def test_what_another_holds_is_not_deleted_for_it(self) -> None:
        """It may look after another cluster, where objects of these names are somebody else's."""
        source = new_cluster()
        old = Harness(source=source)
        old.put(secret(objects=[config_map("a")]), managed_resource("secret"))
        old.turn()
        new = Harness(ManagedResourceConfig(ClassFilter("seed")), source=source)
        new.put(config_map("a", {"mine": "x"}))
        old.put(managed_resource("secret", **{"class": "seed"}))
        old.delete(MANAGED_RESOURCES, KEY.name)

        assert new.turn().requests == 0
        assert new.live(CONFIG_MAPS, "a")["data"] == {"mine": "x"}


class TestIgnored:
    def test_mr_24_it_says_so_once_and_nothing_else_happens(self) -> None:
        made = applied()
        made.annotate(**{IGNORE: "true"})
        made.patch(CONFIG_MAPS, "a", {"data": {"k": "edited"}})

        first, second = made.turn(), made.turn()

        assert (first.status_writes, first.plan.requeue_after) == (1, None)
        assert second.requests == 0
        assert made.said() == {
            "ResourcesHealthy": f"True/{IGNORED}",
            "ResourcesProgressing": f"False/{IGNORED}",
            "ResourcesApplied": f"True/{IGNORED}",
        }
        assert made.condition().message == "ManagedResource is marked to be ignored."
        assert made.live(CONFIG_MAPS, "a")["data"] == {"k": "edited"}

    def test_one_that_never_was_applied_says_it_in_this_order(self) -> None:
        made = Harness()
        made.put(managed_resource("secret"))
        made.annotate(**{IGNORE: "1"})

        made.turn()

        assert list(made.said()) == ["ResourcesApplied", "ResourcesHealthy", "ResourcesProgressing"]

    def test_it_is_applied_again_when_it_is_not_ignored_any_more(self) -> None:
        made = applied()
        made.annotate(**{IGNORE: "true"})
        made.patch(CONFIG_MAPS, "a", {"data": {"k": "edited"}})
        made.turn()
        made.annotate(**{IGNORE: None})

        made.turn()

        assert made.said()["ResourcesApplied"] == "True/ApplySucceeded"
        assert made.live(CONFIG_MAPS, "a")["data"] == {"k": "v"}

    @pytest.mark.parametrize("value", ["yes", "false"])
    def test_what_is_not_truly_ignored_is_applied(self, value: str) -> None:
        made = applied()
        made.annotate(**{IGNORE: value})
        made.patch(CONFIG_MAPS, "a", {"data": {"k": "edited"}})

        made.turn()

        assert made.live(CONFIG_MAPS, "a")["data"] == {"k": "v"}


def test_finalizers_of_others_are_let_be() -> None:
    made = Harness()
    plain = managed_resource("secret")
    made.put(secret(objects=[config_map("a")]))
    made.put({**plain, "metadata": {**plain["metadata"], "finalizers": ["example.com/other"]}})

    made.turn()

    assert made.managed_resource()["metadata"]["finalizers"] == ["example.com/other", FINALIZER]
    made.delete(MANAGED_RESOURCES, KEY.name)
    made.turn()
    made.turn()
    assert made.managed_resource()["metadata"]["finalizers"] == ["example.com/other"]


def test_nothing_happens_about_one_that_does_not_exist() -> None:
    assert Harness().turn().requests == 0


def test_objects_say_where_they_come_from_with_the_id_of_the_cluster() -> None:
    made = Harness(ManagedResourceConfig(cluster_id="seed-1", managed_by="me"))
    made.put(secret(objects=[config_map("a")]), managed_resource("secret"))

    made.turn()

    metadata = made.live(CONFIG_MAPS, "a")["metadata"]
    assert metadata["annotations"][ORIGIN] == "seed-1:default/example"
    assert DESCRIPTION in metadata["annotations"]
    assert metadata["labels"] == {"resources.gardener.cloud/managed-by": "me"}


def test_source_and_target_may_be_two_clusters() -> None:
    made = Harness(source=new_cluster())
    made.put(secret(objects=[config_map("a")]), managed_resource("secret"))

    made.turn()

    assert made.get(CONFIG_MAPS, "a") is not None
    assert made.source.get(CONFIG_MAPS, KEY._replace(name="a")) is None
    assert made.turn().requests == 0
    made.delete(MANAGED_RESOURCES, KEY.name)
    made.turn()
    made.turn()
    assert made.get(CONFIG_MAPS, "a") is None
