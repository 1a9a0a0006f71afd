"""What becomes of the objects in the Secrets of a ManagedResource; MR-… are the examples of managed-resources §7.14."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import pytest

from hedgerow.api.kubernetes import HORIZONTAL_POD_AUTOSCALERS, SECRETS
from hedgerow.api.managed_resources import (
    DESCRIPTION,
    DESCRIPTION_TEXT,
    FINALIZER,
    IGNORE,
    MANAGED_BY,
    MODE,
    OPERATION,
    ORIGIN,
)
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import ConditionStatus
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow.machinery.plan import Action, ApiError, Create, Delete, Update, WriteResult
from hedgerow.machinery.questions import ListQuestion, NotAnswered
from hedgerow.resource_manager.managed_resources.reconciliation import ManagedResourceConfig, digest
from hedgerow_adapters.cache import StoreSnapshot
from tests.unit.core.resource_manager.managed_resources.harness import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    GADGETS,
    THINGS,
    Harness,
    Report,
    config_map,
    managed_resource,
    secret,
)

SEED: Final = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: test-1234
  namespace: default
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: test-5678
  namespace: default
"""
FOOS: Final = Resource("example.com", "v1", "foos", "Foo")
T: Final = "2026-01-01T00:00:00Z"


def harness(*objects: Manifest, config: ManagedResourceConfig | None = None, **spec: Any) -> Harness:
    made = Harness(config)
    made.put(secret(objects=objects), managed_resource("secret", **spec))
    return made


HOUR: Final = 3600.0


def deployment(**spec: Any) -> dict[str, Any]:
    pod = {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "app"},
        "spec": {"selector": {"matchLabels": {"app": "x"}}, "template": pod, **spec},
    }


def named_deployment(name: str) -> dict[str, Any]:
    return {**deployment(), "metadata": {"name": name}}


def test_mr_1_objects_are_created_and_the_status_tells_so() -> None:
    made = Harness()
    made.put(secret(**{"objects.yaml": SEED}), managed_resource("secret"))

    report = made.turn()

    assert report.writes == [
        "MergePatch ManagedResource default/example",
        "JsonPatch ManagedResource default/example",
        "Create ConfigMap default/test-1234",
        "Create ConfigMap default/test-5678",
        "JsonPatch ManagedResource default/example",
    ]
    assert len(report.questions) == 1
    assert report.plan.requeue_after == 60
    assert made.managed_resource()["metadata"]["finalizers"] == [FINALIZER]
    created = next(each.action for each in report.outcomes if isinstance(each.action, Create))
    assert created.manifest == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "test-1234",
            "namespace": "default",
            "labels": {MANAGED_BY: "gardener"},
            "annotations": {ORIGIN: "default/example", DESCRIPTION: DESCRIPTION_TEXT},
        },
    }
    labels = {MANAGED_BY: "gardener"}
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "labels": labels}
    times = {"lastTransitionTime": T, "lastUpdateTime": T}
    pending = {"status": "Unknown", "reason": "ChecksPending", **times}
    assert made.managed_resource()["status"] == {
        "observedGeneration": 1,
        "secretsDataChecksum": hashlib.sha256(SEED.encode() * 2).hexdigest(),
        "resources": [{**reference, "name": "test-1234"}, {**reference, "name": "test-5678"}],
        "conditions": [
            {
                "type": "ResourcesHealthy",
                "message": "The health checks have not yet been executed for the current set of resources.",
                **pending,
            },
            {
                "type": "ResourcesProgressing",
                "message": "Checks have not yet been executed for the current set of resources.",
                **pending,
            },
            {
                "type": "ResourcesApplied",
                "status": "True",
                "reason": "ApplySucceeded",
                "message": "All resources are applied.",
                **times,
            },
        ],
    }


