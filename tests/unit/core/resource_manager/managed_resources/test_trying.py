"""A settled object is tried again by a dry run when what changes writes has changed, and once an hour."""

import itertools
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.admission.catalog import webhooks
from hedgerow.admission.config import AdmissionConfig, HighAvailabilityConfig
from hedgerow.admission.registration import Mode, build_webhook_configurations
from hedgerow.api.kubernetes import NAMESPACES
from hedgerow.api.references import identity
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.plan import ApiError, Update, WriteResult, is_dry_run
from hedgerow.resource_manager.managed_resources.reconciliation import ObjectState
from hedgerow.resource_manager.managed_resources.unchanged import Verdict, is_to_be_tried, verdict
from hedgerow.resource_manager.managed_resources.write_context import WriteContext
from hedgerow_adapters.protocol import requests
from tests.local_webhooks import LocalWebhooks
from tests.unit.core.resource_manager.managed_resources.harness import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    KEY,
    Harness,
    Report,
    config_map,
    managed_resource,
    secret,
)

HA: Final = "high-availability-config.resources.gardener.cloud"
CONFIG: Final = AdmissionConfig(high_availability_config=HighAvailabilityConfig())
PERIOD: Final = timedelta(seconds=60)
HOUR: Final = timedelta(hours=1)
START: Final = datetime(2026, 1, 1, tzinfo=UTC)
NOT_NOW: Final = ObjectKey("default", "")
"""A ManagedResource that makes its hourly dry run at 25 minutes past the hour."""
AFTER_ITS_MINUTE: Final = timedelta(minutes=2)
"""When the minute has passed in which the ManagedResource of these tests makes its hourly dry run."""
CONTEXT: Final = WriteContext("w", "n", "l", "d", "s")


def deployment() -> Manifest:
    labels = {"app": "cart", f"{HA}/type": "server"}
    pod = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "c:1"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "cart", "namespace": "default", "labels": labels},
        "spec": {"selector": {"matchLabels": {"app": "cart"}}, "template": pod},
    }


def harness(*objects: Manifest) -> Harness:
    made = Harness()
    made.clock.advance(AFTER_ITS_MINUTE.total_seconds())
    made.put(secret(objects=objects), managed_resource("secret"))
    return made


def serve_webhook(made: Harness) -> None:
    """Serve the project's own webhook for high availability."""
    made.target.answer_webhooks(LocalWebhooks(made.target, webhooks(CONFIG)))


def register_webhook(made: Harness, **fields: Any) -> None:
    """Register it for every namespace, or with other fields."""
    (manifest,) = build_webhook_configurations(Mode.RUNTIME, "", "garden", b"", CONFIG)
    entries = [{**each, "namespaceSelector": {}, "failurePolicy": "Ignore", **fields} for each in manifest["webhooks"]]
    made.put({**manifest, "webhooks": entries})


def consider(made: Harness, **annotations: str) -> None:
    """Have the webhook consider the namespace."""
    metadata = {"labels": {f"{HA}/consider": "true"}, "annotations": annotations}
    made.patch(NAMESPACES, "default", {"metadata": metadata})


def look(made: Harness, after: timedelta = PERIOD) -> Report:
    """The turn at the next look."""
    made.clock.advance(after.total_seconds())
    return made.turn()


def settled(*objects: Manifest) -> Harness:
    made = harness(*objects)
    made.turn()
    assert not look(made, timedelta(0)).requests
    return made


