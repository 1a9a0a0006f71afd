"""How objects go that nothing asks for any more; MR-… are the examples of managed-resources §7.14."""

from typing import Any, Final

import pytest

from hedgerow.api.managed_resources import (
    FINALIZE_DELETION_AFTER,
    GARBAGE_COLLECTABLE,
    KEEP_OBJECT,
    MANAGED_RESOURCES,
    ORIGIN,
)
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow.machinery.plan import Action, Delete, MergePatch, Update
from hedgerow.machinery.questions import Found, ListQuestion, NotAnswered, ObjectQuestion
from hedgerow.resource_manager.managed_resources.deletion import MOST_TOLD
from hedgerow.resource_manager.managed_resources.reconciliation import ManagedResourceConfig
from hedgerow_adapters.memory import InMemoryCluster
from tests.unit.core.resource_manager.managed_resources.harness import (
    CLAIMS,
    CONFIG_MAPS,
    DEPLOYMENTS,
    INGRESSES,
    JOBS,
    KEY,
    NAMESPACES,
    NODES,
    STATEFUL_SETS,
    Harness,
    Report,
    config_map,
    managed_resource,
    secret,
)

HELD: Final[dict[str, Any]] = {"finalizers": ["example.com/held"]}


def applied(*objects: Manifest, config: ManagedResourceConfig | None = None, **spec: Any) -> Harness:
    """A ManagedResource whose objects are all there."""
    made = Harness(config)
    made.put(secret(objects=objects), managed_resource("secret", **spec))
    made.turn()
    assert made.said()["ResourcesApplied"] == "True/ApplySucceeded", made.condition().message
    return made


def drop_everything(made: Harness) -> Report:
    """The Secret is empty from now on."""
    made.put(secret())
    return made.turn()


def text(what: str) -> str:
    return f'deletion of old resource "{what}" is still pending'


def test_mr_10_what_is_new_waits_until_what_is_old_is_gone() -> None:
    made = applied(config_map("a", **HELD))
    made.put(secret(objects=[config_map("a-new")]))

    report = made.turn()

    assert made.said() == {
        "ResourcesHealthy": "Unknown/ChecksPending",
        "ResourcesProgressing": "Unknown/ChecksPending",
        "ResourcesApplied": "Progressing/DeletionPending",
    }
    assert (
        made.condition().message
        == f"Could not clean all old resources: 1 error occurred: {text('v1/ConfigMap/default/a')}"
    )
    assert (report.plan.requeue_after, report.plan.failures) == (5, ())
    assert made.get(CONFIG_MAPS, "a-new") is None
    assert not made.turn().writes, "nothing is written as long as nothing changes"
    made.patch(CONFIG_MAPS, "a", {"metadata": {"finalizers": None}})
    made.turn()
    assert made.get(CONFIG_MAPS, "a-new") is not None
    assert made.said()["ResourcesApplied"] == "True/ApplySucceeded"


def test_a_condition_names_the_first_of_very_many_objects_that_are_still_there() -> None:
    names = [f"held-{number:02}" for number in range(MOST_TOLD + 3)]
    made = applied(*(config_map(name, **HELD) for name in names))

    drop_everything(made)

    named = ", ".join(text(f"v1/ConfigMap/default/{name}") for name in names[:MOST_TOLD])
    assert made.condition().message == f"Could not clean all old resources: 53 errors occurred: [{named}, and 3 more]"


def test_a_condition_names_all_of_just_as_many_as_it_names_at_most() -> None:
    names = [f"held-{number:02}" for number in range(MOST_TOLD)]
    made = applied(*(config_map(name, **HELD) for name in names))

    drop_everything(made)

    named = ", ".join(text(f"v1/ConfigMap/default/{name}") for name in names)
    assert made.condition().message == f"Could not clean all old resources: 50 errors occurred: [{named}]"


def test_the_health_of_what_is_there_is_not_doubted_again_in_every_turn() -> None:
    made = applied(config_map("a", **HELD))
    drop_everything(made)
    made.say("ResourcesHealthy", "True", "ResourcesHealthy")

    assert not made.turn().writes


