"""What is written so that an object of a manifest is applied."""

import copy
from dataclasses import replace
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure, Success

from hedgerow.api.managed_resources import DESCRIPTION, IGNORE
from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.managed_resources.autoscalers import Scaling
from hedgerow.resource_manager.managed_resources.merge.merging import (
    CreateObject,
    Instructions,
    LeaveObject,
    UpdateObject,
    application,
    merge,
)
from hedgerow.resource_manager.managed_resources.server_defaults.differences import (
    Difference,
    as_readable,
    left_by_the_server,
)
from tests.unit.core.resource_manager.managed_resources.landscape import (
    DEPLOYMENT,
    INSTRUCTIONS,
    everywhere,
    stored_deployment,
)

KINDS = [
    "apps/v1 Deployment",
    "apps/v1 StatefulSet",
    "apps/v1 DaemonSet",
    "batch/v1 Job",
    "batch/v1 CronJob",
    "batch/v2 CronJob",
    "v1 Service",
    "v1 ServiceAccount",
    "v1 Secret",
    "v1 ConfigMap",
    "example.com/v1 Thing",
]
FIELDS = st.sampled_from(
    [
        "metadata",
        "labels",
        "annotations",
        "name",
        "spec",
        "template",
        "jobTemplate",
        "selector",
        "replicas",
        "status",
        "containers",
        "resources",
        "requests",
        "cpu",
        "ports",
        "port",
        "nodePort",
        "type",
        "clusterIP",
        "secrets",
        "data",
        "volumeClaimTemplates",
        "stringData",
        "externalTrafficPolicy",
        "image",
        "strategy",
        "volumes",
    ]
)
ANY_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 90)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "true", "1", "x"]),
    lambda nested: st.lists(nested, max_size=3) | st.dictionaries(FIELDS, nested, max_size=5),
    max_leaves=25,
)
OBJECTS = st.dictionaries(FIELDS, ANY_JSON, max_size=6)
INSTRUCTIONS_OF_ANY_KIND = st.builds(
    Instructions,
    origin=st.just("default/example"),
    labels=st.sampled_from([{}, {"inject": "me"}]),
    overwrite_labels=st.booleans(),
    overwrite_annotations=st.booleans(),
    scaling=st.builds(Scaling, st.booleans(), st.booleans()),
)


def of_kind(kind: str, manifest: Manifest) -> Manifest:
    api_version, _, name = kind.partition(" ")
    return {**manifest, "apiVersion": api_version, "kind": name}


def config_map(data: Manifest, **annotations: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "x", "labels": {"a": "b"}, "annotations": annotations},
        "data": data,
    }


def applied(desired: Manifest, live: Manifest | None, **options: Any) -> Any:
    return application(desired, live, INSTRUCTIONS, **options).unwrap()


def test_an_object_that_is_not_there_is_created() -> None:
    assert applied(DEPLOYMENT, None) == CreateObject(merge(DEPLOYMENT, None, INSTRUCTIONS).unwrap())


def test_nothing_is_written_when_only_server_defaults_differ() -> None:
    assert applied(DEPLOYMENT, stored_deployment()) == LeaveObject()


def test_what_controllers_of_kubernetes_note_at_an_object_is_not_fought_over() -> None:
    overwriting = replace(INSTRUCTIONS, overwrite_annotations=True)
    live = stored_deployment()
    noted = live["metadata"]["annotations"]
    assert "deployment.kubernetes.io/revision" in noted

    assert application(DEPLOYMENT, live, overwriting) == Success(LeaveObject())
    noted["added-by"] = "somebody"
    assert isinstance(application(DEPLOYMENT, live, overwriting).unwrap(), UpdateObject)


def test_a_settled_object_is_written_if_updates_are_always_to_be_sent() -> None:
    live = stored_deployment()

    assert applied(DEPLOYMENT, live, always_update=True) == UpdateObject(
        merge(DEPLOYMENT, live, INSTRUCTIONS).unwrap(), ()
    )


