"""ManagedResources as tools read and make them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.api.resources_v1alpha1 import ManagedResource, ManagedResourceSpec, SecretReference
from hedgerow.api.shape import ObjectMeta, read

HEAD = {"apiVersion": "resources.gardener.cloud/v1alpha1", "kind": "ManagedResource"}

texts = st.text(max_size=3)
maps = st.dictionaries(texts, texts, max_size=2)
nothing_known = {"somethingNew": st.recursive(st.none() | st.integers(), lambda each: st.lists(each, max_size=2))}


def object_of(required: dict[str, Any] | None = None, /, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(required or {}, optional={**fields, **nothing_known})


moments = st.just("2026-01-01T12:00:00Z")
conditions = object_of(
    {
        **dict.fromkeys(("type", "status", "reason", "message"), texts),
        **dict.fromkeys(("lastTransitionTime", "lastUpdateTime"), moments),
    },
    codes=st.lists(texts, max_size=2),
)
references = object_of(
    labels=maps,
    annotations=maps,
    **dict.fromkeys(("apiVersion", "kind", "name", "namespace", "uid", "resourceVersion", "fieldPath"), texts),
)
specs = object_of(
    {"secretRefs": st.lists(object_of({"name": texts}), max_size=2)},
    injectLabels=maps,
    equivalences=st.lists(st.lists(object_of({"group": texts, "kind": texts}), max_size=2), max_size=2),
    **{"class": texts},
    **dict.fromkeys(
        ("forceOverwriteLabels", "forceOverwriteAnnotations", "keepObjects", "deletePersistentVolumeClaims"),
        st.booleans(),
    ),
)
statuses = object_of(
    conditions=st.lists(conditions, max_size=2),
    observedGeneration=st.integers(0, 2**63 - 1),
    resources=st.lists(references, max_size=2),
    secretsDataChecksum=texts,
)
manifests = object_of(
    {"apiVersion": st.just(HEAD["apiVersion"]), "kind": st.just(HEAD["kind"])},
    metadata=object_of(name=texts, labels=maps, finalizers=st.lists(texts, max_size=2), creationTimestamp=moments),
    spec=specs,
    status=statuses,
)


@given(manifests)
def test_what_is_read_is_written_as_it_was_with_what_no_type_declares(manifest: dict[str, Any]) -> None:
    assert read(ManagedResource, manifest).unwrap().manifest() == manifest


def test_what_a_manifest_leaves_out_has_the_meaning_of_the_field_table() -> None:
    absent = ManagedResource.model_validate({**HEAD, "spec": {"secretRefs": [], "class": None}, "status": None})

    assert (absent.spec.class_, absent.spec.secret_refs, absent.spec.keep_objects) == ("", (), False)
    assert (absent.status.conditions, absent.status.observed_generation) == ((), 0)
    assert absent.manifest() == {**HEAD, "spec": {"secretRefs": []}}


def test_a_tool_makes_one_with_the_names_of_python() -> None:
    made = ManagedResource(
        metadata=ObjectMeta(name="shop", namespace="garden"),
        spec=ManagedResourceSpec(class_="seed", secret_refs=(SecretReference(name="shop-1"),)),
    )

    assert made.manifest() == {
        **HEAD,
        "metadata": {"name": "shop", "namespace": "garden"},
        "spec": {"class": "seed", "secretRefs": [{"name": "shop-1"}]},
    }


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"kind": "Secret"}, 'kind: expected "ManagedResource", got "Secret"'),
        ({"kind": None}, "kind: must be set"),
        ({"spec": {}}, "spec.secretRefs: must be set"),
        ({"spec": {"secretRefs": [{}]}}, "spec.secretRefs[0].name: must be set"),
        ({"spec": {"secretRefs": {}}}, "spec.secretRefs: expected a list, got an object"),
        (
            {"spec": {"secretRefs": [], "keepObjects": "yes"}},
            "spec.keepObjects: expected a boolean, got a string",
        ),
        (
            {"spec": {"secretRefs": [], "injectLabels": {"a/b": 1}}},
            "spec.injectLabels[a/b]: expected a string, got an integer",
        ),
        ({"metadata": {"labels": {1: "a"}}}, "metadata.labels[1]: expected a string as key, got an integer"),
        (
            {"status": {"observedGeneration": 2**63}},
            "status.observedGeneration: expected an integer of 64 bits, got a longer one",
        ),
        (
            {"metadata": {"deletionTimestamp": "soon"}},
            'metadata.deletionTimestamp: expected a time such as "2026-01-01T12:00:00Z", got "soon"',
        ),
    ],
)
def test_what_does_not_fit_is_said_in_a_sentence(fields: dict[str, Any], sentence: str) -> None:
    assert [str(error) for error in read(ManagedResource, {**HEAD, **fields}).failure()] == [sentence]


def test_a_document_says_itself_what_it_is() -> None:
    assert [str(error) for error in read(ManagedResource, {"metadata": 1}).failure()] == [
        "apiVersion: must be set",
        "kind: must be set",
        "metadata: expected an object, got an integer",
    ]


def test_a_document_that_is_no_object_is_said_to_be_none() -> None:
    assert [str(error) for error in read(ManagedResource, 7).failure()] == ["expected an object, got an integer"]
