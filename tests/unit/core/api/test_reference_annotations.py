"""How objects are marked as users of what they refer to."""

import copy
import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure, Success

from hedgerow.api.reference_annotations import (
    UsedObject,
    annotation_key,
    inject_annotations,
    kind_from_annotation_key,
    pod_references,
)
from hedgerow.machinery.names import label_key_problem
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import UnreadableError

PREFIX = "reference.resources.gardener.cloud/"


@pytest.mark.parametrize(
    ("kind", "name", "key"),
    [
        ("kind", "name", "kind-82a3537f"),
        ("configmap", "test-5678", "configmap-4ed34879"),
        ("configmap", "cm1", "configmap-51cc57e4"),
        ("secret", "secret1", "secret-5b11618c"),
    ],
)
def test_a_key_holds_the_kind_and_the_beginning_of_a_hash_of_the_name(kind: str, name: str, key: str) -> None:
    assert annotation_key(kind, name) == PREFIX + key


@given(st.text(min_size=1))
def test_every_name_makes_a_key_that_api_servers_accept_and_whose_kind_is_found_again(name: str) -> None:
    key = annotation_key("secret", name)

    assert (label_key_problem(key), kind_from_annotation_key(key)) == (None, "secret")


def test_what_follows_on_the_kind_need_not_be_a_hash() -> None:
    assert kind_from_annotation_key(f"{PREFIX}secret-foo") == "secret"


@pytest.mark.parametrize(
    "key",
    [
        f"{PREFIX}secret/name/foo",
        f"{PREFIX}my-secret-1234",
        f"{PREFIX}secret",
        f"{PREFIX}-1234",
        "foobar/secret-x",
        "secret-x",
        f"x{PREFIX}secret-x",
    ],
)
def test_other_keys_refer_to_nothing(key: str) -> None:
    assert kind_from_annotation_key(key) is None


def test_init_containers_use_nothing() -> None:
    pod_spec = {"initContainers": [{"name": "init", "envFrom": [{"secretRef": {"name": "secret"}}]}]}

    assert pod_references(pod_spec) == frozenset()


def test_parts_that_refer_to_nothing_count_as_nothing() -> None:
    pod_spec = {
        "containers": [
            {"env": [{"name": "A", "value": "b"}, {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}]},
            {"env": None, "envFrom": [{"configMapRef": {"name": ""}}]},
        ],
        "volumes": [{"name": "scratch", "emptyDir": {}}, {"projected": {"sources": [{"serviceAccountToken": {}}]}}],
        "imagePullSecrets": [{}, None],
    }

    assert pod_references(pod_spec) == frozenset()


def test_what_is_used_twice_is_one_reference() -> None:
    pod_spec = {"imagePullSecrets": [{"name": "pull"}], "volumes": [{"secret": {"secretName": "pull"}}]}

    assert pod_references(pod_spec) == {UsedObject("secret", "pull")}


def test_a_name_that_is_no_text_is_told_by_its_path() -> None:
    with pytest.raises(UnreadableError, match="secretName"):
        pod_references({"volumes": [{"secret": {"secretName": 1}}]})


PREFIX = "reference.resources.gardener.cloud/"
POD_SPEC = {
    "containers": [
        {
            "envFrom": [{"configMapRef": {"name": "cm1"}}, {"secretRef": {"name": "secret1"}}],
            "env": [{"name": "A", "value": "b"}, {"valueFrom": {"secretKeyRef": {"name": "secret2", "key": "a"}}}],
        },
        {
            "envFrom": [{"configMapRef": {"name": "cm2"}}, {"secretRef": {"name": "secret3"}}],
            "env": [{"name": "C", "valueFrom": {"configMapKeyRef": {"name": "cm3", "key": "a"}}}],
        },
    ],
    "volumes": [
        {"configMap": {"name": "cm4"}},
        {"secret": {"secretName": "secret4"}},
        {"projected": {"sources": [{"configMap": {"name": "cm5"}}, {"secret": {"name": "secret5"}}]}},
        {"projected": {"sources": [{"configMap": {"name": "cm6"}}, {"secret": {"name": "secret6"}}]}},
    ],
    "imagePullSecrets": [{"name": "secret7"}],
}
OLD = {"some-existing": "annotation", f"{PREFIX}secret-1234567": "gone"}
KINDS = [
    ("v1", "Pod", [()]),
    *((group, kind, [(), ("spec", "template")]) for group in ("apps/v1", "apps/v1beta2", "apps/v1beta1")
      for kind in ("Deployment", "StatefulSet")),
    *((group, "DaemonSet", [(), ("spec", "template")]) for group in ("apps/v1", "apps/v1beta2")),
    ("batch/v1", "Job", [(), ("spec", "template")]),
    *((group, "CronJob", [(), ("spec", "jobTemplate"), ("spec", "jobTemplate", "spec", "template")])
      for group in ("batch/v1", "batch/v1beta1")),
]  # fmt: skip

EXAMPLES = {"Pod": "RA-1", "Deployment": "RA-2", "CronJob": "RA-3"}


def references(*, config_maps: int, secrets: int) -> dict[str, str]:
    names = [("configmap", f"cm{number + 1}") for number in range(config_maps)]
    names += [("secret", f"secret{number + 1}") for number in range(secrets)]
    return {f"{PREFIX}{kind}-{hashlib.sha256(name.encode()).hexdigest()[:8]}": name for kind, name in names}


