"""What of a workload stays as it is in the cluster."""

from typing import Any

import pytest
from returns.result import Failure

from hedgerow.api.managed_resources import PRESERVE_REPLICAS, PRESERVE_RESOURCES
from hedgerow.machinery.failures import Problem
from hedgerow.machinery.objects import Manifest
from hedgerow.resource_manager.managed_resources.autoscalers import Scaling
from hedgerow.resource_manager.managed_resources.merge.merging import Instructions, merge

EXISTS = {"name": "x", "creationTimestamp": "2026-01-01T00:00:00Z"}
LIVE_RESOURCES = {"requests": {"cpu": "200m", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "2Gi"}}
POD_KINDS = ["apps/v1 Deployment", "extensions/v1beta1 Deployment", "apps/v1 StatefulSet", "apps/v1 DaemonSet"]
ALL_POD_KINDS = [*POD_KINDS, "batch/v1 Job", "batch/v1 CronJob", "batch/v1beta1 CronJob"]


def merged(desired: Manifest, live: Manifest | None, scaling: Scaling = Scaling()) -> Manifest:  # noqa: B008 -- frozen
    return merge(desired, live, Instructions("default/mr", scaling=scaling)).unwrap()


def of_kind(kind: str, spec: Manifest, **annotations: str) -> Manifest:
    api_version, _, name = kind.partition(" ")
    return {"apiVersion": api_version, "kind": name, "metadata": {"annotations": annotations}, "spec": spec}


def with_container(kind: str, resources: Any = None, name: str = "foo", **annotations: str) -> Manifest:
    container = {"name": name, **({} if resources is None else {"resources": resources})}
    spec = {"template": {"spec": {"containers": [container]}}}
    return of_kind(kind, {"jobTemplate": {"spec": spec}} if "CronJob" in kind else spec, **annotations)


def resources_of(manifest: Manifest) -> Any:
    spec = manifest["spec"].get("jobTemplate", manifest)["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    return container.get("resources")


@pytest.mark.parametrize("kind", POD_KINDS[:3])
class TestReplicas:  # MG-17: of a StatefulSet as of a Deployment
    def test_they_stay_if_the_manifest_has_none(self, kind: str) -> None:  # MG-6
        assert merged(of_kind(kind, {}), of_kind(kind, {"replicas": 1}))["spec"] == {"replicas": 1}

    def test_they_follow_the_manifest(self, kind: str) -> None:  # MG-7
        for replicas in (0, 2):
            found = merged(of_kind(kind, {"replicas": replicas}), of_kind(kind, {"replicas": 1}))
            assert found["spec"] == {"replicas": replicas}

    def test_they_stay_if_they_are_scaled(self, kind: str) -> None:  # MG-8
        found = merged(of_kind(kind, {"replicas": 2}), of_kind(kind, {"replicas": 1}), Scaling(replicas=True))

        assert found["spec"] == {"replicas": 1}

    @pytest.mark.parametrize(
        ("value", "replicas"),
        [pytest.param("true", 1, id="MG-8"), pytest.param("1", 2, id="MG-9"), pytest.param("True", 2, id="capital")],
    )
    def test_they_stay_if_the_manifest_says_so_to_the_letter(self, kind: str, value: str, replicas: int) -> None:
        desired = of_kind(kind, {"replicas": 2}, **{PRESERVE_REPLICAS: value})

        assert merged(desired, of_kind(kind, {"replicas": 1}))["spec"] == {"replicas": replicas}


@pytest.mark.parametrize("kind", ALL_POD_KINDS)
class TestResources:  # MG-18: of all kinds alike
    def test_they_follow_the_manifest(self, kind: str) -> None:  # MG-10
        assert resources_of(merged(with_container(kind), with_container(kind, LIVE_RESOURCES))) is None

    def test_they_stay_if_they_are_scaled(self, kind: str) -> None:  # MG-10
        live = with_container(kind, LIVE_RESOURCES)

        assert resources_of(merged(with_container(kind), live, Scaling(resources=True))) == LIVE_RESOURCES

    def test_they_stay_if_the_manifest_says_so(self, kind: str) -> None:  # MG-10
        desired = with_container(kind, **{PRESERVE_RESOURCES: "true"})

        assert resources_of(merged(desired, with_container(kind, LIVE_RESOURCES))) == LIVE_RESOURCES

    @pytest.mark.parametrize(
        ("live", "desired", "expected"),
        [
            pytest.param(
                {"requests": {"cpu": "200m"}},
                {"requests": {"cpu": "500m", "memory": "1Gi"}},
                {"requests": {"cpu": "200m", "memory": "1Gi"}},
                id="MG-11",
            ),
            pytest.param(None, {"requests": {"cpu": "500m"}}, {"requests": {"cpu": "500m"}}, id="MG-12"),
            pytest.param({"requests": {"ephemeral-storage": "1Gi"}}, None, None, id="MG-13"),
        ],
    )
    def test_processor_and_memory_alone_stay(self, kind: str, live: Any, desired: Any, expected: Any) -> None:
        found = merged(with_container(kind, desired), with_container(kind, live), Scaling(resources=True))

        assert resources_of(found) == expected

    def test_those_of_a_container_of_another_name_go(self, kind: str) -> None:  # MG-14
        live = with_container(kind, LIVE_RESOURCES, name="bar")

        assert resources_of(merged(with_container(kind), live, Scaling(resources=True))) is None


def stateful_set(claims: list[str], **metadata: str) -> Manifest:
    spec = {"volumeClaimTemplates": [{"metadata": {"name": claim}} for claim in claims]} if claims else {}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata, "spec": spec}