def test_drift_is_reverted_on_the_version_that_was_seen() -> None:
    live = merge(config_map({"k": "1"}), None, INSTRUCTIONS).unwrap()
    drifted = {**live, "metadata": {**live["metadata"], "resourceVersion": "7"}, "data": {"k": "2", "extra": "3"}}

    update = applied(config_map({"k": "1"}), drifted)

    assert update.because == (Difference("data.k", "1", "2"), Difference("data.extra", None, "3"))
    assert update.manifest["data"] == {"k": "1"}
    assert update.manifest["metadata"]["resourceVersion"] == "7"


def test_texts_of_a_secret_are_its_data() -> None:
    desired = {"apiVersion": "v1", "kind": "Secret", "metadata": {}, "data": {"a": "YQ=="}, "stringData": {"b": "b"}}
    written = merge(desired, None, INSTRUCTIONS).unwrap()
    live = {"metadata": written["metadata"], "type": "Opaque", "data": {"a": "YQ==", "b": "Yg=="}}
    live = {"apiVersion": "v1", "kind": "Secret", **live}

    assert applied(desired, live) == LeaveObject()
    assert isinstance(applied(desired, {**live, "data": {"a": "YQ==", "b": "Yw=="}}), UpdateObject)


@pytest.mark.parametrize(
    ("kind", "texts", "stored"),
    [
        ("Secret", {"data": {"a": None}, "stringData": {"b": None}}, {"data": {"a": "", "b": ""}, "type": "Opaque"}),
        ("ConfigMap", {"data": {"a": None}, "binaryData": {"b": None}}, {"data": {"a": ""}, "binaryData": {"b": ""}}),
    ],
)
def test_null_is_the_empty_text_in_what_is_a_map_of_texts(kind: str, texts: Manifest, stored: Manifest) -> None:
    desired = {"apiVersion": "v1", "kind": kind, "metadata": {"name": "x"}, **texts}
    metadata = merge(desired, None, INSTRUCTIONS).unwrap()["metadata"]

    assert applied(desired, {"apiVersion": "v1", "kind": kind, "metadata": metadata, **stored}) == LeaveObject()


class TestWhatNobodyCouldKnow:
    """A webhook of the cluster adds a member to every object of a kind."""

    DESIRED: ClassVar[Manifest] = {
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": {"name": "x"},
        "spec": {"a": 1},
    }

    def stored(self, spec: Manifest) -> Manifest:
        written = merge(self.DESIRED, None, INSTRUCTIONS).unwrap()
        return {**written, "spec": {**spec, "added": "by a webhook"}}

    def test_is_settled_by_the_answer_to_a_write(self) -> None:
        live = self.stored({"a": 1})
        update = applied(self.DESIRED, live)
        settled = left_by_the_server(update.manifest, live)  # the webhook has added it again

        assert applied(self.DESIRED, live, settled=settled) == LeaveObject()

    def test_does_not_hide_drift(self) -> None:
        settled = (Difference("spec.added", None, "by a webhook"),)

        for drift in ({"a": 2}, {"a": 1, "b": 2}, {}):
            assert isinstance(applied(self.DESIRED, self.stored(drift), settled=settled), UpdateObject)

    def test_is_written_again_when_it_is_something_else(self) -> None:
        settled = (Difference("spec.added", None, "by another webhook"),)

        assert isinstance(applied(self.DESIRED, self.stored({"a": 1}), settled=settled), UpdateObject)


@pytest.mark.parametrize("value", ["true", "1", "T"])
class TestIgnored:
    def test_it_is_created_as_it_is(self, value: str) -> None:
        desired = config_map({}, **{IGNORE: value})

        assert applied(desired, None) == CreateObject(desired)

    def test_it_is_left_alone_then(self, value: str) -> None:
        assert applied(config_map({}, **{IGNORE: value}), config_map({"k": "drift"})) == LeaveObject()

    def test_it_does_not_say_any_more_that_it_may_not_be_edited(self, value: str) -> None:
        live = config_map({"k": "drift"}, **{DESCRIPTION: "DO NOT EDIT", "other": "x"})

        update = applied(config_map({}, **{IGNORE: value}), live)

        assert update.manifest == config_map({"k": "drift"}, other="x")


