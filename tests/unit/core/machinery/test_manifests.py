"""What a controller sees of manifests that nobody has checked before."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hedgerow.api.kubernetes import NAMESPACES, SERVICES
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller, Watch, all_keys, own_key
from hedgerow.machinery.failures import Problem
from hedgerow.machinery.manifests import object_problems, snapshot_of
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, labels_of
from hedgerow.machinery.plan import ACTIONS, ApiError, InOrder, Plan, WriteResult
from hedgerow.machinery.questions import Found, ListQuestion, NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import text_at
from hedgerow.machinery.selectors import LabelSelector
from hedgerow.machinery.snapshot import Index
from hedgerow.machinery.steps import AtOnce, Step
from hedgerow.operator.namespace_network_policies import (
    NamespacePolicyConfig,
    RuntimeNetworks,
    namespace_network_policy_controller,
)
from hedgerow.resource_manager.configuration import ResourceManagerConfiguration
from hedgerow_entrypoints.components.resource_manager import COMPONENT
from tests.executions import executed

BY_COLOUR = Index("services by colour", SERVICES, lambda service: labels_of(service).values())
CONTROLLER = Controller(
    name="colours",
    primary=SERVICES,
    watches=(
        Watch(
            SERVICES,
            lambda service: {"metadata": service["metadata"], "type": text_at(service, "spec", "type")},
            own_key,
        ),
        Watch(NAMESPACES, lambda namespace: namespace, own_key, cluster=Cluster.SOURCE),
    ),
    indexes=(BY_COLOUR,),
    concurrency=1,
    config=None,
    reconcile=lambda _key, _snapshot, _context: Plan(),
)


def service(name: Any = "cart", **members: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "shop", "labels": {"colour": "red"}}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, **members}


def namespace(name: str = "shop") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def problems(*manifests: Any, controller: Controller[Any] = CONTROLLER) -> list[str]:
    return [str(failure) for failure in snapshot_of(controller, manifests).failure()]


def names(manifests: Any) -> list[str]:
    return sorted(each["metadata"]["name"] for each in manifests)


def test_objects_are_found_by_key_namespace_labels_and_index() -> None:
    elsewhere = service("till", metadata={"name": "till", "namespace": "bank"})

    snapshot = snapshot_of(CONTROLLER, [service(), elsewhere]).unwrap()

    assert snapshot.get(SERVICES, ObjectKey("shop", "cart")) == {"metadata": service()["metadata"], "type": None}
    assert snapshot.get(SERVICES, ObjectKey("shop", "till")) is None
    assert names(snapshot.list(SERVICES)) == ["cart", "till"]
    assert names(snapshot.list(SERVICES, namespace="bank")) == ["till"]
    assert names(snapshot.list(SERVICES, selector=LabelSelector((("colour", "red"),)))) == ["cart"]
    assert names(snapshot.by_index(BY_COLOUR, "red")) == ["cart"]
    assert names(snapshot.by_index(BY_COLOUR, "blue")) == []


def test_what_is_not_watched_is_left_out_and_has_not_synced() -> None:
    snapshot = snapshot_of(CONTROLLER, [{**service(), "kind": "Sevrice"}]).unwrap()

    assert snapshot.list(SERVICES) == []
    assert snapshot.has_synced(SERVICES)
    assert not snapshot.has_synced(SERVICES, Cluster.SOURCE)
    assert snapshot.list(SERVICES, cluster=Cluster.SOURCE) == []


def test_one_cluster_plays_both_roles_unless_there_are_two() -> None:
    one = snapshot_of(CONTROLLER, [namespace("a")]).unwrap()
    two = snapshot_of(CONTROLLER, [namespace("a")], source=[namespace("b")]).unwrap()

    assert names(one.list(NAMESPACES, cluster=Cluster.SOURCE)) == ["a"]
    assert names(two.list(NAMESPACES, cluster=Cluster.SOURCE)) == ["b"]


def test_a_watch_of_some_objects_shows_only_those() -> None:
    watches = tuple(Watch(SERVICES, lambda service: service, own_key, namespace="bank") for _ in range(1))
    controller = Controller("c", SERVICES, watches, 1, None, lambda _key, _snapshot, _context: Plan())

    assert snapshot_of(controller, [service()]).unwrap().list(SERVICES) == []


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        pytest.param(["a"], ["object objects: expected an object, got a list"], id="no object"),
        pytest.param({**service(), "kind": None}, ["object shop/cart: an object without kind"], id="no kind"),
        pytest.param(service(""), ["Service objects in namespace shop: a Service without a name"], id="no name"),
        pytest.param(
            service(metadata={"name": "a", "namespace": "b", "labels": {"c": 1}}),
            ["Service b/a: metadata.labels[c]: expected a string, got an integer (quote it)"],
            id="label",
        ),
        pytest.param(
            service(metadata={"name": "cart"}), ["Service cart: metadata.namespace: is missing"], id="no namespace"
        ),
        pytest.param(
            service(spec={"type": 1}), ["Service shop/cart: spec.type: expected a string, got an integer"], id="a field"
        ),
    ],
)
def test_what_is_malformed_is_told_by_object_and_field(manifest: Any, expected: list[str]) -> None:
    assert problems(namespace(), manifest) == expected


def test_everything_that_is_wrong_is_told_in_both_clusters() -> None:
    found = snapshot_of(CONTROLLER, [service("")], source=[{**namespace(), "kind": 1}]).failure()

    assert [str(each.problem) for each in found] == [
        "a Service without a name",
        "kind: expected a string, got an integer (quote it)",
    ]


def test_a_watch_may_know_more_that_is_wrong() -> None:
    def colourless(service: Manifest) -> list[Problem]:
        return [] if labels_of(service) else [Problem("metadata.labels", "are missing")]

    watch = Watch(SERVICES, lambda service: service, own_key, problems=colourless)
    controller = Controller("c", SERVICES, (watch,), 1, None, lambda _key, _snapshot, _context: Plan())

    assert problems(service(metadata={"name": "a", "namespace": "b"}), controller=controller) == [
        "Service b/a: metadata.labels: are missing"
    ]


@pytest.mark.parametrize(
    ("metadata", "problem"),
    [
        ([], "metadata: expected an object, got a list"),
        (None, "a Service without a name"),
        ({"name": ""}, "a Service without a name"),
        ({"name": 5}, "metadata.name: expected a string, got an integer (quote it)"),
        *(
            ({"name": "a", name: []}, f"metadata.{name}: expected a string, got a list")
            for name in ("generateName", "namespace", "uid", "resourceVersion")
        ),
        *(
            ({"name": "a", name: 1.5}, f"metadata.{name}: expected a string, got a decimal number (quote it)")
            for name in ("creationTimestamp", "deletionTimestamp", "selfLink")
        ),
        ({"name": "a", "labels": ["b"]}, "metadata.labels: expected an object, got a list"),
        ({"name": "a", "annotations": "b"}, "metadata.annotations: expected an object, got a string"),
        ({"name": "a", "annotations": {"b": None}}, "metadata.annotations[b]: expected a string, got null"),
        ({"name": "a", "finalizers": {}}, "metadata.finalizers: expected a list, got an object"),
        ({"name": "a", "finalizers": ["b", None]}, "metadata.finalizers[1]: expected a string, got null"),
        ({"name": "a", "ownerReferences": [{}, "b"]}, "metadata.ownerReferences[1]: expected an object, got a string"),
    ],
)
def test_metadata_of_another_shape_are_one_problem_at_their_field(metadata: Any, problem: str) -> None:
    assert [str(each) for each in object_problems({**service(), "metadata": metadata})] == [problem]


def test_metadata_may_be_null_but_for_the_name() -> None:
    nothing = dict.fromkeys(("namespace", "uid", "labels", "annotations", "finalizers", "ownerReferences"))

    assert object_problems({**service(), "metadata": {"name": "a", **nothing}}) == ()


def test_who_sends_an_object_may_leave_its_name_to_the_server_and_a_review_has_none() -> None:
    nameless = {**service(), "metadata": {"generateName": "cart-"}}
    review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}

    assert object_problems(nameless, sent=True) == object_problems(review, sent=True) == ()
    assert [str(each) for each in object_problems(nameless)] == ["a Service without a name"]
    assert [str(each) for each in object_problems(review)] == ["an AdmissionReview without a name"]
    for metadata in ({"generateName": ""}, {}, None):
        assert [str(each) for each in object_problems({**service(), "metadata": metadata}, sent=True)] == [
            "a Service without a name"
        ]


def test_what_is_no_object_or_of_no_kind_is_told() -> None:
    assert [str(each) for each in object_problems("a")] == ["expected an object, got a string"]
    assert [str(each) for each in object_problems({"kind": "", "metadata": {"name": "a"}})] == [
        "an object without apiVersion",
        "an object without kind",
    ]
    assert [str(each) for each in object_problems({**service(), "apiVersion": 1})] == [
        "apiVersion: expected a string, got an integer (quote it)"
    ]


@pytest.mark.parametrize("name", ["spec", "status"])
def test_the_spec_and_the_status_of_an_object_are_objects(name: str) -> None:
    assert problems({**service(), name: 5}) == [f"Service shop/cart: {name}: expected an object, got an integer"]


CONTROLLERS = [
    *(entry.build(ResourceManagerConfiguration(), "") for entry in COMPONENT.controllers),
    namespace_network_policy_controller(NamespacePolicyConfig(RuntimeNetworks("10.0.0.0/16", "10.1.0.0/16"))),
]
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TEXTS = st.sampled_from(["", "a", "true", "Active", "NodeReady", "tcp", "10", "2026-01-01T00:00:00Z"])
NAMES = st.sampled_from(
    (
        *("spec", "status", "metadata", "type", "phase", "conditions", "data", "kubeconfig", "ports", "rules"),
        *("secretRefs", "resources", "ownerReferences", "finalizers", "taints", "subsets", "addresses", "http"),
    )
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 70000) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@st.composite
def objects(draw: st.DrawFn, resource: Resource) -> dict[str, Any]:
    """An object of a resource with a name; nothing else of it is as it should be."""
    metadata = {**draw(st.dictionaries(NAMES | TEXTS, ANYTHING, max_size=3)), "name": draw(st.sampled_from("ab"))}
    if resource.namespaced:
        metadata["namespace"] = draw(st.sampled_from("ab"))
    members = draw(st.dictionaries(NAMES, ANYTHING, max_size=4))
    return {**members, "apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}


def unhelpful(step: Step[Any]) -> Any:
    """The replies of a world in which there is nothing and nothing may be written."""
    refused = ApiError(403, "Forbidden", "forbidden")
    match step:
        case AtOnce(steps):
            return tuple(map(unhelpful, steps))
        case InOrder(actions):
            return (WriteResult(actions[0], None, refused),)
        case _ if isinstance(step, ACTIONS):
            return WriteResult(step, None, refused)
        case ListQuestion():
            return Found(())
    return NotAnswered(404, "NotFound", "not found") if isinstance(step, ObjectQuestion) else NOON


@pytest.mark.parametrize("controller", CONTROLLERS, ids=lambda controller: controller.name)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_no_object_of_a_snapshot_makes_a_decision_raise(controller: Controller[Any], data: st.DataObject) -> None:
    resources = [watch.resource for watch in controller.watches] or [SERVICES]
    found = [data.draw(objects(resource)) for resource in resources for _ in range(2)]
    made = snapshot_of(controller, found)
    if not (snapshot := made.value_or(None)):
        assert all(str(failure.problem) for failure in made.failure())
        return
    for key in all_keys(controller, snapshot):
        context = Context(NOON, controller.config)
        executed(controller.reconcile(key, snapshot, context), unhelpful)