def test_the_claim_templates_of_a_new_stateful_set_are_the_manifests() -> None:  # MG-15
    created = merge(stateful_set(["data"]), None, Instructions("default/mr", labels={"inject": "me"})).unwrap()

    assert created["spec"]["volumeClaimTemplates"] == [{"metadata": {"name": "data", "labels": {"inject": "me"}}}]


@pytest.mark.parametrize("claims", [pytest.param([], id="MG-16"), ["data"]])
def test_the_claim_templates_of_an_existing_stateful_set_cannot_change(claims: list[str]) -> None:
    live = stateful_set(claims, **EXISTS)

    assert merged(stateful_set(["other"]), live)["spec"] == live["spec"]


def job(selector: Manifest, labels: Manifest | None = None) -> Manifest:
    template = {} if labels is None else {"metadata": {"labels": labels}}
    return of_kind("batch/v1 Job", {"selector": selector, "template": template})


def test_the_selector_of_a_job_cannot_change() -> None:  # MG-20
    found = merged(job({"foo": "bar"}), job({"controller-uid": "1a2b3c"}))

    assert found["spec"]["selector"] == {"controller-uid": "1a2b3c"}


@pytest.mark.parametrize(
    "labels",
    [
        pytest.param(None, id="MG-21 none"),
        pytest.param({}, id="MG-21 empty ones"),
        pytest.param({"app.kubernetes.io/version": "0.1.0"}, id="MG-21 further ones"),
    ],
)
def test_the_template_labels_that_a_job_was_given_stay(labels: Manifest | None) -> None:
    given = {"controller-uid": "1a2b3c", "job-name": "pi"}

    found = merged(job({}, labels), job({}, given))

    assert found["spec"]["template"]["metadata"]["labels"] == {**given, **(labels or {})}


def test_a_cron_job_of_an_unknown_version_fails() -> None:  # MG-19
    unknown = of_kind("batch/v2 CronJob", {})

    problem = "cannot merge objects with gvk: batch/v2, Kind=CronJob"
    assert merge(unknown, unknown, Instructions("default/mr")) == Failure(Problem("", problem))


def test_a_service_account_keeps_the_secrets_that_it_was_given() -> None:  # MG-22
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": EXISTS}

    found = merged({**account, "imagePullSecrets": [{"name": "b"}]}, {**account, "secrets": [{"name": "a"}]})

    assert found["secrets"] == [{"name": "a"}]
    assert "imagePullSecrets" not in found


def test_a_new_service_account_has_the_secrets_of_its_manifest() -> None:
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "secrets": [{"name": "a"}]}

    assert merged(account, None)["secrets"] == [{"name": "a"}]


def test_amounts_of_another_shape_are_told_even_where_there_is_nothing_to_keep() -> None:
    desired = with_container("apps/v1 Deployment", {"limits": []})
    instructions = Instructions("default/mr", scaling=Scaling(resources=True))

    result = merge(desired, of_kind("apps/v1 Deployment", {}), instructions)

    assert result == Failure(
        Problem("spec.template.spec.containers[0].resources.limits", "expected an object, got a list")
    )