def test_mr_11_without_secrets_everything_goes() -> None:
    made = applied(config_map("a"), config_map("b"))
    made.put(managed_resource())

    first, second = made.turn(), made.turn()

    assert first.plan.requeue_after == 5, "a second look confirms that they are gone"
    assert (made.get(CONFIG_MAPS, "a"), made.get(CONFIG_MAPS, "b")) == (None, None)
    assert second.plan.requeue_after == 60
    status = made.managed_resource()["status"]
    assert status["resources"] == []
    assert status["secretsDataChecksum"] == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


class TestWhatStays:
    @pytest.mark.parametrize("is_deleted", [False, True])
    def test_mr_26_what_is_to_be_kept(self, *, is_deleted: bool) -> None:
        made = applied(config_map("a"))
        made.patch(CONFIG_MAPS, "a", {"metadata": {"annotations": {KEEP_OBJECT: "1"}}})
        if is_deleted:
            made.delete(MANAGED_RESOURCES, KEY.name)
        else:
            made.put(secret())

        made.turn()

        assert made.get(CONFIG_MAPS, "a") is not None
        if is_deleted:
            assert made.source.get(MANAGED_RESOURCES, KEY) is None
        else:
            assert made.said()["ResourcesApplied"] == "True/ApplySucceeded"

    @pytest.mark.parametrize(
        ("collects", "stays"), [pytest.param(True, True, id="MR-27"), pytest.param(False, False, id="MR-28")]
    )
    def test_what_the_garbage_collector_looks_after(self, *, collects: bool, stays: bool) -> None:
        labels = {GARBAGE_COLLECTABLE: "true"}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": labels}}
        made = applied(config_map("a", labels=labels), node, config=ManagedResourceConfig(garbage_collection=collects))

        drop_everything(made)

        assert (made.get(CONFIG_MAPS, "a") is not None) is stays
        assert made.get(NODES, "n") is None

    @pytest.mark.parametrize("is_deleted", [False, True])
    @pytest.mark.parametrize(
        ("own_id", "origin", "stays", "is_told"),
        [
            pytest.param("", None, False, False, id="without origin"),
            pytest.param("", "id:of:nothing", False, False, id="of an origin that cannot be read"),
            pytest.param("", "default/example", False, False, id="ours"),
            pytest.param("", "default/other", True, False, id="taken over"),
            pytest.param("", "seed:default/example", False, False, id="ours from before the id was taken away"),
            pytest.param("", "seed:default/other", True, True, id="of another cluster, and we have no id"),
            pytest.param("me", "me:default/example", False, False, id="ours by id"),
            pytest.param("me", "me:default/other", True, False, id="taken over within our id"),
            pytest.param("me", "default/example", False, False, id="ours from before there was an id"),
            pytest.param("me", "default/other", True, True, id="of a cluster without id"),
            pytest.param("me", "seed:default/example", True, True, id="our namesake in another cluster"),
            pytest.param("me", "seed:default/other", True, True, id="of another cluster"),
        ],
    )
    def test_what_belongs_to_another_managed_resource(
        self, own_id: str, origin: str | None, *, stays: bool, is_told: bool, is_deleted: bool
    ) -> None:
        made = applied(config_map("a"), config=ManagedResourceConfig(cluster_id=own_id))
        made.patch(CONFIG_MAPS, "a", {"metadata": {"annotations": {ORIGIN: origin}}})
        if is_deleted:
            made.delete(MANAGED_RESOURCES, KEY.name)
        else:
            made.put(secret())

        events = (*made.turn().events, *made.turn().events)

        assert (made.get(CONFIG_MAPS, "a") is not None) is stays
        told = [event for event in events if event.startswith("Warning ForeignResourcesLeft: ")]
        object_and_origin = f'"v1/ConfigMap/default/a" of origin "{origin}"'
        assert [event.endswith(f"other clusters: {object_and_origin}") for event in told] == [True] * is_told

    def test_a_new_object_in_the_place_of_the_one_that_was_seen(self) -> None:
        made = applied(config_map("a"))

        def replace(action: Action) -> None:
            if isinstance(action, Delete):
                made.delete(CONFIG_MAPS, "a")
                made.put(config_map("a", {"k": "somebody else's"}))

        made.before_write = replace

        drop_everything(made)

        assert made.live(CONFIG_MAPS, "a")["data"] == {"k": "somebody else's"}
        assert made.condition().message.startswith(
            f"Could not clean all old resources: 1 error occurred: {text('v1/ConfigMap/default/a')}: "
        )


