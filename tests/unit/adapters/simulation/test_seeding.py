"""A cluster that was restored from manifests."""

import base64
from typing import Any

from hedgerow.machinery.objects import Kind, Manifest, ObjectKey
from hedgerow_adapters.files.sources import LoadedObject, Source
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.simulation.seeding import applied, seeded_cluster

DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "tills.example.org"},
    "spec": {
        "group": "example.org",
        "names": {"kind": "Till", "plural": "tills"},
        "scope": "Cluster",
        "versions": [{"name": "v1", "served": True, "storage": True}],
    },
}


def seeded(*manifests: Manifest) -> InMemoryCluster:
    cluster, problems = seeded_cluster([LoadedObject(each, Source("file.yaml", 1)) for each in manifests])
    assert problems == ()
    return cluster


def found(cluster: InMemoryCluster, manifest: Manifest, namespace: str = "default") -> Any:
    resource = cluster.resource_of(Kind.of(manifest))
    assert resource is not None
    return cluster.get(resource, ObjectKey(namespace, manifest["metadata"]["name"]))


def test_status_and_what_tells_one_object_from_another_are_restored() -> None:
    metadata = {"name": "web", "uid": "u-1", "generation": 7, "creationTimestamp": "2020-01-01T00:00:00Z"}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    manifest = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {**metadata, "resourceVersion": "77"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template},
        "status": {"observedGeneration": 7},
    }

    live = found(seeded(manifest), manifest)

    assert live["metadata"].items() >= metadata.items()
    assert live["status"] == {"observedGeneration": 7}


def test_objects_have_the_versions_by_which_others_refer_to_them() -> None:
    one, other, new, odd, long = (
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **version}}
        for name, version in (
            ("one", {"resourceVersion": "1234"}),
            ("other", {"resourceVersion": "7"}),
            ("new", {}),
            ("odd", {"resourceVersion": "x"}),
            ("long", {"resourceVersion": "1" * 5000}),
        )
    )
    cluster = seeded(one, other, new, odd, long)

    assert [found(cluster, each)["metadata"]["resourceVersion"] for each in (one, other)] == ["1234", "7"]
    assert found(cluster, new)["metadata"]["resourceVersion"].isdecimal()
    assert found(cluster, odd)["metadata"]["resourceVersion"].isdecimal()
    assert len(found(cluster, long)["metadata"]["resourceVersion"]) < 20
    assert int(cluster.resource_version) >= 1234


def test_what_is_being_deleted_has_been_so_since_then() -> None:
    manifest = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c", "deletionTimestamp": "2020-01-01T00:00:00Z", "finalizers": ["example.org/held"]},
    }

    metadata = found(seeded(manifest), manifest)["metadata"]

    assert (metadata["deletionTimestamp"], metadata["finalizers"]) == ("2020-01-01T00:00:00Z", ["example.org/held"])


def test_a_definition_says_where_its_objects_live_wherever_it_stands() -> None:
    till = {"apiVersion": "example.org/v1", "kind": "Till", "metadata": {"name": "t", "namespace": "default"}}

    assert found(seeded(till, DEFINITION), till, namespace="") is not None
    assert found(seeded(till), till) is not None


def test_kinds_without_rules_keep_what_they_are_given() -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "status": {"succeeded": 1}}

    assert found(seeded(job), job)["status"] == {"succeeded": 1}


def test_what_no_server_would_store_is_told_with_its_place() -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"ports": [{"port": 0}]}}

    _, problems = seeded_cluster([LoadedObject(service, Source("file.yaml", 3))])

    assert [str(problem.source) for problem in problems] == ["file.yaml:3"]


def test_a_request_for_a_certificate_is_decided_as_it_was() -> None:
    pem = base64.b64encode(b"-----BEGIN CERTIFICATE REQUEST-----\nAA==\n-----END CERTIFICATE REQUEST-----\n").decode()
    time = "2020-01-01T00:00:00Z"
    approval = {"type": "Approved", "status": "True", "lastUpdateTime": time, "lastTransitionTime": time}
    request = {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": "csr-1"},
        "spec": {"request": pem, "signerName": "kubernetes.io/kubelet-serving", "usages": ["server auth"]},
        "status": {"conditions": [approval]},
    }

    assert found(seeded(request), request, namespace="")["status"] == {"conditions": [approval]}


def test_what_is_applied_later_takes_the_place_of_what_was_there() -> None:
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l", "namespace": "default"}}
    cluster = seeded({**lease, "spec": {"holderIdentity": "a"}})

    problems = applied(cluster, [LoadedObject({**lease, "spec": {"holderIdentity": "b"}}, Source("later.yaml", 1))])

    assert problems == ()
    assert found(cluster, lease)["spec"] == {"holderIdentity": "b"}
