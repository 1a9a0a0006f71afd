"""What may be deleted, row by row of the specification."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.admission import AdmissionRequest, Allowed, Denied, deletion
from hedgerow.admission.deletion_protection import (
    CUSTOM_RESOURCES,
    DEFINITIONS,
    confirm_deletion,
    is_protected_crd,
    review,
    webhook,
)
from hedgerow.admission.request import GroupVersionKind, GroupVersionResource
from hedgerow.api.gardener import DELETION_CONFIRMATION, DELETION_PROTECTED
from hedgerow.api.kubernetes import CUSTOM_RESOURCE_DEFINITIONS, PODS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow.machinery.patches import apply_merge_patch
from hedgerow.machinery.questions import Found, ListQuestion, NotAnswered
from tests.unit.core.admission.world import decided, told

INFRASTRUCTURES = next(each for each in CUSTOM_RESOURCES if each.plural == "infrastructures")
BACKUP_BUCKETS = next(each for each in CUSTOM_RESOURCES if each.plural == "backupbuckets")
BASTIONS = Resource("extensions.gardener.cloud", "v1alpha1", "bastions", "Bastion")
CLUSTERS = Resource("extensions.gardener.cloud", "v1alpha1", "clusters", "Cluster", namespaced=False)
NOT_CONFIRMED = Denied(403, 'must have a "confirmation.gardener.cloud/deletion" annotation to delete', "Forbidden")
NOT_PROTECTED = Allowed(message="resource is not deletion-protected")
PROTECTED_RESOURCES = st.sampled_from((*DEFINITIONS, *CUSTOM_RESOURCES))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(("metadata", "annotations", "labels", DELETION_CONFIRMATION)), inner, max_size=3
        )
    ),
)


def one(resource: Resource = INFRASTRUCTURES, confirmation: str | None = None, **metadata: Any) -> Manifest:
    annotations = {} if confirmation is None else {DELETION_CONFIRMATION: confirmation}
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": {"namespace": "shop" if resource.namespaced else "", "name": "one", "annotations": annotations}
        | metadata,
    }


def request(resource: Resource, *, operation: str = "DELETE", name: str = "one", **objects: Any) -> AdmissionRequest:
    return AdmissionRequest(
        kind=GroupVersionKind(resource.group, resource.version, resource.kind),
        resource=GroupVersionResource(resource.group, resource.version, resource.plural),
        operation=operation,
        namespace="shop" if resource.namespaced else "",
        name=name,
        **objects,
    )


def of_collection(resource: Resource = INFRASTRUCTURES) -> AdmissionRequest:
    return request(resource, name="", old_object=one(resource, "true"))


OBJECTS = JSON | st.builds(
    one, confirmation=st.none() | st.sampled_from(("true", "1", "no", "TRue")) | st.text(max_size=4)
)


@pytest.mark.parametrize(
    "operation", [pytest.param(each, id=f"X01-{each}") for each in ("CREATE", "UPDATE", "CONNECT")]
)
def test_other_operations_pass(operation: str) -> None:
    asked = request(INFRASTRUCTURES, operation=operation, old_object=one())

    assert review(asked) == Allowed(message="operation is not DELETE")


@pytest.mark.parametrize(
    "resource",
    [
        pytest.param(Resource("foo", "v1", "infrastructures", "Infrastructure"), id="X02"),
        pytest.param(BASTIONS, id="X06-bastion"),
        pytest.param(CLUSTERS, id="X06-cluster"),
        pytest.param(PODS, id="X16"),
        pytest.param(INFRASTRUCTURES._replace(version="v1"), id="another-version"),
    ],
)
def test_other_resources_pass(resource: Resource) -> None:
    assert review(deletion(resource, one(resource))) == NOT_PROTECTED
    assert review(of_collection(resource)) == NOT_PROTECTED


def test_what_is_protected() -> None:
    assert {f"{each}/{each.version}" for each in DEFINITIONS} == {
        "customresourcedefinitions.apiextensions.k8s.io/v1",
        "customresourcedefinitions.apiextensions.k8s.io/v1beta1",
    }
    assert {f"{each}/{each.version}" for each in CUSTOM_RESOURCES} == {
        "etcds.druid.gardener.cloud/v1alpha1",
        *(
            f"{plural}.extensions.gardener.cloud/v1alpha1"
            for plural in (
                *("backupbuckets", "backupentries", "containerruntimes", "controlplanes", "dnsrecords", "extensions"),
                *("infrastructures", "networks", "operatingsystemconfigs", "workers"),
            )
        ),
    }


@pytest.mark.parametrize("resource", [*DEFINITIONS, *CUSTOM_RESOURCES], ids=lambda each: f"{each}-{each.version}")
def test_what_is_protected_needs_a_confirmation(resource: Resource) -> None:
    assert review(deletion(resource, one(resource))) == NOT_CONFIRMED  # X03, X07
    assert review(deletion(resource, one(resource, "true"))) == Allowed()


@pytest.mark.parametrize(
    "confirmation", [pytest.param(each, id=f"X04-{each}") for each in ("true", "True", "TRUE", "t", "1")]
)
def test_a_confirmation_is_any_text_that_is_true(confirmation: str) -> None:
    assert review(deletion(INFRASTRUCTURES, one(confirmation=confirmation))) == Allowed()


@pytest.mark.parametrize(
    "confirmation", [pytest.param(each, id=f"X05-{each}") for each in ("false", "yes", "", " true")]
)
def test_other_texts_do_not_confirm(confirmation: str) -> None:
    assert review(deletion(INFRASTRUCTURES, one(confirmation=confirmation))) == NOT_CONFIRMED


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        pytest.param(None, "no object found in admission request", id="X08"),
        pytest.param("text", "the object to delete is no JSON object", id="X09"),
        pytest.param(
            {"metadata": {"annotations": []}}, "metadata.annotations: expected an object, got a list", id="annotations"
        ),
    ],
)
def test_without_a_readable_object_nothing_is_decided(manifest: Any, message: str) -> None:
    assert review(request(INFRASTRUCTURES, old_object=manifest)) == Denied(500, message)


@pytest.mark.parametrize(
    ("confirmation", "decision"),
    [pytest.param(None, NOT_CONFIRMED, id="X15"), pytest.param("true", Allowed(), id="X15-confirmed")],
)
def test_without_an_old_object_the_object_counts(confirmation: str | None, decision: Any) -> None:
    assert review(request(INFRASTRUCTURES, object=one(confirmation=confirmation))) == decision


def test_an_old_object_counts_before_the_object() -> None:
    assert review(request(INFRASTRUCTURES, old_object=one(), object=one(confirmation="true"))) == NOT_CONFIRMED


@pytest.mark.parametrize(
    ("confirmations", "decision"),
    [
        pytest.param([], Allowed(), id="X10"),
        pytest.param(["true", None], NOT_CONFIRMED, id="X11"),
        pytest.param(["true", "1"], Allowed(), id="X12"),
    ],
)
def test_a_collection_needs_the_confirmation_of_every_object(confirmations: list[str | None], decision: Any) -> None:
    objects = [one(confirmation=each, name=str(index)) for index, each in enumerate(confirmations)]
    elsewhere = one(namespace="store")

    assert decided(webhook(), of_collection(), *objects, elsewhere) == decision


@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        pytest.param(NotAnswered(503, "", "the server is gone"), Denied(500, "the server is gone"), id="X13"),
        pytest.param(NotAnswered(404, "NotFound", "no such thing"), Allowed(message="object was not found"), id="X14"),
    ],
)
def test_a_collection_that_cannot_be_listed(answer: NotAnswered, decision: Any) -> None:
    question = ListQuestion(INFRASTRUCTURES, Cluster.SOURCE, "shop", metadata_only=True)

    assert told(webhook(), of_collection(), answer) == (decision, [question])


def test_of_definitions_those_count_that_are_labelled() -> None:
    labelled = one(CUSTOM_RESOURCE_DEFINITIONS, labels={DELETION_PROTECTED: "true"})
    other = one(CUSTOM_RESOURCE_DEFINITIONS, labels={DELETION_PROTECTED: "false"}, name="two")

    assert decided(webhook(), of_collection(CUSTOM_RESOURCE_DEFINITIONS), other) == Allowed()
    assert decided(webhook(), of_collection(CUSTOM_RESOURCE_DEFINITIONS), other, labelled) == NOT_CONFIRMED


def test_of_objects_without_a_namespace_all_count() -> None:
    _, questions = told(webhook(), of_collection(BACKUP_BUCKETS), Found(()))

    assert questions == [ListQuestion(BACKUP_BUCKETS, Cluster.SOURCE, metadata_only=True)]


def test_the_label_that_protects_a_definition() -> None:
    assert is_protected_crd({DELETION_PROTECTED: "true"})
    assert not is_protected_crd({DELETION_PROTECTED: "True"})
    assert not is_protected_crd({})


def test_the_patch_that_confirms_a_deletion() -> None:
    now = datetime(2021, 10, 4, 12, 0, 0, 120, tzinfo=timezone(timedelta(hours=2)))
    patch = confirm_deletion(one(uid="u-1"), now)

    assert patch == {
        "metadata": {
            "uid": "u-1",
            "annotations": {
                DELETION_CONFIRMATION: "true",
                "gardener.cloud/timestamp": "2021-10-04T10:00:00.000120000Z",
            },
        }
    }
    assert "uid" not in confirm_deletion(one(), now)["metadata"]
    assert review(deletion(INFRASTRUCTURES, apply_merge_patch(one(), patch))) == Allowed()


@given(PROTECTED_RESOURCES, OBJECTS, st.lists(OBJECTS, max_size=3))
def test_nothing_protected_goes_unconfirmed_and_any_value_is_survived(
    resource: Resource, value: Any, listed: list[Any]
) -> None:
    for decision, objects in (
        (review(request(resource, old_object=value)), [value]),
        (told(webhook(), of_collection(resource), Found(tuple(listed)))[0], listed),
    ):
        assert isinstance(decision, Allowed) == all(is_confirmed(each) for each in objects)


def is_confirmed(value: Any) -> bool:
    try:
        return value["metadata"]["annotations"][DELETION_CONFIRMATION] in ("1", "t", "T", "true", "TRUE", "True")
    except (TypeError, KeyError, IndexError):
        return False


def test_nothing_is_kept_in_caches() -> None:
    assert webhook().reads == ()


def test_time_zones_do_not_matter() -> None:
    noon = datetime(2021, 10, 4, 12, tzinfo=UTC)

    assert confirm_deletion(one(), noon) == confirm_deletion(one(), noon.astimezone(timezone(timedelta(hours=5))))