@pytest.mark.parametrize(
    ("injected", "expected"),
    [
        pytest.param({"foo": "bar"}, {"foo": "bar", MANAGED_BY: "gardener"}, id="MR-2"),
        pytest.param({MANAGED_BY: "foo"}, {MANAGED_BY: "gardener"}, id="MR-3"),
    ],
)
def test_labels_are_injected_into_objects_and_their_templates(injected: Any, expected: Any) -> None:
    made = harness(deployment(), injectLabels=injected)

    made.turn()

    live = made.live(DEPLOYMENTS, "app")
    assert live["metadata"]["labels"] == expected
    assert live["spec"]["template"]["metadata"]["labels"] == {"app": "x", **expected}
    assert live["spec"]["selector"] == {"matchLabels": {"app": "x"}}


class TestWhatIsInTheSecretsChanges:
    def test_mr_7_data(self) -> None:
        made = harness(config_map("a", {"k": "1"}))
        made.turn()
        made.say("ResourcesHealthy", "True", "ResourcesHealthy")
        made.say("ResourcesProgressing", "False", "ResourcesRolledOut")
        before = made.managed_resource()["status"]
        made.put(secret(objects=[config_map("a", {"k": "2"})]))

        report = made.turn()

        after = made.managed_resource()["status"]
        assert made.live(CONFIG_MAPS, "a")["data"] == {"k": "2"}
        assert after["secretsDataChecksum"] != before["secretsDataChecksum"]
        assert after["resources"] == before["resources"]
        assert made.said() == {
            "ResourcesHealthy": "Unknown/ChecksPending",
            "ResourcesProgressing": "Unknown/ChecksPending",
            "ResourcesApplied": "True/ApplySucceeded",
        }
        assert report.writes.count("Update ConfigMap default/a") == 1

    def test_mr_8_another_data_key(self) -> None:
        made = harness(config_map("a"))
        made.turn()
        added = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"k": "v"}}
        made.put(secret(objects=[config_map("a")], more=[added]))

        made.turn()

        assert made.live(SECRETS, "s")["data"] == {"k": "dg=="}
        assert made.references() == ["ConfigMap/a", "Secret/s"]
        assert made.said()["ResourcesApplied"] == "True/ApplySucceeded"

    def test_mr_9_another_secret(self) -> None:
        made = harness(config_map("a"))
        made.turn()
        made.put(secret("more", objects=[config_map("b")]), managed_resource("secret", "more"))

        made.turn()

        assert made.references() == ["ConfigMap/a", "ConfigMap/b"]
        assert made.managed_resource()["status"]["observedGeneration"] == 2

    def test_nothing_is_read_but_what_has_changed(self) -> None:
        made = harness(config_map("a", {"k": "1"}), config_map("b"), config_map("c"))
        made.turn()
        made.put(secret(objects=[config_map("a", {"k": "2"}), config_map("b"), config_map("c")]))

        report = made.turn()

        assert [str(question.key) for question in report.questions if hasattr(question, "key")] == [
            "default/secret",
            "default/a",
        ]


class TestLabelsAndAnnotationsOfOthers:
    @staticmethod
    def edited(**spec: Any) -> Mapping[str, Any]:
        """Labels and annotations of an object to which a user has added some, once a change of it was applied."""
        made = harness(config_map("a", labels={"mine": "x"}, annotations={"mine": "x"}), **spec)
        made.turn()
        made.patch(CONFIG_MAPS, "a", {"metadata": {"labels": {"more": "y"}, "annotations": {"more": "y"}}})
        made.turn()
        metadata = made.live(CONFIG_MAPS, "a")["metadata"]
        return {name: sorted(metadata[name].keys() & {"mine", "more"}) for name in ("labels", "annotations")}

    def test_stay(self) -> None:
        assert self.edited() == {"labels": ["mine", "more"], "annotations": ["mine", "more"]}

    def test_go_where_the_managed_resource_says_so(self) -> None:
        assert self.edited(forceOverwriteLabels=True) == {"labels": ["mine"], "annotations": ["mine", "more"]}
        assert self.edited(forceOverwriteAnnotations=True) == {"labels": ["mine", "more"], "annotations": ["mine"]}


def reasons(report: Report) -> list[str]:
    return [each.action.reason for each in report.outcomes]