@pytest.mark.parametrize("value", ["yes", "false", ""])
def test_what_is_not_truly_ignored_is_applied(value: str) -> None:
    assert isinstance(applied(config_map({}, **{IGNORE: value}), config_map({"k": "drift"})), UpdateObject)


SERVICE: Manifest = {
    "metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}},
    "spec": {
        "type": "LoadBalancer",
        "clusterIP": "1.2.3.4",
        "externalTrafficPolicy": "Local",
        "ports": [{"name": "a", "port": 1, "nodePort": 2}],
    },
}
WHOLE: Manifest = {
    **DEPLOYMENT,
    "data": {"a": "b"},
    "secrets": [{"name": "x"}],
    "spec": {
        **DEPLOYMENT["spec"],
        "jobTemplate": {"spec": DEPLOYMENT["spec"]},
        "volumeClaimTemplates": [{"metadata": {"labels": {"a": "b"}}}],
    },
    "status": {"a": "b"},
}


@st.composite
def spoiled(draw: st.DrawFn) -> Manifest:
    """A well-shaped object with any JSON in one place, or any JSON from the top."""
    whole = draw(st.sampled_from([WHOLE, SERVICE]))
    junk = draw(ANY_JSON)
    places = [manifest for _, manifest in everywhere(whole, lambda _: iter([junk])) if isinstance(manifest, dict)]
    return draw(st.sampled_from([whole, *places]) | OBJECTS)


@given(st.sampled_from(KINDS), spoiled(), st.none() | spoiled(), INSTRUCTIONS_OF_ANY_KIND)
def test_any_json_is_applied_or_refused_by_field_and_stays_as_it_is(
    kind: str, desired: Manifest, live: Manifest | None, instructions: Instructions
) -> None:
    desired = of_kind(kind, desired)
    before = copy.deepcopy((desired, live))

    result = application(desired, live, instructions)

    assert (desired, live) == before
    match result:
        case Failure(failure):
            assert str(failure).startswith(("metadata", "spec", "cannot merge objects with gvk: ")), failure
        case Success(outcome):
            assert isinstance(outcome, CreateObject | UpdateObject | LeaveObject)


def test_what_is_nested_too_deep_to_be_compared_is_refused() -> None:
    deep: Manifest = {}
    for _ in range(5000):
        deep = {"nested": deep}
    other: Manifest = {}
    for _ in range(5000):
        other = {"nested": other}
    thing = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}}

    result = application({**thing, "spec": deep}, {**thing, "spec": other}, INSTRUCTIONS)

    assert str(result.failure()) == "object is nested too deep to be compared"


@given(st.sampled_from(KINDS), spoiled(), spoiled(), INSTRUCTIONS_OF_ANY_KIND)
def test_to_merge_twice_is_to_merge_once(
    kind: str, desired: Manifest, live: Manifest, instructions: Instructions
) -> None:
    desired, live = of_kind(kind, desired), of_kind(kind, live)
    match merge(desired, live, instructions):
        case Success(once):
            assert merge(desired, once, instructions) == Success(once)
            assert application(desired, as_readable(once), instructions) == Success(LeaveObject())


@given(st.dictionaries(st.text(max_size=5), ANY_JSON), st.sampled_from(KINDS[:5] + KINDS[6:]))
def test_fields_that_nobody_knows_survive(unknown: Manifest, kind: str) -> None:
    desired = of_kind(kind, {"spec": {"unknown": unknown}, "unknown": unknown})
    live = of_kind(kind, {"metadata": {"unknown": unknown, "labels": {"foreign": "x"}}})

    merged = merge(desired, live, INSTRUCTIONS).unwrap()

    assert merged["unknown"] == merged["spec"]["unknown"] == merged["metadata"]["unknown"] == unknown
    assert merged["metadata"]["labels"]["foreign"] == "x"


def test_a_live_object_of_another_shape_is_put_right() -> None:
    controller = {"apiVersion": "v1", "kind": "ReplicationController", "metadata": {"name": "x", "namespace": "a"}}
    live = {**controller, "spec": {"template": 3, "selector": {"a": "b"}, "replicas": 1}}

    result = application({**controller, "spec": {"replicas": 1}}, live, INSTRUCTIONS)

    assert isinstance(result.unwrap(), UpdateObject)
