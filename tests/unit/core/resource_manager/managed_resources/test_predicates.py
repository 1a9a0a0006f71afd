"""Which changes are worth another look at a ManagedResource."""

from typing import Any, Final

import pytest

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.managed_objects import transform_of
from hedgerow.api.managed_resources import (
    DEFAULT_CLASS,
    FINALIZER,
    IGNORE,
    MANAGED_RESOURCES,
    OPERATION,
    ORIGIN,
    ClassFilter,
)
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import Change, concerned_keys
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.resource_manager.managed_resources.controller import (
    managed_resource_changed,
    managed_resource_controller,
    object_drifted,
)
from hedgerow.resource_manager.managed_resources.reconciliation import ManagedResourceConfig
from tests.snapshots import snapshot_over
from tests.unit.core.resource_manager.managed_resources.harness import CONFIG_MAPS, DEPLOYMENTS

KEY: Final = ObjectKey("default", "example")
DELETED: Final = "2026-01-01T00:00:00Z"


def managed_resource(own_class: str = "", healthy: str | None = None, **metadata: Any) -> Manifest:
    conditions = [{"type": "ResourcesHealthy", "status": healthy}] if healthy else []
    found = {"namespace": "default", "name": "example", "uid": "1", "generation": 1, **metadata}
    spec = {"class": own_class, "secretRefs": [{"name": "a"}, {"name": "b"}]}
    return {"metadata": found, "spec": spec, "status": {"conditions": conditions}}


def annotated(**annotations: str) -> Manifest:
    return managed_resource(annotations=annotations)


PLAIN: Final = managed_resource()
NEW: Final = {**managed_resource("other"), "status": {}}
IGNORED: Final = annotated(**{IGNORE: "true"})
CHANGES: Final = {
    "creation": (None, PLAIN, True),
    "deletion": (PLAIN, None, True),
    "resync": (PLAIN, PLAIN, False),
    "another generation": (PLAIN, managed_resource(generation=2), True),
    "another object of the same name": (PLAIN, managed_resource(uid="2"), True),
    "deletion asked for": (PLAIN, managed_resource(deletionTimestamp=DELETED), True),
    "a label": (PLAIN, managed_resource(labels={"a": "b"}), False),
    "operation reconcile": (PLAIN, annotated(**{OPERATION: "reconcile"}), True),
    "operation restore": (PLAIN, annotated(**{OPERATION: "restore"}), True),
    "operation wait": (PLAIN, annotated(**{OPERATION: "wait-for-state"}), False),
    "healthy": (PLAIN, managed_resource(healthy="True"), False),
    "unhealthy": (managed_resource(healthy="True"), managed_resource(healthy="False"), True),
    "unhealthy from the beginning": (PLAIN, managed_resource(healthy="False"), True),
    "still unhealthy": (managed_resource(healthy="False"), managed_resource(healthy="False", labels={"a": "b"}), False),
    "ignored": (PLAIN, IGNORED, True),
    "not ignored any more": (IGNORED, PLAIN, True),
    "changed while ignored": (IGNORED, {**IGNORED, "metadata": {**IGNORED["metadata"], "generation": 2}}, False),
    "deleted while ignored": (
        IGNORED,
        {**IGNORED, "metadata": {**IGNORED["metadata"], "deletionTimestamp": DELETED}},
        True,
    ),
    "of another class": (None, managed_resource("other"), False),
    "of another class, and new": (None, NEW, True),
    "of another class, and resynced": (NEW, NEW, False),
    "of another class, and changed": (NEW, {**NEW, "metadata": {**NEW["metadata"], "generation": 2}}, False),
    "moved away": (
        managed_resource(finalizers=[FINALIZER]),
        managed_resource("other", finalizers=[FINALIZER], generation=2),
        True,
    ),
    "moved here and still held": (
        managed_resource("other", finalizers=[f"{FINALIZER}-other"]),
        managed_resource(finalizers=[f"{FINALIZER}-other"], generation=2),
        True,
    ),
    "let go by another": (managed_resource(finalizers=[f"{FINALIZER}-other"]), managed_resource(), True),
    "let go by somebody who does not matter": (
        managed_resource(finalizers=["example.com/x"]),
        managed_resource(),
        False,
    ),
}


