"""Which objects a ManagedResource asks for, and what becomes of those that it asked for before."""

import hashlib
import json
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure, Result

from hedgerow.api.managed_resources import MANAGED_BY, MODE
from hedgerow.machinery.objects import Kind, Manifest, Resource
from hedgerow.machinery.questions import Kinds, NotAnswered
from hedgerow.machinery.reading import UnreadableError
from hedgerow.resource_manager.managed_resources.decoding import DecodedValue, decoded_secret
from hedgerow.resource_manager.managed_resources.desired import (
    MOST_INJECTED,
    Desired,
    build_desired,
    checked_values,
    unknown_kinds,
)
from hedgerow.resource_manager.managed_resources.equivalences import MOST_EQUIVALENT_KINDS

CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
DEPLOYMENTS = Resource("apps", "v1", "deployments", "Deployment")
CLUSTER_ROLES = Resource("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", namespaced=False)
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
NOT_SERVED = NotAnswered(404, "NotFound", "no such kind")
KINDS: Kinds = {
    **{each.object_kind: each for each in (CONFIG_MAPS, DEPLOYMENTS, CLUSTER_ROLES, NAMESPACES)},
    Kind("example.com/v1", "Foo"): NOT_SERVED,
    Kind("extensions/v1beta1", "Deployment"): NOT_SERVED,
}