class TestWhatChangesWrites:
    def test_a_webhook_that_is_registered_later_reaches_what_is_settled_at_the_next_look(self) -> None:
        made = settled(deployment(), config_map("a"))
        consider(made)
        serve_webhook(made)
        register_webhook(made)

        report = look(made)

        assert report.dry_runs == ["ConfigMap default/a", "Deployment default/cart"]
        assert report.writes == ["Update Deployment default/cart"]
        assert made.live(DEPLOYMENTS, "cart")["spec"]["replicas"] == 2
        assert not any(look(made).writes for _ in range(200))

    def test_zones_that_a_namespace_is_annotated_with_later_reach_a_deployment(self) -> None:
        made = harness(deployment())
        serve_webhook(made)
        register_webhook(made)
        made.turn()
        assert not look(made, timedelta(0)).requests

        consider(made, **{f"{HA}/zones": "a,b", f"{HA}/zone-pinning": "true"})

        assert look(made).writes == ["Update Deployment default/cart"]
        (required,) = [
            term["matchExpressions"]
            for term in made.live(DEPLOYMENTS, "cart")["spec"]["template"]["spec"]["affinity"]["nodeAffinity"][
                "requiredDuringSchedulingIgnoredDuringExecution"
            ]["nodeSelectorTerms"]
        ]
        assert required == [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a", "b"]}]

    def test_a_webhook_that_answers_only_some_time_after_its_registration_is_reached(self) -> None:
        made = settled(deployment())
        consider(made)
        register_webhook(made)
        for _ in range(3):
            assert not look(made).writes

        serve_webhook(made)
        looks = [look(made).writes for _ in range(4)]

        assert [writes for writes in looks if writes] == [["Update Deployment default/cart"]]

    def test_after_a_change_the_dry_runs_become_rarer(self) -> None:
        made = settled(config_map("a"))
        consider(made)

        at = [minute for minute in range(40) if look(made).dry_runs]

        assert at[:6] == [0, 1, 2, 4, 8, 16]
        assert len(at) <= 8

    def test_a_webhook_of_other_kinds_costs_no_request(self) -> None:
        made = settled(deployment())
        rules = [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["pods"]}]
        register_webhook(made, rules=rules)

        assert not look(made).requests

    def test_a_limit_range_concerns_claims_and_pods_and_nothing_else(self) -> None:
        claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "default"}}
        made = settled(claim, config_map("a"))
        made.put({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l", "namespace": "default"}})

        assert look(made).dry_runs == ["PersistentVolumeClaim default/c"]

    def test_a_definition_that_changes_concerns_its_custom_resources(self) -> None:
        schema: dict[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        names = {"kind": "Foo", "plural": "foos", "singular": "foo", "listKind": "FooList"}

        def definition(**properties: Any) -> Manifest:
            version = {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {**schema, "properties": properties}},
            }
            return {
                "apiVersion": "apiextensions.k8s.io/v1",
                "kind": "CustomResourceDefinition",
                "metadata": {"name": "foos.ex.io"},
                "spec": {"group": "ex.io", "scope": "Namespaced", "names": names, "versions": [version]},
            }

        made = harness(
            {"apiVersion": "ex.io/v1", "kind": "Foo", "metadata": {"name": "f", "namespace": "default"}},
            config_map("a"),
        )
        made.put(definition())
        made.turn()
        assert not look(made, timedelta(0)).requests

        made.put(definition(size={"type": "integer", "default": 3}))

        assert look(made).dry_runs == ["Foo default/f"]

    def test_another_version_of_the_api_server_concerns_everything(self) -> None:
        made = settled(config_map("a"), deployment())
        made.target.version = "v1.99.0"

        report = look(made)

        assert report.dry_runs == ["ConfigMap default/a", "Deployment default/cart"]
        assert not report.writes


class TestTime:
    def test_every_object_is_tried_once_an_hour_and_nothing_is_written(self) -> None:
        made = settled(config_map("a"), deployment())

        looks = [look(made) for _ in range(300)]

        assert [minute for minute, report in enumerate(looks) if report.writes] == []
        tried = [minute for minute, report in enumerate(looks) if report.dry_runs]
        assert len(tried) == 5
        assert {late - early for early, late in itertools.pairwise(tried)} == {60}

    def test_not_all_managed_resources_are_tried_at_one_time(self) -> None:
        made = Harness()
        keys = [ObjectKey(KEY.namespace, f"mr{number}") for number in range(40)]
        for _, name in keys:
            made.put(secret(name, objects=[config_map(name)]), managed_resource(name, name=name))
        for key in keys:
            made.turn(key)

        tried = []
        for _ in range(12):
            made.clock.advance(HOUR.total_seconds() / 12)
            tried.append([key for key in keys if made.turn(key).dry_runs])

        assert sorted(key for some in tried for key in some) == sorted(keys)
        assert max(map(len, tried)) < len(keys) / 3

    def test_what_a_process_finds_is_tried_at_its_second_look(self) -> None:
        made = settled(config_map("a"))
        made.restart()

        assert not made.turn().dry_runs
        assert look(made).dry_runs == ["ConfigMap default/a"]
        assert not look(made).requests

    def test_a_webhook_that_was_registered_while_no_process_ran_is_reached(self) -> None:
        made = settled(deployment())
        consider(made)
        serve_webhook(made)
        register_webhook(made)
        made.restart()

        made.turn()

        assert look(made).writes == ["Update Deployment default/cart"]

    def test_who_looks_only_once_tries_at_once(self) -> None:
        made = settled(deployment())
        consider(made)
        serve_webhook(made)
        register_webhook(made)
        made.restart()

        assert made.turn(looks_once=True).writes == ["Update Deployment default/cart"]
        made.restart()
        assert not made.turn(looks_once=True).writes, "what the webhook made of it is no difference"

    def test_what_is_ignored_is_never_tried(self) -> None:
        made = settled(config_map("a", annotations={"resources.gardener.cloud/ignore": "true"}))
        made.restart()

        assert not any(look(made).dry_runs for _ in range(130))


def refuse(made: Harness, code: int, reason: str) -> None:
    """Have every dry run refused."""

    def answer(outcome: WriteResult) -> WriteResult:
        if not is_dry_run(outcome.action):
            return outcome
        return WriteResult(outcome.action, error=ApiError(code, reason, "does not support dry run"))

    made.after_write = answer


class TestRefusals:
    def test_where_nothing_can_be_tried_a_change_is_written_once(self) -> None:
        made = settled(config_map("a"))
        refuse(made, 400, "BadRequest")
        consider(made)

        assert look(made).writes == ["Update ConfigMap default/a"]
        assert not any(look(made).writes for _ in range(200)), "no hour makes a write"

    def test_where_nothing_can_be_tried_who_looks_only_once_writes_nothing(self) -> None:
        made = settled(config_map("a"))
        refuse(made, 400, "BadRequest")
        made.restart()

        report = made.turn(looks_once=True)

        assert (report.dry_runs, report.writes) == (["ConfigMap default/a"], [])

    @pytest.mark.parametrize(("code", "reason"), [(403, "Forbidden"), (422, "Invalid")])
    def test_a_write_that_would_be_refused_is_not_made(self, code: int, reason: str) -> None:
        made = settled(config_map("a"))
        refuse(made, code, reason)
        consider(made)

        looks = [look(made) for _ in range(30)]

        assert not any(report.writes for report in looks)
        assert sum(len(report.dry_runs) for report in looks) < 8
        assert made.said()["ResourcesApplied"] == "True/ApplySucceeded"

    @pytest.mark.parametrize(("code", "reason"), [(0, ""), (409, "Conflict"), (429, "TooManyRequests"), (500, "x")])
    def test_what_nobody_answers_is_tried_again_at_the_next_look(self, code: int, reason: str) -> None:
        made = settled(deployment())
        refuse(made, code, reason)
        consider(made)
        serve_webhook(made)
        register_webhook(made)
        for _ in range(5):
            report = look(made)
            assert (report.dry_runs, report.writes) == (["Deployment default/cart"], [])

        made.after_write = lambda outcome: outcome

        assert look(made).writes == ["Update Deployment default/cart"]


def remembered(tried: datetime | None, changed: datetime | None = None) -> ObjectState:
    resource = Resource("", "v1", "configmaps", "ConfigMap")
    key = ObjectKey("default", "a")
    return ObjectState(identity("", "ConfigMap", *key), resource, key, b"", "u@1", START, tried, CONTEXT, changed)


@given(st.integers(0, 10**9), st.text(max_size=5))
def test_within_every_hour_there_is_one_minute_in_which_an_object_is_tried(seconds: int, name: str) -> None:
    tried = datetime(2000, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    known, key = remembered(tried), ObjectKey("default", name)

    due = [is_to_be_tried(known, CONTEXT, tried + PERIOD * minute, key) for minute in range(61)]

    assert not due[0]
    assert due == sorted(due)
    assert due[-1]


@given(st.sampled_from(WriteContext._fields))
def test_every_known_part_of_the_context_counts_and_what_is_not_known_does_not(field: str) -> None:
    other, unknown = CONTEXT._replace(**{field: "other"}), CONTEXT._replace(**{field: None})

    assert other.differs(CONTEXT)
    assert not unknown.differs(CONTEXT)
    assert not CONTEXT.differs(unknown)
    assert unknown.completed_by(other) == other
    assert CONTEXT.completed_by(other) == CONTEXT


def test_what_a_process_finds_at_its_start_is_tried_half_a_minute_later() -> None:
    known = remembered(None)

    due = [is_to_be_tried(known, CONTEXT, START + timedelta(seconds=after), KEY) for after in (0, 29.9, 30, 31)]

    assert due == [False, False, True, True]


def test_after_a_change_an_object_is_tried_again_each_time_after_twice_as_long() -> None:
    changed = datetime(2000, 1, 1, 12, tzinfo=UTC)

    for seconds in (1, 60, 600):
        waited = timedelta(seconds=seconds)
        tried = changed + waited
        known = remembered(tried, changed)
        assert not is_to_be_tried(known, CONTEXT, tried + waited * 0.99, NOT_NOW)
        assert is_to_be_tried(known, CONTEXT, tried + waited, NOT_NOW)


def test_a_change_of_the_context_is_tried_at_once() -> None:
    known = remembered(START)

    assert is_to_be_tried(known, CONTEXT._replace(webhooks="other"), START, KEY)
    assert not is_to_be_tried(known, CONTEXT, START, KEY)


LIVE: Final[Manifest] = {
    "metadata": {"name": "a", "resourceVersion": "1", "generation": 1},
    "data": {"k": "v"},
    "status": {"x": 1},
}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda live: live, Verdict.CHANGES_NOTHING),
        (
            lambda live: {**live, "metadata": {**live["metadata"], "resourceVersion": "2", "managedFields": [{}]}},
            Verdict.CHANGES_NOTHING,
        ),
        (lambda live: {**live, "status": {"x": 2}}, Verdict.CHANGES_NOTHING),
        (lambda live: {**live, "data": {"k": "w"}}, Verdict.CHANGES),
        (lambda live: {**live, "metadata": {**live["metadata"], "labels": {"a": "b"}}}, Verdict.CHANGES),
        (lambda live: {name: value for name, value in live.items() if name != "data"}, Verdict.CHANGES),
    ],
)
def test_a_dry_run_is_compared_with_all_that_a_write_decides(
    change: Callable[[Manifest], Manifest], expected: Verdict
) -> None:
    dry_run = Update(CONFIG_MAPS, LIVE, "test", dry_run=True)

    assert verdict(WriteResult(dry_run, change(LIVE)), LIVE) is expected
    assert verdict(WriteResult(dry_run), LIVE) is Verdict.NOT_KNOWN


def test_a_dry_run_asks_for_the_same_as_the_write_and_stores_nothing() -> None:
    made = settled(config_map("a"))
    live = made.live(CONFIG_MAPS, "a")
    write = Update(CONFIG_MAPS, {**live, "data": {"k": "w"}}, "test")

    answer = made.target.handle(requests.for_action(replace(write, dry_run=True)))

    assert answer.body["data"] == {"k": "w"}
    assert made.live(CONFIG_MAPS, "a") == live


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        *((code, Verdict.NOT_KNOWN) for code in (0, 404, 408, 409, 429, 500, 503)),
        (400, Verdict.NOT_SUPPORTED),
        *((code, Verdict.CHANGES_NOTHING) for code in (401, 403, 422, 499)),
    ],
)
def test_a_refused_dry_run_changes_nothing_unless_the_refusal_says_nothing_about_the_write(
    code: int, expected: Verdict
) -> None:
    dry_run = Update(CONFIG_MAPS, LIVE, "test", dry_run=True)

    assert verdict(WriteResult(dry_run, None, ApiError(code, "", "")), LIVE) is expected
