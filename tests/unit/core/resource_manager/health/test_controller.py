"""The health of ManagedResources, as their status comes to tell it."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.api.kubernetes import CONFIG_MAPS, DEPLOYMENTS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.conditions import conditions_of, find
from hedgerow.machinery.controller import Change, concerned_keys
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource
from hedgerow.machinery.plan import JsonPatch
from hedgerow.machinery.questions import ListQuestion, NotAnswered, ObjectQuestion
from hedgerow.machinery.selectors import field_query
from hedgerow.machinery.steps import Now
from hedgerow.resource_manager.health.controller import HealthConfig, health_controller
from tests.unit.core.resource_manager.health.objects import condition, deployment, live, load_balancer, pod, skipped
from tests.unit.core.resource_manager.turns import NOW, Clusters, Course, take_turn

PODS = Resource("", "v1", "pods", "Pod")
SERVICES = Resource("", "v1", "services", "Service")
EVENTS = Resource("", "v1", "events", "Event")
DEFINITIONS = Resource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)
CARTS = Resource("shop", "v1", "carts", "Cart")
MR = ObjectKey("ns", "app")
MINUTE = 60.0
CONTROLLER = health_controller(HealthConfig())
ALL = (PODS, SERVICES, DEPLOYMENTS, CONFIG_MAPS, DEFINITIONS)


def reference(api_version: str, kind: str, name: str = "name", namespace: str = "ns") -> dict[str, str]:
    entry = {"apiVersion": api_version, "kind": kind, "name": name, "namespace": namespace}
    return {member: value for member, value in entry.items() if value}


def managed_resource(
    *references: Manifest, applied: Any = "True", conditions: Iterable[Manifest] = (), **metadata: Any
) -> dict[str, Any]:
    return {
        "metadata": {"namespace": "ns", "name": "app", "resourceVersion": "5", **metadata},
        "spec": {"secretRefs": []},
        "status": {
            "conditions": [*conditions, condition("ResourcesApplied", applied, "R", "M")],
            "resources": list(references),
        },
    }


def landscape(subject: Manifest, *objects: tuple[Resource, Manifest], followed: Iterable[Resource] = ALL) -> Clusters:
    clusters = Clusters.of(source={MANAGED_RESOURCES: [subject]}, target=dict.fromkeys(ALL, ()), followed=followed)
    for resource, manifest in objects:
        clusters.put(resource, manifest)
    return clusters


def take(clusters: Clusters) -> Course:
    return take_turn(clusters, CONTROLLER, MR)


def healthy_condition(clusters: Clusters) -> tuple[str, str, str] | None:
    found = find(conditions_of(clusters.source[MANAGED_RESOURCES][MR]), "ResourcesHealthy")
    return None if found is None else (found.status, found.reason, found.message)


NO_MATCHES = 'no matches for kind "ConfigMap" in version "non-existing.k8s.io/v1"'
BAD_PHASE = 'pod is in invalid phase "Pending" (expected one of ["Running" "Succeeded"])'
ALL_HEALTHY = ("True", "ResourcesHealthy", "All resources are healthy.")


def test_without_objects_everything_is_healthy() -> None:  # HL-4
    clusters = landscape(managed_resource())

    course = take(clusters)

    assert healthy_condition(clusters) == ALL_HEALTHY
    assert course.end.requeue_after == MINUTE
    assert course.questions == []


@pytest.mark.parametrize(
    ("subject", "problem"),
    [
        pytest.param(
            managed_resource({"apiVersion": "v1", "kind": "ConfigMap", "name": 5}),
            "status.resources[0].name: expected a string, got an integer",
            id="reference",
        ),
        pytest.param(managed_resource(applied=5), None, id="condition"),
    ],
)
def test_a_managed_resource_of_another_shape_is_told(subject: Manifest, problem: str | None) -> None:
    failures = take(landscape(subject)).end.failures

    assert [str(each.problem) for each in failures] == ([problem] if problem else [])


def test_what_has_been_said_is_not_written_again() -> None:
    clusters = landscape(managed_resource(reference("v1", "Pod")), (PODS, pod("Running")))
    take(clusters)

    again = take_turn(clusters, CONTROLLER, MR, now=NOW + timedelta(hours=1))

    assert again.end.is_empty
    assert again.questions == []
    assert again.end.requeue_after == MINUTE


def test_a_condition_that_says_more_than_we_know_of_is_not_corrected() -> None:
    times = dict.fromkeys(("lastTransitionTime", "lastUpdateTime"), "2026-01-01T00:00:00Z")
    stored = condition("ResourcesHealthy", *ALL_HEALTHY) | times | {"observedGeneration": 3, "codes": []}

    assert take(landscape(managed_resource(conditions=[stored]))).actions == []


@pytest.mark.parametrize(
    ("subject", "requeue_after"),
    [
        pytest.param(managed_resource(applied="False"), MINUTE, id="HL-3"),
        pytest.param(managed_resource(applied="Progressing"), MINUTE, id="HL-3 progressing"),
        pytest.param(managed_resource(annotations={"resources.gardener.cloud/ignore": "true"}), None, id="HL-2"),
        pytest.param(managed_resource() | {"spec": {"class": "foo"}}, None, id="HL-1"),
        pytest.param(managed_resource(deletionTimestamp="2026-01-01T00:00:00Z"), None, id="terminating"),
    ],
)
def test_what_is_not_to_be_judged_is_left_alone(subject: Manifest, requeue_after: float | None) -> None:
    course = take(landscape(subject))

    assert course.actions == []
    assert course.end.requeue_after == requeue_after


def test_a_managed_resource_that_is_gone_needs_nothing() -> None:
    assert take(Clusters.of(source={MANAGED_RESOURCES: []})).end.requeue_after is None


@pytest.mark.parametrize("followed", [ALL, ()], ids=["followed", "not followed"])
@pytest.mark.parametrize(
    ("entry", "said"),
    [
        pytest.param(
            reference("v1", "ConfigMap", "non-existing"),
            ("ConfigMapMissing", 'Required ConfigMap "non-existing" in namespace "ns" is missing'),
            id="HL-5",
        ),
        pytest.param(
            reference("non-existing.k8s.io/v1", "ConfigMap"),
            (
                "ConfigMapMissing",
                f'Required ConfigMap "name" in namespace "ns" is missing: {NO_MATCHES}',
            ),
            id="HL-7",
        ),
        pytest.param(
            reference("v1", "Pod"),
            (
                "PodUnhealthy",
                f'Pod "ns/name" is unhealthy: {BAD_PHASE}',
            ),
            id="HL-8",
        ),
        pytest.param(
            reference("apiextensions.k8s.io/v1", "CustomResourceDefinition", "foos.x", ""),
            (
                "CustomResourceDefinitionUnhealthy",
                'CustomResourceDefinition "/foos.x" is unhealthy: condition "NamesAccepted" is missing',
            ),
            id="HL-11",
        ),
    ],
)
def test_the_condition_tells_what_is_wrong(
    entry: Manifest, said: tuple[str, str], followed: Sequence[Resource]
) -> None:
    definition = {"metadata": {"name": "foos.x"}}
    clusters = landscape(managed_resource(entry), (PODS, pod("Pending")), (DEFINITIONS, definition), followed=followed)

    take(clusters)

    assert healthy_condition(clusters) == ("False", *said)


def test_a_custom_object_that_is_missing_is_told_by_its_kind() -> None:  # HL-6
    clusters = landscape(managed_resource(reference("shop/v1", "Cart")))
    clusters.target[CARTS] = {}

    take(clusters)

    assert healthy_condition(clusters) == ("False", "CartMissing", 'Required Cart "name" in namespace "ns" is missing')


def test_an_exempt_object_has_to_exist_alone() -> None:  # HL-9
    clusters = landscape(managed_resource(reference("v1", "Pod")), (PODS, skipped(pod("Pending"))))

    take(clusters)

    assert healthy_condition(clusters) == ALL_HEALTHY


def test_the_first_object_that_gives_cause_is_told_and_those_behind_it_are_not_asked_for() -> None:  # HL-10
    behind = [reference("v1", "Pod", str(number)) for number in range(3)]
    subject = managed_resource(reference("apps/v1", "Deployment"), *behind)
    clusters = landscape(subject, (DEPLOYMENTS, deployment()), followed=[DEPLOYMENTS])

    course = take(clusters)

    assert healthy_condition(clusters) == (
        "False",
        "DeploymentUnhealthy",
        'Deployment "ns/name" is unhealthy: condition "Available" is missing',
    )
    assert course.questions == []


def test_everything_that_is_not_at_hand_is_asked_at_once() -> None:
    names = [f"pod-{number}" for number in range(50)]
    clusters = landscape(
        managed_resource(*(reference("v1", "Pod", name) for name in names)),
        *((PODS, live("v1", "Pod", status={"phase": "Running"}, name=name)) for name in names),
        followed=(),
    )

    course = take(clusters)

    assert course.questions == [ObjectQuestion(PODS, ObjectKey("ns", name), Cluster.TARGET) for name in names]
    waits = [step for step in course.steps if not isinstance(step, Now)]
    assert len(waits) == 2
    assert healthy_condition(clusters) == ALL_HEALTHY


def test_what_cannot_be_read_is_a_failure_that_leaves_the_condition_alone() -> None:  # HL-12
    clusters = landscape(managed_resource(reference("v1", "ConfigMap")), followed=())
    clusters.broken = lambda _question: True

    course = take(clusters)

    assert [str(failure) for failure in course.end.failures] == [
        "ConfigMap ns/name: cannot be read: the server is on fire"
    ]
    assert course.end.failures[0].retryable
    assert healthy_condition(clusters) is None


def test_a_kind_that_cannot_be_looked_up_is_a_failure_that_leaves_the_condition_alone() -> None:
    clusters = landscape(managed_resource(reference("shop/v1", "Cart")))
    clusters.lookups[CARTS.object_kind] = NotAnswered(503, "ServiceUnavailable", "no discovery")

    course = take(clusters)

    assert [str(failure) for failure in course.end.failures] == ["Cart ns/name: cannot be read: no discovery"]
    assert healthy_condition(clusters) is None


def test_an_object_that_is_not_shown_yet_is_not_taken_for_missing() -> None:
    clusters = landscape(managed_resource(reference("v1", "Pod")), (PODS, pod("Running")))
    clusters.unseen = {ObjectKey("ns", "name")}

    take(clusters)

    assert healthy_condition(clusters) == ALL_HEALTHY


def test_an_object_in_no_namespace_is_found_whatever_namespace_its_reference_names() -> None:
    terms = ("NamesAccepted", "Established")
    definition = {
        "metadata": {"name": "foos.x"},
        "status": {"conditions": [condition(term, "True") for term in terms]},
    }
    entry = reference("apiextensions.k8s.io/v1", "CustomResourceDefinition", "foos.x", "default")
    clusters = landscape(managed_resource(entry), (DEFINITIONS, definition))

    take(clusters)

    assert healthy_condition(clusters) == ALL_HEALTHY


def test_the_last_warnings_about_a_service_are_told() -> None:  # HL-13
    clusters = landscape(managed_resource(reference("v1", "Service")), (SERVICES, load_balancer()))
    clusters.target[EVENTS] = {}
    for number in range(7):
        clusters.put(EVENTS, warning(number))

    take(clusters)

    lines = [f"* controller reported {60 - number}s ago: no {number}" for number in range(2, 7)]
    events = "\n".join(("-> Events:", *lines))
    message = f'Service "ns/name" is unhealthy: service is missing ingress status\n\n{events}'
    assert healthy_condition(clusters) == ("False", "ServiceUnhealthy", message)


def test_that_warnings_grow_older_is_no_news() -> None:
    clusters = landscape(managed_resource(reference("v1", "Service")), (SERVICES, load_balancer()))
    clusters.target[EVENTS] = {}
    clusters.put(EVENTS, warning(1))
    take_turn(clusters, CONTROLLER, MR, now=NOW + timedelta(microseconds=5))

    later = take_turn(clusters, CONTROLLER, MR, now=NOW + timedelta(minutes=1))
    assert later.actions == []

    clusters.put(EVENTS, warning(2))
    assert len(take_turn(clusters, CONTROLLER, MR, now=NOW + timedelta(minutes=1)).actions) == 1
    assert "119s ago: no 1" in str(healthy_condition(clusters))


def test_no_events_are_asked_for_but_the_warnings_about_the_service() -> None:
    """The namespace of the Service is told by itself; its reference may leave it out."""
    subject = managed_resource(reference("v1", "Service", namespace=""))
    service = load_balancer()
    service["metadata"]["namespace"] = "default"
    clusters = landscape(subject, (SERVICES, service))
    clusters.target[EVENTS] = {}

    (question,) = take(clusters).questions

    fields = {"apiVersion": "v1", "kind": "Service", "name": "name", "namespace": "default"}
    selector = {**{f"involvedObject.{name}": value for name, value in fields.items()}, "type": "Warning"}
    assert question == ListQuestion(EVENTS, Cluster.TARGET, "default", field_selector=field_query(selector))


def warning(number: int) -> dict[str, Any]:
    moment = f"2026-01-01T11:59:{number:02}Z"
    return {
        "metadata": {"namespace": "ns", "name": f"warning-{number}"},
        "involvedObject": {"apiVersion": "v1", "kind": "Service", "namespace": "ns", "name": "name"},
        "type": "Warning",
        "source": {"component": "controller"},
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "message": f"no {number}",
    }


def test_events_that_cannot_be_read_keep_nothing_from_being_said() -> None:
    clusters = landscape(managed_resource(reference("v1", "Service")), (SERVICES, load_balancer()))

    take(clusters)

    message = 'Service "ns/name" is unhealthy: service is missing ingress status'
    assert healthy_condition(clusters) == ("False", "ServiceUnhealthy", message)


def test_the_condition_is_replaced_beside_those_of_others() -> None:
    pending = condition("ResourcesHealthy", "Unknown", "ChecksPending", "wait")
    other = condition("ResourcesProgressing", "Unknown", "ChecksPending", "wait")
    clusters = landscape(managed_resource(conditions=(other, pending)))

    course = take(clusters)

    assert [type(action) for action in course.actions] == [JsonPatch]
    stored = clusters.source[MANAGED_RESOURCES][MR]["status"]["conditions"]
    assert [each["type"] for each in stored] == ["ResourcesProgressing", "ResourcesHealthy", "ResourcesApplied"]
    assert stored[0] == other
    assert healthy_condition(clusters) == ALL_HEALTHY


def test_kinds_of_managed_objects_are_followed_but_not_those_of_other_classes() -> None:
    (dynamic,) = CONTROLLER.dynamic_watches
    ours = managed_resource(reference("v1", "Pod"), reference("v1", "Pod", "two"), reference("shop/v1", "Cart"))

    assert set(dynamic.kinds.values(ours)) == {PODS.object_kind, CARTS.object_kind}
    assert not set(dynamic.kinds.values(ours | {"spec": {"class": "theirs"}}))


@pytest.mark.parametrize(
    ("origin", "cluster_id", "keys"),
    [
        ("foo:bar/baz", "foo", {ObjectKey("bar", "baz")}),  # OR-6
        ("foo:bar/baz", "hugo", set()),  # OR-7
        (None, "", set()),
    ],
)
def test_a_live_object_concerns_the_managed_resource_of_its_origin(
    origin: str | None, cluster_id: str, keys: set[ObjectKey]
) -> None:
    (dynamic,) = health_controller(HealthConfig(cluster_id=cluster_id)).dynamic_watches
    (watch,) = dynamic.watches(PODS)
    annotations = {} if origin is None else {"resources.gardener.cloud/origin": origin}
    old, new = (
        watch.transform(pod(phase, annotations=annotations, resourceVersion=phase)) for phase in ("Pending", "Running")
    )

    assert concerned_keys(watch, Change(old, new), Clusters().snapshot(CONTROLLER)) == keys


def test_a_change_that_leaves_an_object_as_healthy_as_it_was_concerns_nobody() -> None:
    (dynamic,) = CONTROLLER.dynamic_watches
    (watch,) = dynamic.watches(PODS)
    annotations = {"resources.gardener.cloud/origin": "bar/baz"}
    old, new = (watch.transform(pod("Running", annotations=annotations, resourceVersion=version)) for version in "12")

    assert not concerned_keys(watch, Change(old, new), Clusters().snapshot(CONTROLLER))


PHASES = st.sampled_from(("Running", "Pending", "Failed"))
OBJECTS = st.dictionaries(st.sampled_from("abcd"), PHASES)


@given(
    OBJECTS, st.lists(st.sampled_from("abcde"), max_size=5), st.sets(st.sampled_from((PODS, CONFIG_MAPS))), st.data()
)
def test_one_turn_says_all_there_is_to_say(
    phases: dict[str, str], names: list[str], followed: set[Resource], data: st.DataObject
) -> None:
    def build() -> Clusters:
        return landscape(
            managed_resource(*(reference("v1", "Pod", name) for name in names)),
            *((PODS, live("v1", "Pod", status={"phase": phase}, name=name)) for name, phase in phases.items()),
            followed=followed,
        )

    clusters, whole = build(), build()
    clusters.unseen = {ObjectKey("ns", name) for name in data.draw(st.sets(st.sampled_from("abcd")))}
    before = {key: dict(manifest) for key, manifest in clusters.target[PODS].items()}

    take(clusters)
    take(whole)

    assert take(clusters).actions == []
    assert clusters.target[PODS] == before
    assert healthy_condition(clusters) == healthy_condition(whole)
    bad = [name for name in names if phases.get(name) != "Running"]
    assert (healthy_condition(clusters) == ALL_HEALTHY) is not bool(bad)


@pytest.mark.parametrize("step", [0, 1])
@pytest.mark.parametrize("is_gone", [True, False])
def test_of_one_that_is_gone_or_ignored_by_now_nothing_is_said(step: int, *, is_gone: bool) -> None:
    subject = managed_resource(reference("v1", "ConfigMap"))
    clusters = landscape(subject, followed=())
    ignored = {**subject["metadata"], "annotations": {"resources.gardener.cloud/ignore": "true"}}

    def meanwhile(performed: int) -> None:
        if performed == step:
            clusters.source[MANAGED_RESOURCES] = {} if is_gone else {MR: {**subject, "metadata": ignored}}

    assert take_turn(clusters, CONTROLLER, MR, meanwhile=meanwhile).actions == []