def test_every_write_says_why() -> None:
    made = harness(config_map("a"))
    life = [reasons(made.turn())]
    made.put(secret(objects=[config_map("a", {"k": "new"})]))
    life.append(reasons(made.turn()))
    made.annotate(**{OPERATION: "reconcile"})
    life.append(reasons(made.turn()))
    made.put(secret(objects=[config_map("a", annotations={MODE: "Ignore"}), config_map("b")]))
    life.append(reasons(made.turn()))
    made.annotate(**{IGNORE: "true"})
    life.append(reasons(made.turn()))
    made.annotate(**{IGNORE: None})
    made.put(managed_resource("secret", **{"class": "seed"}))
    life.append(reasons(made.turn()))

    assert life == [
        ["held", "resources-changed", "missing", "applied"],
        ["resources-changed", "differs", "applied"],
        ["operation-begun"],
        ["resources-changed", "released", "resources-changed", "missing", "applied"],
        ["ignored"],
        ["handed-over", "released"],
    ]


class TestModeIgnore:
    MODE_IGNORE: Final = config_map("a", annotations={MODE: "Ignore"})

    def test_mr_16_what_was_never_applied_is_not_created(self) -> None:
        made = harness(self.MODE_IGNORE)

        made.turn()

        assert made.get(CONFIG_MAPS, "a") is None
        assert made.references() == []
        assert made.said()["ResourcesApplied"] == "True/ApplySucceeded"

    def test_mr_17_what_was_applied_is_let_go(self) -> None:
        made = harness(config_map("a", labels={"mine": "x"}))
        made.turn()
        made.put(secret(objects=[self.MODE_IGNORE]))

        made.turn()

        live = made.live(CONFIG_MAPS, "a")
        assert not live["metadata"].get("annotations")
        assert live["metadata"]["labels"] == {"mine": "x", MANAGED_BY: "gardener"}
        assert made.references() == []

    def test_mr_18_what_belongs_to_another_is_left_alone(self) -> None:
        made = harness(config_map("a"))
        made.turn()
        made.patch(CONFIG_MAPS, "a", {"metadata": {"annotations": {ORIGIN: "default/other"}}})
        before = made.live(CONFIG_MAPS, "a")
        made.put(secret(objects=[self.MODE_IGNORE]))

        made.turn()

        assert made.live(CONFIG_MAPS, "a") == before
        assert made.references() == []

    def test_mr_19_the_value_is_case_sensitive(self) -> None:
        made = harness(config_map("a", annotations={MODE: "ignore"}))

        made.turn()

        assert made.references() == ["ConfigMap/a"]

    def test_what_lost_its_description_is_let_go_too(self) -> None:
        made = harness(config_map("a"))
        made.turn()
        made.patch(CONFIG_MAPS, "a", {"metadata": {"annotations": {DESCRIPTION: None}}})
        made.put(secret(objects=[self.MODE_IGNORE]))

        made.turn()

        assert not made.live(CONFIG_MAPS, "a")["metadata"].get("annotations")
        assert made.references() == []

    def test_what_is_gone_already_needs_no_release(self) -> None:
        made = harness(config_map("a"))
        made.turn()
        made.delete(CONFIG_MAPS, "a")
        made.put(secret(objects=[self.MODE_IGNORE]))

        made.turn()

        assert made.references() == []
        assert made.said()["ResourcesApplied"] == "True/ApplySucceeded"

    def test_what_cannot_be_read_is_not_let_go_and_told(self) -> None:
        made = harness(config_map("a"))
        made.turn()
        made.put(secret(objects=[self.MODE_IGNORE]))
        away = NotAnswered(500, "InternalError", "etcd is away")
        made.answer = lambda question: away if question.resource == CONFIG_MAPS else None

        made.turn()

        assert made.condition().reason == "ReleaseOfOrphanedResourcesFailed"
        assert made.condition().message.endswith('error getting object "v1/ConfigMap/default/a": etcd is away')
        assert ORIGIN in made.live(CONFIG_MAPS, "a")["metadata"]["annotations"]

    def test_what_cannot_be_let_go_is_told_and_tried_again(self) -> None:
        made = harness(config_map("a"))
        made.turn()
        made.put(secret(objects=[self.MODE_IGNORE]))

        def steal(action: Action) -> None:
            if action.reason == "released":
                made.patch(CONFIG_MAPS, "a", {"metadata": {"annotations": {ORIGIN: "default/other"}}})

        made.before_write = steal

        report = made.turn()

        assert made.said()["ResourcesApplied"] == "False/ReleaseOfOrphanedResourcesFailed"
        assert made.condition().message.startswith(
            "Could not release all orphaned resources: 1 error occurred: "
            'error patching object "v1/ConfigMap/default/a": '
        )
        assert report.plan.failures[0].retryable
        made.turn()
        assert made.said()["ResourcesApplied"] == "True/ApplySucceeded"