class TestOverdueDeletion:
    def deleted(self, patience: str, resource: Resource = CONFIG_MAPS) -> tuple[Harness, Report]:
        metadata: dict[str, Any] = {**HELD, "annotations": {FINALIZE_DELETION_AFTER: patience}}
        manifest = config_map("a", **metadata)
        if resource == NAMESPACES:
            manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a", **metadata}}
        made = applied(manifest)
        made.delete(MANAGED_RESOURCES, KEY.name)
        return made, made.turn()

    def test_mr_32_finalizers_count_until_then_and_no_longer(self) -> None:
        made, _ = self.deleted("1h")

        made.clock.advance(3599)
        assert not made.turn().writes
        assert made.get(CONFIG_MAPS, "a") is not None
        made.clock.advance(1)
        report = made.turn()
        assert report.plan.requeue_after == 5
        assert made.get(CONFIG_MAPS, "a") is None
        made.turn()
        assert made.source.get(MANAGED_RESOURCES, KEY) is None

    def test_a_namespace_is_finalized(self) -> None:
        made, _ = self.deleted("1h", NAMESPACES)
        assert made.get(NAMESPACES, "a") is not None

        made.clock.advance(3600)
        report = made.turn()

        (sent,) = (each.action for each in report.outcomes if isinstance(each.action, Update))
        assert (sent.resource, sent.subresource, sent.reason) == (NAMESPACES, "finalize", "deletion-overdue")
        assert sent.manifest["spec"]["finalizers"] == sent.manifest["metadata"]["finalizers"] == []

    def test_mr_33_what_is_no_duration_is_told_and_the_object_deleted_all_the_same(self) -> None:
        made, _ = self.deleted("1d")

        assert made.condition().message == (
            f"Could not clean all old resources: 1 error occurred: {text('v1/ConfigMap/default/a')}: "
            "failed parsing duration of resources.gardener.cloud/finalize-deletion-after annotation: "
            'must be a duration such as "1h30m0s", "15s" or "100ms"'
        )
        assert made.live(CONFIG_MAPS, "a")["metadata"]["deletionTimestamp"]
        made.clock.advance(300_000)
        assert not made.turn().writes

    def test_a_namespace_is_finalized_that_has_its_finalizer_in_the_spec_alone(self) -> None:
        made = applied({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}})
        going = {"annotations": {FINALIZE_DELETION_AFTER: "1h"}, "deletionTimestamp": "2020-01-01T00:00:00Z"}
        live = made.live(NAMESPACES, "a")
        shown = {**live, "metadata": {**live["metadata"], **going}, "spec": {"finalizers": ["kubernetes"]}}
        made.answer = lambda question: Found((shown,)) if question.resource == NAMESPACES else None
        made.delete(MANAGED_RESOURCES, KEY.name)

        report = made.turn()

        (sent,) = (each.action for each in report.outcomes if each.action.resource == NAMESPACES)
        assert isinstance(sent, Update)
        assert (sent.subresource, sent.manifest["spec"]) == ("finalize", {"finalizers": []})

    def test_finalizers_are_removed_of_the_version_that_was_read(self) -> None:
        made, _ = self.deleted("1h")
        made.clock.advance(3600)
        version = made.live(CONFIG_MAPS, "a")["metadata"]["resourceVersion"]

        report = made.turn()

        (sent,) = (each.action for each in report.outcomes if each.action.resource == CONFIG_MAPS)
        patch = {"metadata": {"finalizers": None}}
        assert sent == MergePatch(CONFIG_MAPS, sent.key, patch, "deletion-overdue", version)

    def test_what_is_overdue_without_a_finalizer_is_left_to_the_server(self) -> None:
        made = applied(config_map("a"))
        going = {"annotations": {FINALIZE_DELETION_AFTER: "1h"}, "deletionTimestamp": "2020-01-01T00:00:00Z"}
        live = made.live(CONFIG_MAPS, "a")
        shown = Found(({**live, "metadata": {**live["metadata"], **going}},))
        made.answer = lambda question: shown if question.resource == CONFIG_MAPS else None
        made.delete(MANAGED_RESOURCES, KEY.name)

        report = made.turn()

        assert [each.action for each in report.outcomes if each.action.resource == CONFIG_MAPS] == []
        assert made.condition().message.endswith(text("v1/ConfigMap/default/a"))