@pytest.mark.parametrize(("old", "new", "passes"), CHANGES.values(), ids=CHANGES)
def test_a_managed_resource_is_looked_at_when_something_is_to_be_done(
    old: Manifest | None, new: Manifest | None, *, passes: bool
) -> None:
    assert managed_resource_changed(ClassFilter(DEFAULT_CLASS))(Change(old, new)) is passes


def secret(version: str, *finalizers: str) -> Manifest:
    return {
        "metadata": {
            "namespace": "default",
            "name": "a",
            "uid": "s",
            "resourceVersion": version,
            "finalizers": list(finalizers),
        }
    }


def deleted(secret: Manifest) -> Manifest:
    return {"metadata": {**secret["metadata"], "deletionTimestamp": DELETED}}


def woken_by(change: Change, *managed_resources: Manifest) -> frozenset[ObjectKey]:
    controller = managed_resource_controller(ManagedResourceConfig())
    snapshot = snapshot_over(controller, {MANAGED_RESOURCES: managed_resources})
    watch = next(watch for watch in controller.watches if watch.resource == SECRETS)
    return concerned_keys(watch, change, snapshot)


class TestSecrets:
    def test_wake_the_managed_resources_that_name_them(self) -> None:
        other = managed_resource(name="other")
        unrelated = {**managed_resource(name="third"), "spec": {"secretRefs": [{"name": "c"}]}}

        woken = woken_by(Change(secret("1"), secret("2")), PLAIN, other, unrelated)

        assert woken == {KEY, ObjectKey("default", "other")}

    def test_wake_nobody_by_being_held_back_by_us(self) -> None:
        assert not woken_by(Change(secret("1"), secret("2", FINALIZER)), PLAIN)
        assert not woken_by(Change(secret("1", "example.com/x"), secret("2", "example.com/x", FINALIZER)), PLAIN)

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            pytest.param(secret("1", FINALIZER), secret("2"), id="replaced by somebody who knows of no finalizer"),
            pytest.param(secret("1"), secret("2", "example.com/x"), id="held by somebody else"),
            pytest.param(secret("1", "example.com/x"), secret("2", FINALIZER), id="held by us instead"),
            pytest.param(secret("1"), deleted(secret("2", FINALIZER)), id="held and deleted at once"),
            pytest.param(secret("1", FINALIZER), secret("2", FINALIZER), id="of no finalizer at all"),
        ],
    )
    def test_wake_by_any_other_change_as_their_data_are_not_watched(self, before: Manifest, after: Manifest) -> None:
        assert woken_by(Change(before, after), PLAIN) == {KEY}

    def test_wake_nobody_who_is_ignored_or_of_another_class(self) -> None:
        assert not woken_by(Change(secret("1"), secret("2")), IGNORED)
        assert not woken_by(Change(secret("1"), secret("2")), managed_resource("other"))

    def test_wake_by_coming_and_going(self) -> None:
        assert woken_by(Change(None, secret("1")), PLAIN) == woken_by(Change(secret("1"), None), PLAIN) == {KEY}