class TestIgnoredObject:
    IGNORED: Final = config_map("a", {"k": "1"}, annotations={IGNORE: "true"})

    def test_mr_20_it_is_created_as_it_is(self) -> None:
        made = harness(self.IGNORED)

        made.turn()

        assert made.live(CONFIG_MAPS, "a")["metadata"].get("labels") is None
        assert made.live(CONFIG_MAPS, "a")["metadata"]["annotations"] == {IGNORE: "true"}
        assert made.managed_resource()["status"]["resources"][0]["labels"] == {MANAGED_BY: "gardener"}

    def test_mr_21_it_is_not_changed_then(self) -> None:
        made = harness(self.IGNORED)
        made.turn()
        made.patch(CONFIG_MAPS, "a", {"data": {"k": "2"}})

        assert not made.turn().writes
        assert made.live(CONFIG_MAPS, "a")["data"] == {"k": "2"}

    def test_mr_22_it_does_not_say_any_more_that_it_may_not_be_edited(self) -> None:
        made = harness(config_map("a"))
        made.turn()
        made.put(secret(objects=[self.IGNORED]))

        made.turn()

        assert made.live(CONFIG_MAPS, "a")["metadata"]["annotations"] == {ORIGIN: "default/example"}

    def test_mr_23_yes_is_not_true(self) -> None:
        made = harness(config_map("a", annotations={IGNORE: "yes"}))

        made.turn()

        assert made.live(CONFIG_MAPS, "a")["metadata"]["labels"] == {MANAGED_BY: "gardener"}