STATEFUL_SET: Final[Manifest] = {
    "apiVersion": "apps/v1",
    "kind": "StatefulSet",
    "metadata": {"name": "s", "namespace": "default"},
    "spec": {
        "selector": {"matchLabels": {"app": "s", "tier": "x"}},
        "template": {
            "metadata": {"labels": {"app": "s", "tier": "x"}},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        },
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}],
    },
}


def claim(name: str = "data-s-0") -> Manifest:
    labels = {"app": "s", "tier": "x"}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default", "labels": labels},
    }


class TestClaims:
    def test_mr_34_go_with_their_stateful_set(self) -> None:
        made = applied(STATEFUL_SET, deletePersistentVolumeClaims=True)
        made.put(claim("data-s-0"), claim("data-s-17"))
        uids = [made.live(CLAIMS, name)["metadata"]["uid"] for name in ("data-s-0", "data-s-17")]

        report = drop_everything(made)

        *claims, stateful_set = (each.action for each in report.outcomes if isinstance(each.action, Delete))
        assert [(each.key.name, each.uid) for each in claims] == [("data-s-0", uids[0]), ("data-s-17", uids[1])]
        assert stateful_set.propagation == "Foreground"
        assert (made.get(CLAIMS, "data-s-0"), made.get(CLAIMS, "data-s-17")) == (None, None)

    @pytest.mark.parametrize(
        "name", ["backup", "data-s", "data-s-01", "data-s-0-copy", "logs-s-0", "data-s-t-0", "my-data-s-0"]
    )
    def test_of_others_stay_even_if_their_labels_match(self, name: str) -> None:
        made = applied(STATEFUL_SET, deletePersistentVolumeClaims=True)
        made.put(claim(name))

        drop_everything(made)

        assert (made.get(CLAIMS, name) is not None, made.get(STATEFUL_SETS, "s")) == (True, None)

    def test_of_others_stay_even_if_their_name_matches(self) -> None:
        made = applied(STATEFUL_SET, deletePersistentVolumeClaims=True)
        made.put({**claim("data-s-0"), "metadata": {"name": "data-s-0", "namespace": "default"}})

        drop_everything(made)

        assert made.get(CLAIMS, "data-s-0") is not None

    def test_a_new_claim_in_the_place_of_the_one_that_was_seen_stays(self) -> None:
        made = applied(STATEFUL_SET, deletePersistentVolumeClaims=True)
        made.put(claim())

        def replace(action: Action) -> None:
            if isinstance(action, Delete) and action.resource == CLAIMS:
                made.delete(CLAIMS, "data-s-0")
                made.put(claim())

        made.before_write = replace
        drop_everything(made)

        assert made.get(CLAIMS, "data-s-0") is not None
        assert "failed cleaning up PersistentVolumeClaims of StatefulSet: " in made.condition().message

    @pytest.mark.parametrize("case", ["flag", "templates", "claims"])
    def test_mr_35_are_let_be_where_there_is_nothing_to_do_about_them(self, case: str) -> None:
        without = {key: value for key, value in STATEFUL_SET["spec"].items() if key != "volumeClaimTemplates"}
        made = applied(
            {**STATEFUL_SET, "spec": without} if case == "templates" else STATEFUL_SET,
            deletePersistentVolumeClaims=case != "flag",
        )
        if case != "claims":
            made.put(claim())

        report = drop_everything(made)

        assert [write for write in report.writes if write.startswith("Delete")] == ["Delete StatefulSet default/s"]

    def test_mr_36_the_stateful_set_stays_as_long_as_they_cannot_be_listed(self) -> None:
        made = applied(STATEFUL_SET, deletePersistentVolumeClaims=True)
        made.answer = lambda question: (
            NotAnswered(403, "Forbidden", "you may not") if isinstance(question, ListQuestion) else None
        )

        drop_everything(made)

        assert made.get(STATEFUL_SETS, "s") is not None
        assert made.condition().message.endswith(
            f"{text('apps/v1/StatefulSet/default/s')}: failed cleaning up PersistentVolumeClaims of StatefulSet: "
            "could not list PVCs of StatefulSet: you may not"
        )

    def test_what_is_being_deleted_is_not_deleted_again(self) -> None:
        made = applied(
            {**STATEFUL_SET, "metadata": {**STATEFUL_SET["metadata"], **HELD}}, deletePersistentVolumeClaims=True
        )
        held = claim()
        made.put({**held, "metadata": {**held["metadata"], **HELD}})
        drop_everything(made)

        assert not made.turn().writes