class TestLiveObjects:
    def live(self, **changes: Any) -> Manifest:
        metadata = {
            "namespace": "web",
            "name": "app",
            "uid": "u",
            "resourceVersion": "1",
            "generation": 1,
            "annotations": {ORIGIN: "default/example"},
            **changes,
        }
        return transform_of(DEPLOYMENTS)({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata})

    def test_wake_when_they_drift_or_go(self) -> None:
        live = self.live()

        assert object_drifted(Change(live, self.live(generation=2, resourceVersion="2")))
        assert object_drifted(Change(live, self.live(labels={"a": "b"}, resourceVersion="2")))
        assert object_drifted(Change(live, None))

    def test_do_not_wake_by_their_status_or_by_being_created(self) -> None:
        assert not object_drifted(Change(self.live(), self.live(resourceVersion="2")))
        assert not object_drifted(Change(None, self.live()))

    def test_do_not_wake_by_being_taken_over(self) -> None:
        other = self.live(generation=2, resourceVersion="2", annotations={ORIGIN: "default/other"})
        unclear = self.live(generation=2, resourceVersion="2", annotations={ORIGIN: "?"})

        assert not object_drifted(Change(self.live(), other))
        assert object_drifted(Change(self.live(), unclear))
        assert object_drifted(Change(self.live(), self.live(resourceVersion="2", annotations={})))

    def test_wake_the_managed_resource_that_they_come_from(self) -> None:
        controller = managed_resource_controller(ManagedResourceConfig(cluster_id="me"))
        (dynamic,) = controller.dynamic_watches
        (watch,) = dynamic.watches(CONFIG_MAPS)
        live = {"metadata": {"name": "a", "uid": "u", "annotations": {ORIGIN: "me:default/example"}}}
        foreign = {"metadata": {"name": "a", "uid": "u", "annotations": {ORIGIN: "default/example"}}}
        snapshot = snapshot_over(controller)

        assert concerned_keys(watch, Change(live, None), snapshot) == {KEY}
        assert concerned_keys(watch, Change(live, {"metadata": {"name": "a", "uid": "2"}}), snapshot) == {KEY}
        assert not concerned_keys(watch, Change(foreign, None), snapshot)


def test_only_kinds_are_followed_that_this_instance_manages() -> None:
    controller = managed_resource_controller(ManagedResourceConfig())
    (dynamic,) = controller.dynamic_watches
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a"}
    own, other = ({**managed_resource(own_class), "status": {"resources": [reference]}} for own_class in ("", "other"))

    assert list(dynamic.kinds.values(own)) == [("v1", "ConfigMap")]
    assert not list(dynamic.kinds.values(other))
    assert (dynamic.kinds.cluster, dynamic.cluster) == (Cluster.SOURCE, Cluster.TARGET)


def test_the_watches_of_the_controller_read_no_more_than_they_need_and_wait_for_no_more() -> None:
    controller = managed_resource_controller(ManagedResourceConfig())

    traits = {
        each.resource.plural: {
            trait
            for trait in ("metadata_only", "may_be_absent", "required_for_sync", "is_desired_state")
            if getattr(each, trait)
        }
        for each in controller.watches
    }
    optional = {"may_be_absent"}
    assert traits == {
        "managedresources": {"may_be_absent", "required_for_sync"},
        "secrets": {"metadata_only", "required_for_sync", "is_desired_state"},
        "horizontalpodautoscalers": optional,
        "hvpas": optional,
        "mutatingwebhookconfigurations": optional,
        "namespaces": {"metadata_only", *optional},
        "limitranges": {"metadata_only", *optional},
        "customresourcedefinitions": {"metadata_only", *optional},
    }
    in_source = {each.resource.plural for each in controller.watches if each.cluster is Cluster.SOURCE}
    assert in_source == {"managedresources", "secrets"}


def test_the_controller_may_do_anything_in_the_target_cluster_and_little_in_the_source_cluster() -> None:
    controller = managed_resource_controller(ManagedResourceConfig())
    definition = ("managedresources.resources.gardener.cloud",)

    assert controller.permissions == (
        *(
            Permission(group, plural, (verb,), cluster=Cluster.SOURCE)
            for group, plural, verb in (
                ("resources.gardener.cloud", "managedresources", "patch"),
                ("resources.gardener.cloud", "managedresources/status", "patch"),
                ("", "secrets", "get"),
            )
        ),
        Permission(
            "apiextensions.k8s.io",
            "customresourcedefinitions",
            ("get",),
            cluster=Cluster.SOURCE,
            names=definition,
            namespaced=False,
        ),
        Permission("apiextensions.k8s.io", "customresourcedefinitions", ("get",), namespaced=False),
        Permission("", "persistentvolumeclaims", ("list", "delete")),
        Permission("*", "*", ("*",)),
    )


def test_drift_is_reverted_in_every_sync_period() -> None:
    config = ManagedResourceConfig(sync_period=90)

    controller = managed_resource_controller(config, 7)

    assert (controller.longest_wait, controller.concurrency, controller.config) == (90, 7, config)
    assert controller.reads_server_version
    assert controller.owned is None