class TestInvalidUpdate:
    def test_mr_29_what_is_immutable_is_made_anew_in_the_next_turn(self) -> None:
        made = harness({**config_map("a", {"k": "1"}), "immutable": True})
        made.turn()
        before = made.live(CONFIG_MAPS, "a")["metadata"]["uid"]
        made.put(secret(objects=[{**config_map("a", {"k": "2"}), "immutable": True}]))

        report = made.turn()

        assert made.get(CONFIG_MAPS, "a") is None
        assert made.said()["ResourcesApplied"] == "False/ApplyFailed"
        assert made.condition().message == (
            "deleted object \"v1/ConfigMap/default/a\" because of 'invalid' update error, and "
            "'delete-on-invalid-update' annotation on object or the resource is an immutable ConfigMap/Secret: "
            'ConfigMap "a" is invalid: data: Forbidden: field is immutable when `immutable` is set'
        )
        assert str(report.plan.failures[0].problem).startswith("could not apply all new resources: deleted object")
        made.turn()
        assert made.live(CONFIG_MAPS, "a")["data"] == {"k": "2"}
        assert made.live(CONFIG_MAPS, "a")["metadata"]["uid"] != before
        assert made.said()["ResourcesApplied"] == "True/ApplySucceeded"

    def test_an_object_that_cannot_be_deleted_for_it_is_named_with_the_servers_words(self) -> None:
        made = harness({**config_map("a", {"k": "1"}), "immutable": True})
        made.turn()
        made.put(secret(objects=[{**config_map("a", {"k": "2"}), "immutable": True}]))
        forbidden = ApiError(403, "Forbidden", "you may not")
        made.after_write = lambda result: (
            WriteResult(result.action, error=forbidden) if isinstance(result.action, Delete) else result
        )

        made.turn()

        assert made.condition().message == (
            "error deleting object \"v1/ConfigMap/default/a\" after 'invalid' update error: you may not"
        )

    ANEW: Final = {"resources.gardener.cloud/delete-on-invalid-update": "true"}

    def test_mr_30_a_valid_update_is_an_update(self) -> None:
        made = harness(config_map("a", annotations=self.ANEW))
        made.turn()
        before = made.live(CONFIG_MAPS, "a")["metadata"]["uid"]
        made.put(secret(objects=[config_map("a", annotations=self.ANEW, labels={"new": "x"})]))

        made.turn()

        assert made.live(CONFIG_MAPS, "a")["metadata"]["labels"]["new"] == "x"
        assert made.live(CONFIG_MAPS, "a")["metadata"]["uid"] == before

    def refused(self, **metadata: Any) -> Harness:
        made = harness({**deployment(), "metadata": {"name": "app", **metadata}})
        made.turn()
        changed = deployment(selector={"matchLabels": {"app": "y"}})
        changed["spec"]["template"] = {**changed["spec"]["template"], "metadata": {"labels": {"app": "y"}}}
        made.put(secret(objects=[{**changed, "metadata": {"name": "app", **metadata}}]))
        made.turn()
        return made

    def test_mr_31_what_does_not_ask_to_be_made_anew_stays(self) -> None:
        made = self.refused()

        assert made.said()["ResourcesApplied"] == "False/ApplyFailed"
        assert made.condition().message.startswith(
            'error during apply of object "apps/v1/Deployment/default/app": Deployment.apps "app" is invalid: '
        )
        assert made.live(DEPLOYMENTS, "app")["spec"]["selector"] == {"matchLabels": {"app": "x"}}

    def test_what_asks_to_be_made_anew_is_deleted(self) -> None:
        made = self.refused(annotations=self.ANEW)

        assert made.get(DEPLOYMENTS, "app") is None
        made.turn()
        assert made.live(DEPLOYMENTS, "app")["spec"]["selector"] == {"matchLabels": {"app": "y"}}


def definition(scope: str = "Namespaced") -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.example.com"},
        "spec": {
            "group": "example.com",
            "scope": scope,
            "names": {"plural": "foos", "kind": "Foo"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "properties": {"spec": {"properties": {"size": {"type": "integer", "default": 1}}}}
                        }
                    },
                }
            ],
        },
    }


@pytest.mark.parametrize("scope", ["Namespaced", "Cluster"])
def test_mr_39_a_definition_and_its_objects_are_applied_in_one(scope: str) -> None:
    foo = {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "f"}, "spec": {"a": 1}}
    made = harness(foo, definition(scope))

    first = made.turn()
    made.turn()

    assert first.writes[2] == "Create CustomResourceDefinition foos.example.com"
    assert made.said()["ResourcesApplied"] == "True/ApplySucceeded"
    assert made.references() == ["CustomResourceDefinition/foos.example.com", "Foo/f"]
    made.restart()
    assert not made.turn().writes


def test_objects_of_a_kind_that_nobody_serves_fail_after_all_that_comes_before() -> None:
    foo = {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "f"}}
    made = harness(foo, config_map("a"))

    report = made.turn()

    assert made.get(CONFIG_MAPS, "a") is not None
    assert made.condition().message == (
        'error during apply of object "example.com/v1/Foo/default/f": '
        'no matches for kind "Foo" in version "example.com/v1"'
    )
    assert report.plan.failures[0].retryable


def test_the_first_error_stops_the_rest() -> None:
    broken = config_map("b")
    broken["data"] = {"k": 5}
    made = harness(config_map("a"), broken, config_map("c"))

    made.turn()

    assert (made.get(CONFIG_MAPS, "a") is not None, made.get(CONFIG_MAPS, "c")) == (True, None)
    assert made.condition().message.startswith('error during apply of object "v1/ConfigMap/default/b": ')
    assert made.references() == ["ConfigMap/a", "ConfigMap/b", "ConfigMap/c"]