class TestServices:
    SERVICE: Final[Manifest] = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s", "namespace": "default", **HELD},
        "spec": {"ports": [{"port": 80}]},
    }

    def warn(self, made: Harness, name: str, message: str) -> None:
        now = made.clock().strftime("%Y-%m-%dT%H:%M:%SZ")
        made.put(
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": name, "namespace": "default"},
                "involvedObject": {"apiVersion": "v1", "kind": "Service", "namespace": "default", "name": "s"},
                "type": "Warning",
                "reason": "Failed",
                "message": message,
                "source": {"component": "service-controller"},
                "firstTimestamp": now,
                "lastTimestamp": now,
                "count": 1,
            }
        )

    def test_mr_37_warnings_about_them_are_told(self) -> None:
        made = applied(self.SERVICE)
        self.warn(made, "e1", "no quota")
        made.clock.advance(30)

        drop_everything(made)

        assert made.condition().message == (
            f"Could not clean all old resources: 1 error occurred: {text('v1/Service/default/s')}\n\n"
            "-> Events:\n* service-controller reported 30s ago: no quota"
        )

    def test_that_warnings_grow_older_is_no_news(self) -> None:
        made = applied(self.SERVICE)
        self.warn(made, "e1", "no quota")
        drop_everything(made)
        made.clock.advance(30.007)

        assert not made.turn().writes
        self.warn(made, "e2", "still none")
        assert made.turn().status_writes == 1
        assert "30s ago: no quota" in made.condition().message


@pytest.mark.parametrize(
    ("resource", "manifest", "propagation"),
    [
        (DEPLOYMENTS, {**STATEFUL_SET, "kind": "Deployment"}, "Foreground"),
        (
            JOBS,
            {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "s", "namespace": "default"}},
            "Foreground",
        ),
        (CONFIG_MAPS, config_map("s"), None),
        (
            INGRESSES,
            {
                "apiVersion": "networking.k8s.io/v1",
                "kind": "Ingress",
                "metadata": {"name": "s", "namespace": "default"},
                "spec": {"defaultBackend": {"service": {"name": "x", "port": {"number": 1}}}},
            },
            None,
        ),
    ],
    ids=["Deployment", "Job", "ConfigMap", "Ingress"],
)
def test_mr_38_what_owns_others_goes_after_them(
    resource: Resource, manifest: Manifest, propagation: str | None
) -> None:
    spec = {key: value for key, value in manifest.get("spec", {}).items() if key != "volumeClaimTemplates"}
    made = applied({**manifest, **({"spec": spec} if spec else {})})

    report = drop_everything(made)

    deletion = next(each.action for each in report.outcomes if isinstance(each.action, Delete))
    assert (deletion.resource, deletion.propagation) == (resource, propagation)


