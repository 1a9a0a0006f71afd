"""What is kept of live objects tells as much as the whole of them, and no more than is asked for."""

import json
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.api.gardener import HVPAS
from hedgerow.api.kubernetes import HORIZONTAL_POD_AUTOSCALERS
from hedgerow.api.managed_objects import FIELDS_READ, fingerprint, is_metadata_only, transform_of
from hedgerow.api.references import managed_resource_of
from hedgerow.machinery.objects import Kind, Manifest, Resource
from hedgerow.machinery.reading import with_value
from hedgerow.resource_manager.health import object_health, object_progressing
from hedgerow.resource_manager.health.object_health import RULES, is_skipped
from hedgerow.resource_manager.health.object_progress import counts_pods, pods_of, rolls_out

KINDS = [
    *sorted(RULES),
    Kind("v1", "ConfigMap"),
    Kind("scheduling.k8s.io/v1", "PriorityClass"),
    Kind("shop/v1", "Cart"),
]
CONDITION_TYPES = (
    "Available",
    "Progressing",
    "Failed",
    "Established",
    "NamesAccepted",
    "Terminating",
    "ReplicaFailure",
)
COUNTS: Mapping[str, tuple[int, ...]] = {
    "readyReplicas": (0, 1, 2),
    "updatedReplicas": (0, 1, 2),
    "currentNumberScheduled": (2, 2, 2, 1),
    "desiredNumberScheduled": (2, 2, 2, 1),
    "numberMisscheduled": (0, 0, 0, 1),
    "numberUnavailable": (0, 2),
    "updatedNumberScheduled": (0, 2),
}
ANNOTATIONS = ("resources.gardener.cloud/origin", "resources.gardener.cloud/skip-health-check", "note")
ODDITIES: tuple[Any, ...] = (None, 7, "text", [], [None, 1], {"a": {}})


class Drawn(Random):
    """Objects by chance: near enough to real ones that every rule has something to say, now and then."""

    def some(self, members: Mapping[str, Any]) -> dict[str, Any]:
        """Most of the members."""
        return {name: value for name, value in members.items() if self.random() < 0.8}

    def few(self) -> int:
        return self.randint(0, 2)

    def live_object(self, kind: Kind) -> dict[str, Any]:
        """An object of a kind, in which one thing may have a shape that no server stores."""
        whole = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": self._metadata()}
        live = whole | {"spec": self._spec(), "status": self._status()}
        if self.random() < 0.8:
            return live
        return with_value(live, self.choice(places(live)), self.choice(ODDITIES))

    def _metadata(self) -> dict[str, Any]:
        identity = {"name": "one", "uid": "u", "resourceVersion": self.choice("12")}
        members: dict[str, Any] = {
            "namespace": "ns",
            "generation": self.few(),
            "labels": {"app": self.choice("xy")},
            "annotations": {name: self.choice(("true", "ns/one")) for name in self.sample(ANNOTATIONS, self.few())},
            "managedFields": [{}],
        }
        return identity | self.some(members) | ({"deletionTimestamp": "2026-01-01T00:00:00Z"} if self.few() else {})

    def _spec(self) -> dict[str, Any]:
        strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": self.choice((1, 2, "50%"))}}
        members: dict[str, Any] = {
            "replicas": self.few(),
            "type": self.choice(("LoadBalancer", "ClusterIP")),
            "selector": {"matchLabels": {"app": "x"}, "matchExpressions": []},
            "updateStrategy": self.some(strategy),
            "template": {"spec": {}},
        }
        return self.some(members)

    def _status(self) -> dict[str, Any]:
        conditions = [self._condition(each) for each in self.sample(CONDITION_TYPES, self.randint(3, 7))]
        members = {
            **{name: self.choice(values) for name, values in COUNTS.items()},
            "phase": self.choice(("Running", "Pending")),
            "loadBalancer": {"ingress": [{"ip": "1.1.1.1"}] * self.few()},
            "conditions": conditions,
        }
        return {"observedGeneration": self.choice((0, 2, 2, 2)), **self.some(members)}

    def _condition(self, condition_type: str) -> dict[str, Any]:
        members = {
            "status": self.choice(("True", "True", "False")),
            "reason": self.choice(("NewReplicaSetAvailable", "Other")),
            "message": self.choice(("", "m")),
            "lastUpdateTime": "2026-01-01T00:00:00Z",
        }
        return {"type": condition_type, **self.some(members)}


def places(live: Manifest) -> list[tuple[str, ...]]:
    """Where something stands in the spec or the status of an object."""

    def below(path: tuple[str, ...], value: object) -> Iterator[tuple[str, ...]]:
        yield path
        if isinstance(value, dict):
            for name, member in value.items():
                yield from below((*path, name), member)

    return [path for part in ("spec", "status") for path in below((part,), live[part])]