def test_the_status_has_the_labels_of_what_was_applied_before_an_error() -> None:
    """So that the next merge removes them, even if the Secrets change before all objects are applied."""
    made = harness(config_map("a", labels={"x": "old"}), config_map("b", labels={"x": "old"}))
    made.turn()
    broken = {**config_map("b", labels={"x": "new"}), "data": {"k": 5}}
    made.put(secret(objects=[config_map("a", labels={"x": "new"}), broken]))

    made.turn()

    labels = {each["name"]: each["labels"]["x"] for each in made.managed_resource()["status"]["resources"]}
    assert labels == {"a": "new", "b": "old"}


class TestScaledObjects:
    HPA: Final[Manifest] = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "hpa", "namespace": "default"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "app"},
            "maxReplicas": 9,
        },
    }

    def test_mr_46_replicas_that_an_autoscaler_sets_stay(self) -> None:
        made = harness(deployment(replicas=1))
        made.turn()
        made.put(self.HPA)
        made.patch(DEPLOYMENTS, "app", {"spec": {"replicas": 5}})

        assert not made.turn().writes
        made.restart()
        assert not made.turn().writes
        assert made.live(DEPLOYMENTS, "app")["spec"]["replicas"] == 5

    @pytest.mark.parametrize("is_equivalent", [True, False])
    def test_as_2_an_autoscaler_may_name_an_equivalent_kind(self, *, is_equivalent: bool) -> None:
        kinds = [[{"group": "apps", "kind": "Deployment"}, {"group": "shop.dev", "kind": "Cart"}]]
        made = Harness()
        made.put(
            secret(objects=[deployment(replicas=1)]),
            managed_resource("secret", equivalences=kinds if is_equivalent else []),
        )
        made.turn()
        target = {"apiVersion": "shop.dev/v1", "kind": "Cart", "name": "app"}
        made.put({**self.HPA, "spec": {**self.HPA["spec"], "scaleTargetRef": target}})
        made.patch(DEPLOYMENTS, "app", {"spec": {"replicas": 5}})

        made.turn()

        assert made.live(DEPLOYMENTS, "app")["spec"]["replicas"] == (5 if is_equivalent else 1)

    def test_replicas_stay_while_the_watch_of_autoscalers_has_not_synced(self, monkeypatch: pytest.MonkeyPatch) -> None:
        made = harness(deployment(replicas=1))
        made.put(self.HPA)
        made.turn()
        made.patch(DEPLOYMENTS, "app", {"spec": {"replicas": 5}})
        synced = StoreSnapshot.has_synced

        def has_synced(snapshot: StoreSnapshot, resource: Resource, cluster: Cluster = Cluster.TARGET) -> bool:
            return resource != HORIZONTAL_POD_AUTOSCALERS and synced(snapshot, resource, cluster)

        monkeypatch.setattr(StoreSnapshot, "has_synced", has_synced)

        for _ in range(2):
            report = made.turn()
            assert not report.writes
            assert [each.resource for each in report.questions if isinstance(each, ListQuestion)] == [
                HORIZONTAL_POD_AUTOSCALERS
            ]
        assert made.live(DEPLOYMENTS, "app")["spec"]["replicas"] == 5

    def test_they_do_not_once_the_autoscaler_is_gone(self) -> None:
        made = harness(deployment(replicas=1))
        made.put(self.HPA)
        made.turn()
        made.patch(DEPLOYMENTS, "app", {"spec": {"replicas": 5}})
        made.turn()
        made.delete(HORIZONTAL_POD_AUTOSCALERS, "hpa")

        made.turn()

        assert made.live(DEPLOYMENTS, "app")["spec"]["replicas"] == 1

    def test_nothing_is_applied_as_long_as_an_autoscaler_cannot_be_understood(self) -> None:
        made = harness(config_map("a"))
        target = {"apiVersion": "a/b/c", "kind": "Deployment", "name": "app"}
        made.put({**self.HPA, "spec": {**self.HPA["spec"], "scaleTargetRef": target}})

        made.turn()

        assert made.condition().message.startswith("failed to compute all HPA and HVPA target ref object keys: ")
        assert made.get(CONFIG_MAPS, "a") is None