def running(
    api_version: str, kind: str, places: list[tuple[str, ...]], pod_spec: Any, *, outer: Any, inner: Any
) -> Any:
    """An object that runs a pod, with annotations of its own and of each of its templates."""
    manifest: dict[str, Any] = {"metadata": {"annotations": dict(inner)}, "spec": pod_spec}
    for path in reversed(places[1:]):
        parent = next(place for place in reversed(places) if len(place) < len(path))
        for name in reversed(path[len(parent) :]):
            manifest = {name: manifest}
        manifest = {"metadata": {"annotations": dict(inner)}, **manifest}
    manifest["metadata"] = {"name": "app", "namespace": "shop", "annotations": dict(outer)}
    return {"apiVersion": api_version, "kind": kind, **manifest}


def annotations_at(manifest: Any, path: tuple[str, ...]) -> Any:
    for name in (*path, "metadata"):
        manifest = manifest[name]
    return manifest.get("annotations")


@pytest.mark.parametrize(
    ("api_version", "kind", "places"),
    KINDS,
    ids=[f"{EXAMPLES.get(kind, '')} {api_version} {kind}".lstrip() for api_version, kind, _ in KINDS],
)
def test_an_object_and_its_templates_are_annotated_with_every_reference_of_the_pod(
    api_version: str, kind: str, places: list[tuple[str, ...]]
) -> None:
    manifest = running(api_version, kind, places, POD_SPEC, outer=OLD, inner={"own": "template", **OLD})

    injected = inject_annotations(manifest, "foo", "bar").unwrap()

    new = references(config_maps=6, secrets=7) | {"foo": "", "bar": ""}
    assert annotations_at(injected, ()) == {"some-existing": "annotation", **new}
    assert [annotations_at(injected, place) for place in places[1:]] == [
        {"own": "template", "some-existing": "annotation", **new} for _ in places[1:]
    ]
    assert len(new) == 15


def test_a_managed_resource_refers_to_its_secrets() -> None:  # RA-4
    manifest = managed_resource("secret2", "secret5")

    injected = inject_annotations(manifest).unwrap()

    assert annotations_at(injected, ()) == {
        f"{PREFIX}secret-{hashlib.sha256(name.encode()).hexdigest()[:8]}": name for name in ("secret2", "secret5")
    }


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        pytest.param("v1", "Service", id="RA-5"),
        ("extensions/v1beta1", "Deployment"),
        ("apps/v1beta1", "DaemonSet"),
    ],
)
def test_other_objects_are_refused(api_version: str, kind: str) -> None:
    refused = inject_annotations({"apiVersion": api_version, "kind": kind})

    assert refused == Failure(f"unhandled object type {api_version}/{kind}")


@pytest.mark.parametrize(
    ("manifest", "problem"),
    [
        ({"spec": []}, "spec: expected an object, got a list"),
        ({"spec": {"volumes": 1}}, "spec.volumes: expected a list, got an integer"),
        ({"metadata": {"annotations": {"a": 1}}}, "metadata.annotations[a]: expected a string, got an integer"),
    ],
)
def test_an_object_of_another_shape_is_refused_and_the_place_is_named(manifest: Manifest, problem: str) -> None:
    assert inject_annotations({"apiVersion": "v1", "kind": "Pod", **manifest}) == Failure(problem)


def test_an_object_that_refers_to_nothing_loses_its_stale_annotations_and_gets_no_empty_ones() -> None:
    stale = {"apiVersion": "v1", "kind": "Pod", "metadata": {"annotations": {f"{PREFIX}secret-1": "gone"}}}
    plain = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "app"}}

    assert inject_annotations(stale) == Success({"apiVersion": "v1", "kind": "Pod", "metadata": {}})
    assert inject_annotations(plain).unwrap() is plain


def managed_resource(*names: str) -> dict[str, Any]:
    return {
        "apiVersion": "resources.gardener.cloud/v1alpha1",
        "kind": "ManagedResource",
        "metadata": {"name": "one"},
        "spec": {"secretRefs": [{"name": secret} for secret in names]},
    }


NAMES = st.sampled_from(("a", "b", "c", ""))
ITEMS = st.fixed_dictionaries({}, optional={"secret": st.fixed_dictionaries({"secretName": NAMES}),
                                            "configMap": st.fixed_dictionaries({"name": NAMES})})  # fmt: skip
ANNOTATIONS = st.dictionaries(
    st.sampled_from(("own", "checksum", f"{PREFIX}secret-1234567", f"{PREFIX}configmap-x-y", f"{PREFIX}")),
    st.text(max_size=3),
)
PODS = st.fixed_dictionaries({"volumes": st.lists(ITEMS, max_size=4)})
OBJECTS = st.builds(
    lambda kind, pod_spec, outer, inner: running(kind[0], kind[1], kind[2], pod_spec, outer=outer, inner=inner),
    st.sampled_from(KINDS), PODS, ANNOTATIONS, ANNOTATIONS,
) | st.builds(lambda names: managed_resource(*names), st.lists(NAMES, max_size=3))  # fmt: skip


@given(OBJECTS, st.sampled_from(((), ("foo",), ("foo", f"{PREFIX}foo-1"))))
def test_a_second_injection_changes_nothing(manifest: Manifest, additional: tuple[str, ...]) -> None:
    once = inject_annotations(manifest, *additional).unwrap()

    assert inject_annotations(once, *additional).unwrap() is once


@given(OBJECTS)
def test_nothing_but_annotations_of_references_changes_and_the_input_stays_as_it_was(manifest: Any) -> None:
    before = copy.deepcopy(manifest)

    injected = inject_annotations(manifest).unwrap()

    assert without_references(injected) == without_references(manifest)
    assert manifest == before


def without_references(value: Any) -> Any:
    """A value without the annotations that refer to something, and without mappings that are empty then."""
    if not isinstance(value, dict):
        return value
    kept = {name: without_references(member) for name, member in value.items() if not name.startswith(PREFIX)}
    return {name: member for name, member in kept.items() if member != {}}