def resource_of(kind: Kind) -> Resource:
    return Resource(kind.group, kind.api_version.rpartition("/")[2], f"{kind.kind.lower()}s", kind.kind)


def kept(live: Manifest) -> Manifest:
    return transform_of(resource_of(Kind.of(live)))(live)


def told(kind: Kind, live: Manifest) -> tuple[Any, ...]:
    """Everything that anybody concludes from an object."""
    return (
        object_health(kind, live),
        [object_progressing(kind, live, count) for count in (None, 0, 1)],
        pods_of(live) if counts_pods(kind) else None,
        is_skipped(live),
        managed_resource_of(live, ""),
        bool(live["metadata"].get("deletionTimestamp")),
    )


@pytest.mark.parametrize("kind", KINDS, ids=str)
@given(st.integers(0, 2**64))
def test_what_is_kept_is_judged_as_the_whole(kind: Kind, seed: int) -> None:
    live = Drawn(seed).live_object(kind)

    assert told(kind, kept(live)) == told(kind, live)
    assert json.loads(json.dumps(kept(live))) == kept(live)


@given(st.sampled_from(KINDS), st.integers(0, 2**64), st.integers(0, 2**64))
def test_fingerprints_differ_exactly_where_more_than_the_status_may(kind: Kind, seed: int, other_seed: int) -> None:
    one, other = Drawn(seed).live_object(kind), Drawn(other_seed).live_object(kind)

    assert fingerprint(kept(one)) == fingerprint(one)
    assert (fingerprint(one) == fingerprint(other)) is (identity(one) == identity(other))


def identity(live: Manifest) -> tuple[Any, ...]:
    """What a fingerprint stands for."""
    metadata = live["metadata"]
    if not metadata.get("generation") or live["kind"] == "PriorityClass":
        return ("version", metadata["resourceVersion"])
    return ("generation", metadata["generation"], metadata.get("labels") or {}, metadata.get("annotations") or {})


def test_no_kind_with_rules_is_kept_without_what_they_read() -> None:
    workloads = {Kind("apps/v1", kind) for kind in ("Deployment", "StatefulSet", "DaemonSet")}

    assert set(FIELDS_READ) == set(RULES)
    assert all(rolls_out(kind) and kind in FIELDS_READ for kind in workloads)


def test_of_kinds_without_rules_metadata_is_enough() -> None:
    assert is_metadata_only(Resource("", "v1", "configmaps", "ConfigMap"))
    assert not is_metadata_only(Resource("apps", "v1", "deployments", "Deployment"))


@pytest.mark.parametrize(("group", "kind"), [("", "ConfigMap"), ("", "Secret"), ("shop", "Cart")])
def test_of_what_belongs_to_others_little_more_than_its_name_is_kept(group: str, kind: str) -> None:
    metadata = {"name": "one", "namespace": "ns", "uid": "u", "resourceVersion": "1"}
    whole = {"labels": {"app": "x"}, "annotations": {"note": "y" * 1000}, "managedFields": [{}], "finalizers": ["z"]}
    live = {"metadata": metadata | whole, "data": {"key": "value" * 1000}, "spec": {"size": 1}}

    assert transform_of(Resource(group, "v1", f"{kind.lower()}s", kind))(live) == {"metadata": metadata}


def test_everybody_who_watches_a_resource_keeps_the_same() -> None:
    one, other = (Resource("", "v1", "configmaps", kind) for kind in ("ConfigMap",) * 2)

    assert transform_of(one) is transform_of(other)


@pytest.mark.parametrize(
    ("resource", "spec", "kept"),
    [
        (
            HORIZONTAL_POD_AUTOSCALERS,
            {"scaleTargetRef": {"name": "a"}, "maxReplicas": 3},
            {"scaleTargetRef": {"name": "a"}},
        ),
        (
            HVPAS,
            {"targetRef": {"name": "a"}, "hpa": {"deploy": True, "template": {}}, "vpa": 3, "weightBasedScaling": []},
            {"targetRef": {"name": "a"}, "hpa": {"deploy": True}, "vpa": 3},
        ),
        (HORIZONTAL_POD_AUTOSCALERS, "odd", "odd"),
    ],
)
def test_of_autoscalers_is_kept_what_they_size_and_what_tells_versions_apart(
    resource: Resource, spec: Any, kept: Any
) -> None:
    metadata = {"name": "a", "uid": "u", "resourceVersion": "1", "generation": 2, "labels": {"app": "x"}}
    live = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, "spec": spec}

    assert transform_of(resource)(live)["spec"] == kept
    assert fingerprint(transform_of(resource)(live)) == fingerprint(live)
    assert not is_metadata_only(resource)