class TestSteadyState:
    def test_mr_43_nothing_is_written_or_read(self) -> None:
        made = harness(config_map("a"), deployment())
        made.turn()

        assert made.turn().requests == 0

    def test_a_process_that_has_just_started_reads_and_writes_nothing(self) -> None:
        made = harness(config_map("a"), deployment())
        made.turn()
        made.restart()

        assert not made.turn().writes
        assert made.turn().requests == 0

    def test_mr_43_every_object_is_written_if_updates_are_always_to_be_sent(self) -> None:
        made = harness(config_map("a"), deployment(), config=ManagedResourceConfig(always_update=True))
        made.turn()

        report = made.turn()

        assert report.writes == ["Update ConfigMap default/a", "Update Deployment default/app"]

    def test_what_no_generation_tells_is_found_within_an_hour(self) -> None:
        gadget = {"apiVersion": "things.dev/v1", "kind": "Gadget", "metadata": {"name": "g", "namespace": "default"}}
        made = harness({**gadget, "spec": {"size": 1}})
        made.turn()
        made.patch(GADGETS, "g", {"spec": {"size": 2}})
        assert made.turn().requests == 0
        made.clock.advance(HOUR)

        report = made.turn()

        assert report.writes == ["Update Gadget default/g"]
        assert {question.resource for question in report.questions} >= {SECRETS, GADGETS}
        assert made.turn().requests == 0

    def test_what_nobody_knows_after_it_was_written_is_looked_at_in_the_next_turn(self) -> None:
        made = harness(config_map("a"))
        made.after_write = lambda outcome: (
            replace(outcome, stored=None) if outcome.action.resource == CONFIG_MAPS else outcome
        )
        made.turn()

        assert made.turn().requests == 2
        assert made.turn().requests == 0

    def test_mr_44_what_a_user_edits_is_reverted(self) -> None:
        made = harness(config_map("a"), config_map("b"))
        made.turn()
        made.patch(CONFIG_MAPS, "a", {"data": {"k": "edited", "more": "x"}})

        report = made.turn()

        assert report.writes == ["Update ConfigMap default/a"]
        assert made.live(CONFIG_MAPS, "a")["data"] == {"k": "v"}
        assert made.turn().requests == 0

    def test_what_a_user_deletes_is_created_again(self) -> None:
        made = harness(config_map("a"))
        made.turn()
        made.delete(CONFIG_MAPS, "a")

        assert made.turn().writes == ["Create ConfigMap default/a"]

    def test_what_a_webhook_adds_to_every_write_is_fought_no_more_than_once(self) -> None:
        made = harness({"apiVersion": "things.dev/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"a": 1}})
        made.turn()
        made.patch(THINGS, "t", {"metadata": {"labels": {"foreign": "x"}}})

        assert not made.turn().writes
        made.patch(THINGS, "t", {"spec": {"a": 2}})
        assert made.turn().writes == ["Update Thing default/t"]
        assert made.turn().requests == 0

    def test_what_the_definition_of_a_custom_resource_sets_is_no_drift(self) -> None:
        foo = {"apiVersion": "example.com/v1", "kind": "Foo", "metadata": {"name": "f"}, "spec": {"a": 1}}
        made = harness(definition(), foo)
        made.turn()
        made.patch(FOOS, "f", {"spec": {"size": 1}})
        made.restart()

        assert not made.turn().writes
        made.patch(FOOS, "f", {"spec": {"size": 2}})
        assert made.turn().writes == ["Update Foo default/f"]

    def test_what_somebody_else_says_in_the_status_is_corrected(self) -> None:
        made = harness(config_map("a"))
        made.turn()
        before = made.managed_resource()["status"]
        made.say("ResourcesApplied", "False", "Sabotage")

        assert made.turn().status_writes == 1
        assert made.managed_resource()["status"] == before

    def test_what_is_not_the_manifests_to_say_stays(self) -> None:
        made = harness(config_map("a"))
        made.turn()
        made.patch(CONFIG_MAPS, "a", {"metadata": {"labels": {"foreign": "x"}, "finalizers": ["example.com/f"]}})

        assert not made.turn().writes

    def test_mr_44_an_operation_is_done_at_once_and_looks_at_everything(self) -> None:
        made = harness(config_map("a"))
        made.turn()
        made.annotate(**{OPERATION: "reconcile"})

        report = made.turn()

        assert [str(question.key) for question in report.questions if hasattr(question, "key")] == [
            "default/secret",
            "default/a",
        ]
        assert not made.managed_resource()["metadata"].get("annotations")

    def test_mr_45_nothing_happens_while_it_is_to_wait(self) -> None:
        made = harness(config_map("a"))
        made.annotate(**{OPERATION: "wait-for-state"})

        report = made.turn()

        assert (report.requests, report.plan.requeue_after) == (0, None)


class TestRaces:
    def test_an_object_that_exists_already_is_taken_over(self) -> None:
        made = harness(*(config_map(f"a{place}") for place in range(5)))
        for place in range(5):
            made.put(config_map(f"a{place}", {"k": "other"}, labels={"foreign": "x"}))

        report = made.turn()

        assert made.said()["ResourcesApplied"] == "True/ApplySucceeded"
        for place in range(5):
            live = made.live(CONFIG_MAPS, f"a{place}")
            assert live["data"] == {"k": "v"}
            assert live["metadata"]["labels"] == {"foreign": "x", MANAGED_BY: "gardener"}
        assert report.waits <= 7, "what exists is looked at together"
        assert not made.turn().writes

    def test_an_update_that_comes_too_late_is_made_again_on_what_there_is_now(self) -> None:
        made = harness(config_map("a", {"k": "1"}))
        made.turn()
        made.put(secret(objects=[config_map("a", {"k": "2"})]))
        meddling = iter("xy")

        def meddle(action: Action) -> None:
            if isinstance(action, Update) and (value := next(meddling, None)):
                made.patch(CONFIG_MAPS, "a", {"metadata": {"labels": {value: value}}})

        made.before_write = meddle

        made.turn()

        assert made.said()["ResourcesApplied"] == "True/ApplySucceeded"
        assert made.live(CONFIG_MAPS, "a")["data"] == {"k": "2"}
        assert made.live(CONFIG_MAPS, "a")["metadata"]["labels"] == {"x": "x", "y": "y", MANAGED_BY: "gardener"}

    def test_who_always_comes_too_late_says_so_in_the_servers_words(self) -> None:
        made = harness(config_map("a", {"k": "1"}))
        made.turn()
        made.put(secret(objects=[config_map("a", {"k": "2"})]))
        count = iter(range(1000))

        def meddle(action: Action) -> None:
            if isinstance(action, Update):
                made.patch(CONFIG_MAPS, "a", {"data": {"n": str(next(count))}})

        made.before_write = meddle

        report = made.turn()

        assert made.condition().message.startswith('Operation cannot be fulfilled on configmaps "a": ')
        assert report.plan.failures[0].retryable
        assert next(count) < 10

    def test_an_object_that_goes_while_it_is_updated_is_created(self) -> None:
        made = harness(config_map("a", {"k": "1"}))
        made.turn()
        made.put(secret(objects=[config_map("a", {"k": "2"})]))

        def delete(action: Action) -> None:
            if isinstance(action, Update):
                made.delete(CONFIG_MAPS, "a")

        made.before_write = delete

        made.turn()

        assert made.live(CONFIG_MAPS, "a")["data"] == {"k": "2"}
        assert made.condition().status == ConditionStatus.TRUE


def test_a_large_secret_takes_no_more_steps_than_a_small_one() -> None:
    made = harness(*(config_map(f"a{place:04}") for place in range(300)))

    report = made.turn()

    assert report.waits <= 5
    assert len(made.references()) == 300
    assert made.turn().requests == 0


def test_what_is_nested_too_deep_has_no_digest_so_that_it_never_counts_as_unchanged() -> None:
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]

    assert digest(nested) == b""
    assert digest([]) != b""