def test_mr_50_what_is_pending_is_told_in_order() -> None:
    made = applied(config_map("b", **HELD), config_map("a", **HELD))

    report = drop_everything(made)

    assert made.condition().message == (
        "Could not clean all old resources: 2 errors occurred: "
        f"[{text('v1/ConfigMap/default/a')}, {text('v1/ConfigMap/default/b')}]"
    )
    assert report.status_writes == 2


def test_what_cannot_be_looked_at_is_pending_and_not_forgotten() -> None:
    made = applied(config_map("a"))
    made.answer = lambda question: (
        NotAnswered(500, "InternalError", "etcd is away")
        if isinstance(question, ObjectQuestion) and question.resource == CONFIG_MAPS
        else None
    )

    drop_everything(made)

    assert made.condition().message.endswith(f"{text('v1/ConfigMap/default/a')}: etcd is away")
    assert made.references() == ["ConfigMap/a"]


def test_what_has_another_shape_than_any_server_stores_is_pending_and_not_deleted() -> None:
    made = applied(config_map("a"))
    live = made.live(CONFIG_MAPS, "a")
    going = {"annotations": {FINALIZE_DELETION_AFTER: "1h"}, "deletionTimestamp": "2020-01-01T00:00:00Z"}
    shown = Found(({**live, "metadata": {**live["metadata"], **going, "finalizers": "x"}},))
    made.answer = lambda question: shown if question.resource == CONFIG_MAPS else None

    drop_everything(made)

    assert f"{text('v1/ConfigMap/default/a')}: metadata.finalizers" in made.condition().message
    assert made.get(CONFIG_MAPS, "a") is not None


def test_objects_of_a_kind_that_is_not_served_any_more_are_gone() -> None:
    made = applied(config_map("a"))
    made.target = InMemoryCluster(resources=(), namespaces=())
    made.put(secret())

    first = made.turn()
    assert first.plan.requeue_after is not None
    made.clock.advance(first.plan.requeue_after)
    made.turn()

    assert made.said()["ResourcesApplied"] == "True/ApplySucceeded"
    assert made.references() == []


def test_objects_of_a_kind_that_a_server_has_not_learnt_of_yet_are_not_given_up() -> None:
    made = applied(config_map("a"))
    whole, made.target = made.target, InMemoryCluster(resources=(), namespaces=())
    made.restart()
    made.delete(MANAGED_RESOURCES, KEY.name)
    for _ in range(3):
        made.turn()
        made.clock.advance(1)
    made.target = whole

    made.turn()
    made.turn()

    assert made.get(CONFIG_MAPS, "a") is None
    assert made.source.get(MANAGED_RESOURCES, KEY) is None


def test_nothing_is_released_while_a_404_proves_nothing() -> None:
    made = applied(config_map("a"))
    made.restart()
    made.delete(MANAGED_RESOURCES, KEY.name)
    bare = NotAnswered(404, "", "404 page not found")
    made.answer = lambda question: bare if question.resource == CONFIG_MAPS else None
    for _ in range(3):
        made.turn()
        made.clock.advance(10)

    assert "404 page not found" in made.condition().message
    made.answer = lambda _question: None
    assert made.get(CONFIG_MAPS, "a") is not None
    made.turn()
    made.turn()
    assert made.get(CONFIG_MAPS, "a") is None
    assert made.source.get(MANAGED_RESOURCES, KEY) is None


def test_old_objects_go_at_once_and_not_one_after_the_other() -> None:
    made = applied(*(config_map(f"a{place}") for place in range(50)))

    report = drop_everything(made)

    assert report.waits <= 5
    assert sum(write.startswith("Delete") for write in report.writes) == 50