SEED_TEXT = b"""\
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
NOTHING = hashlib.sha256(b"").hexdigest()
GARDENER = {MANAGED_BY: "gardener"}


def never(_compressed: bytes) -> tuple[Result[bytes, str], ...]:
    return (Failure("is compressed"),)


def values(**data: bytes) -> tuple[DecodedValue, ...]:
    encoded = {key: b64encode(value).decode() for key, value in data.items()}
    return decoded_secret({"metadata": {"namespace": "default", "name": "s"}, "data": encoded}, never)


def in_json(*manifests: Any) -> tuple[DecodedValue, ...]:
    return values(k="\n".join(map(json.dumps, manifests)).encode())


def manifest(resource: Resource | Kind, name: str, namespace: str = "", **metadata: Any) -> dict[str, Any]:
    if namespace:
        metadata["namespace"] = namespace
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": {"name": name, **metadata},
    }


def managed_resource(*references: Manifest, **spec: Any) -> Manifest:
    status = {"resources": list(references)} if references else {}
    return {"metadata": {"namespace": "default", "name": "example"}, "spec": spec, "status": status}


def desired(decoded: tuple[DecodedValue, ...], *references: Manifest, kinds: Kinds = KINDS, **spec: Any) -> Desired:
    checksum = hashlib.sha256(b"".join(checked_values(decoded))).hexdigest()
    return build_desired(managed_resource(*references, **spec), decoded, kinds, "gardener", checksum)


def reference(resource: Resource | Kind, name: str, namespace: str = "default", **texts: Any) -> dict[str, Any]:
    entry = {"apiVersion": resource.api_version, "kind": resource.kind, "name": name, "labels": GARDENER, **texts}
    return entry | ({"namespace": namespace} if namespace else {})


def names(references: Any) -> list[str]:
    return [str(each) for each in references]


def test_two_config_maps_are_desired_referred_to_and_counted() -> None:
    found = desired(values(objects=SEED_TEXT))

    assert names(found.objects) == ["v1/ConfigMap/default/test-1234", "v1/ConfigMap/default/test-5678"]
    assert [each.resource for each in found.objects] == [CONFIG_MAPS, CONFIG_MAPS]
    assert found.in_status() == [reference(CONFIG_MAPS, "test-1234"), reference(CONFIG_MAPS, "test-5678")]
    assert found.checksum == "0ad7eec18c1e9b302706f89b57f9731c3781ac80b19d4cd19d4f007ce69cc073"
    assert (found.left, found.kept, found.orphans, found.repeated, found.decoding_errors) == ((), (), (), (), ())


def test_labels_are_injected_into_references_and_who_manages_is_not_theirs_to_say() -> None:
    labelled = manifest(CONFIG_MAPS, "a", labels={"a": "1", "b": "1"}, annotations={"c": "1"})

    found = desired(in_json(labelled), injectLabels={"b": "2", MANAGED_BY: "foo"})

    assert found.in_status() == [
        reference(CONFIG_MAPS, "a", labels={"a": "1", "b": "2", **GARDENER}, annotations={"c": "1"})
    ]
    assert found.objects[0].manifest["metadata"]["labels"] == {"a": "1", "b": "1"}


@pytest.mark.parametrize(
    ("resource", "given_namespace", "expected"),
    [
        pytest.param(CONFIG_MAPS, "", "default", id="namespaced without one"),
        pytest.param(CONFIG_MAPS, "web", "web", id="namespaced with one"),
        pytest.param(CLUSTER_ROLES, "web", "", id="cluster-scoped with one"),
        pytest.param(CLUSTER_ROLES, "", "", id="cluster-scoped without one"),
        pytest.param(NAMESPACES, "", "", id="Namespace"),
        pytest.param(Kind("example.com/v1", "Foo"), "", "default", id="not served, without one"),
        pytest.param(Kind("example.com/v1", "Foo"), "web", "web", id="not served, with one"),
    ],
)
def test_scopes_say_which_objects_have_a_namespace(
    resource: Resource | Kind, given_namespace: str, expected: str
) -> None:
    found = desired(in_json(manifest(resource, "a", given_namespace)))

    assert [each.manifest for each in found.objects] == [manifest(resource, "a", expected)]
    assert found.in_status() == [reference(resource, "a", expected)]


def test_a_namespace_has_none_even_as_long_as_its_kind_is_unknown() -> None:
    kinds = {NAMESPACES.object_kind: NotAnswered(503, "", "not now")}

    assert desired(in_json(manifest(NAMESPACES, "a")), kinds=kinds).in_status() == [reference(NAMESPACES, "a", "")]


def test_references_are_sorted_by_group_kind_namespace_and_name() -> None:
    found = desired(in_json(manifest(DEPLOYMENTS, "nginx", "web"), manifest(CONFIG_MAPS, "foo", "bar")))

    assert names(found.references) == ["v1/ConfigMap/bar/foo", "apps/v1/Deployment/web/nginx"]
    assert names(found.objects) == ["apps/v1/Deployment/web/nginx", "v1/ConfigMap/bar/foo"]


def test_what_is_mentioned_no_longer_is_left() -> None:
    before = [reference(CONFIG_MAPS, "b"), reference(CONFIG_MAPS, "a"), reference(CONFIG_MAPS, "c")]

    found = desired(in_json(manifest(CONFIG_MAPS, "b")), *before)

    assert names(found.left) == ["v1/ConfigMap/default/a", "v1/ConfigMap/default/c"]
    assert names(desired((), *before).left) == [f"v1/ConfigMap/default/{name}" for name in "abc"]
    assert desired((), *before).checksum == NOTHING


def test_a_reference_that_names_nothing_is_never_left() -> None:
    assert desired((), {"apiVersion": "v1", "kind": "ConfigMap", "namespace": "default"}, {"name": "a"}).left == ()


def test_what_the_last_status_says_of_an_object_goes_with_it() -> None:
    old = reference(
        Kind("extensions/v1beta1", "Deployment"), "a", labels={"a": "1"}, annotations={"b": "1"}, uid="never set"
    )

    (moved, new) = desired(in_json(manifest(DEPLOYMENTS, "a"), manifest(DEPLOYMENTS, "b")), old).objects

    assert moved.was_applied
    assert moved.previous is not None
    assert (moved.previous.labels, moved.previous.annotations) == ({"a": "1"}, {"b": "1"})
    assert (new.was_applied, new.previous) == (False, None)


@pytest.mark.parametrize(
    ("old", "new", "spec"),
    [
        pytest.param(
            reference(Kind("extensions/v1beta1", "Deployment"), "a"), manifest(DEPLOYMENTS, "a"), {}, id="moved kind"
        ),
        pytest.param(
            reference(Kind("example.com/v1", "Foo"), "a"),
            manifest(CONFIG_MAPS, "a"),
            {"equivalences": [[{"group": "example.com", "kind": "Foo"}, {"group": "", "kind": "ConfigMap"}]]},
            id="declared equivalence",
        ),
        pytest.param(reference(CLUSTER_ROLES, "a"), manifest(CLUSTER_ROLES, "a"), {}, id="scope known by now"),
        pytest.param(
            reference(Kind("v1alpha1", "ConfigMap"), "a"), manifest(CONFIG_MAPS, "a"), {}, id="another version"
        ),
    ],
)
def test_an_object_is_found_under_all_its_names(old: Manifest, new: Manifest, spec: Any) -> None:
    found = desired(in_json(new), old, **spec)

    assert found.left == ()
    assert found.objects[0].was_applied


def test_an_object_of_mode_ignore_is_released_if_it_was_applied() -> None:
    ignored = manifest(CONFIG_MAPS, "a", annotations={MODE: "Ignore"})

    never_applied, applied = desired(in_json(ignored)), desired(in_json(ignored), reference(CONFIG_MAPS, "a"))

    for found in (never_applied, applied):
        assert (found.objects, found.references, found.left, found.checksum) == ((), (), (), NOTHING)
    assert names(never_applied.orphans) == []
    assert names(applied.orphans) == ["v1/ConfigMap/default/a"]


def test_an_object_that_one_document_wants_is_not_released_because_of_another() -> None:
    ignored = manifest(CONFIG_MAPS, "a", annotations={MODE: "Ignore"})

    found = desired(in_json(manifest(CONFIG_MAPS, "a"), ignored), reference(CONFIG_MAPS, "a"))

    assert found.orphans == ()
    assert names(found.objects) == ["v1/ConfigMap/default/a"]


def test_the_mode_counts_as_it_is_spelt() -> None:
    assert len(desired(in_json(manifest(CONFIG_MAPS, "a", annotations={MODE: "ignore"}))).objects) == 1


def test_of_an_object_that_occurs_several_times_the_last_counts() -> None:
    first = manifest(CONFIG_MAPS, "a") | {"data": {"n": "1"}}
    last = manifest(CONFIG_MAPS, "a", "default") | {"data": {"n": "2"}}

    found = desired(in_json(first, manifest(CONFIG_MAPS, "b"), last))

    assert [(each.identity.name, each.manifest.get("data")) for each in found.objects] == [
        ("b", None),
        ("a", {"n": "2"}),
    ]
    assert names(found.references) == [f"v1/ConfigMap/default/{name}" for name in "aab"]
    assert [str(identity) for identity in found.repeated] == ["/ConfigMap/default/a"]


def test_the_checksum_takes_in_a_value_once_for_each_object_in_it() -> None:
    a, b = json.dumps(manifest(CONFIG_MAPS, "a")).encode(), json.dumps(manifest(CONFIG_MAPS, "b")).encode()
    ignored = json.dumps(manifest(CONFIG_MAPS, "c", annotations={MODE: "Ignore"})).encode()

    found = desired(values(x=a + b + ignored, y=b"{", z=b) + values(a=a))

    assert found.checksum == hashlib.sha256((a + b + ignored) * 2 + b + a).hexdigest()


def test_as_long_as_something_cannot_be_decoded_nothing_is_left() -> None:
    before = [reference(CONFIG_MAPS, "gone", labels={"old": "label"}), reference(CONFIG_MAPS, "a")]

    found = desired(values(a=b"foo: [", b=json.dumps(manifest(CONFIG_MAPS, "a")).encode()), *before)

    assert names(found.objects) == ["v1/ConfigMap/default/a"]
    assert found.left == ()
    assert names(found.kept) == ["v1/ConfigMap/default/gone"]
    assert found.in_status() == [reference(CONFIG_MAPS, "a"), before[0]]
    (error,) = found.decoding_errors
    assert error.startswith("Could not decode resource at index 0 in 'a' in secret 'default/s': ")


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        pytest.param({"metadata": {"creationTimestamp": None}}, "apiVersion is missing", id="no version"),
        pytest.param({"apiVersion": "v1", "metadata": {"name": "a"}}, "kind is missing", id="no kind"),
        pytest.param({**manifest(CONFIG_MAPS, "a"), "kind": ["x"]}, "kind: expected a string, got a list", id="kind"),
        pytest.param({**manifest(CONFIG_MAPS, "a"), "metadata": None}, "metadata.name is missing", id="no metadata"),
        pytest.param(
            {**manifest(CONFIG_MAPS, "a"), "metadata": "a"}, "metadata: expected an object, got a string", id="metadata"
        ),
        pytest.param(
            manifest(CONFIG_MAPS, "", generateName="a-"), "metadata.name is missing", id="name left to the server"
        ),
        pytest.param(
            {**manifest(CONFIG_MAPS, "a"), "metadata": {"name": 1234}},
            "metadata.name: expected a string, got an integer",
            id="name",
        ),
        pytest.param(
            {**manifest(CONFIG_MAPS, "a"), "metadata": {"name": "a", "namespace": 5}},
            "metadata.namespace: expected a string, got an integer",
            id="namespace",
        ),
    ],
)
def test_an_object_that_cannot_be_looked_up_is_to_fail_and_nothing_is_left_for_it_may_be_that(
    document: Manifest, problem: str
) -> None:
    found = desired(in_json(document, manifest(CONFIG_MAPS, "b")), reference(CONFIG_MAPS, "1234"))

    unusable, usable = found.objects
    assert (unusable.problem, usable.problem) == (problem, None)
    assert isinstance(unusable.resource, NotAnswered)
    assert isinstance(unusable.manifest["metadata"], dict)
    assert found.left == ()
    assert names(found.kept) == ["v1/ConfigMap/default/1234"]
    assert unknown_kinds(in_json(document), {}) in {(), (CONFIG_MAPS.object_kind,)}


@pytest.mark.parametrize("labels", [{"a": "1", "b": 2, "c": None}, "none", ["a"]])
def test_labels_that_are_no_texts_stay_in_the_object_and_out_of_its_reference(labels: Any) -> None:
    found = desired(in_json(manifest(CONFIG_MAPS, "a", labels=labels, annotations=labels)))

    kept = {"a": "1"} if isinstance(labels, dict) else {}
    assert found.references[0].labels == kept | GARDENER
    assert found.references[0].annotations == kept
    assert found.objects[0].manifest["metadata"]["labels"] == labels


def test_kinds_that_have_not_been_looked_up_are_asked_for_once() -> None:
    foo, bar = Kind("example.com/v1", "Foo"), Kind("example.com/v1", "Bar")
    ignored = manifest(bar, "a", annotations={MODE: "Ignore"})

    decoded = in_json(manifest(foo, "a"), manifest(CONFIG_MAPS, "a"), ignored, manifest(foo, "b"))

    assert unknown_kinds(decoded, {}) == (foo, CONFIG_MAPS.object_kind, bar)
    assert unknown_kinds(decoded, KINDS) == (bar,)


def status_of(found: Desired, **other: Any) -> dict[str, Any]:
    return {"resources": found.in_status(), "secretsDataChecksum": found.checksum, **other}


def test_a_status_that_tells_the_same_is_not_changed() -> None:
    found = desired(in_json(manifest(CLUSTER_ROLES, "b"), manifest(CONFIG_MAPS, "a", labels={"a": "1"})))

    assert not found.changed(status_of(found))
    assert not found.changed(
        status_of(found, resources=[{"annotations": {}, "namespace": "", **each} for each in found.in_status()])
    )


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({"secretsDataChecksum": None}, id="no checksum"),
        pytest.param({"secretsDataChecksum": NOTHING}, id="another checksum"),
        pytest.param({"resources": []}, id="no references"),
        pytest.param({"resources": [reference(CONFIG_MAPS, "a", labels={})]}, id="other labels"),
        pytest.param({"resources": [reference(CONFIG_MAPS, "a")] * 2}, id="an object twice"),
    ],
)
def test_a_status_that_tells_something_else_is_changed(other: Any) -> None:
    found = desired(in_json(manifest(CONFIG_MAPS, "a")))

    assert found.changed(status_of(found, **other))
    assert found.changed({})
    assert desired(()).changed({})
    assert not desired(()).changed({"secretsDataChecksum": NOTHING})


@pytest.mark.parametrize(
    "spec",
    [{"injectLabels": {"a": 1}}, {"equivalences": [{"group": "a"}]}, {"equivalences": [[{"group": 1, "kind": "a"}]]}],
)
def test_a_spec_of_another_shape_is_no_ones_to_guess(spec: Any) -> None:
    with pytest.raises(UnreadableError):
        desired(in_json(manifest(CONFIG_MAPS, "a")), **spec)


BROKEN = st.sampled_from([b"foo: [", b'{"a":', b"--- a", b"[]\n", b"\xff", b"a: .nan", b"a: !!set {b}"])
NAMES = st.sets(st.sampled_from("abcdef"))


@given(before=NAMES, now=NAMES, broken=BROKEN, position=st.sampled_from(["0", "k", "z"]))
def test_what_cannot_be_decoded_never_leads_to_a_deletion(
    before: set[str], now: set[str], broken: bytes, position: str
) -> None:
    old = [reference(CONFIG_MAPS, name) for name in sorted(before)]
    data = {f"k{name}": json.dumps(manifest(CONFIG_MAPS, name)).encode() for name in now}

    found = desired(values(**data, **{position: broken}), *old)
    mended = desired(values(**data), *old)

    assert found.left == ()
    assert {each.key.name for each in found.references} == before | now
    assert found.kept == mended.left
    assert found.objects == mended.objects


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "a", "v1", "Foo"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "namespace", "a"]), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["apiVersion", "kind", "metadata", "spec"]), JSON))
def test_an_object_of_any_shape_is_desired_or_told_to_be_wrong(document: Manifest) -> None:
    decoded = in_json(document)
    kinds: Kinds = dict.fromkeys(unknown_kinds(decoded, {}), NOT_SERVED)

    found = desired(decoded, kinds=kinds)

    for each in found.objects:
        assert each.problem or (each.identity.name == document["metadata"]["name"])
        assert isinstance(str(each), str)


def test_what_kubectl_copies_into_an_annotation_is_no_part_of_the_status() -> None:
    """It holds the values of Secrets, and who may read ManagedResources need not be allowed to read Secrets."""
    copied = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "team": "a"}
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "annotations": copied}}

    desired = build_desired({}, values(a=json.dumps(document).encode()), KINDS, "gardener", "")

    assert [dict(each.annotations) for each in desired.references] == [{"team": "a"}]
    assert desired.objects[0].manifest["metadata"]["annotations"] == copied


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        pytest.param(
            {"equivalences": [[{"kind": f"k{number}"}] for number in range(MOST_EQUIVALENT_KINDS + 1)]},
            f"spec.equivalences: holds more than {MOST_EQUIVALENT_KINDS} kinds",
            id="equivalent kinds",
        ),
        pytest.param(
            {"equivalences": [[] for _ in range(MOST_EQUIVALENT_KINDS + 1)]},
            f"spec.equivalences: holds more than {MOST_EQUIVALENT_KINDS} kinds",
            id="empty sets of kinds",
        ),
        pytest.param(
            {"injectLabels": {"a": "x" * MOST_INJECTED}},
            f"spec.injectLabels: holds more than {MOST_INJECTED} characters",
            id="labels to inject",
        ),
    ],
)
def test_a_spec_that_multiplies_the_work_for_each_object_is_refused(spec: dict[str, Any], problem: str) -> None:
    with pytest.raises(UnreadableError) as raised:
        desired(in_json(manifest(CONFIG_MAPS, "a")), **spec)

    assert str(raised.value) == problem
    assert str(raised.value.below("item")) == f"item.{problem}"
