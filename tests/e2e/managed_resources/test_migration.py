"""What the original has left is taken over as it is, by one process at a time, and can be given back.

Nothing of the original runs here: its recorded objects stand in for it, and its Lease.
"""

import http.client
import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.e2e.managed_resources.manager import CONTROLLER, Manager
from tests.e2e.managed_resources.manifests import config_map, managed_resource, named, plain_secret, service_account
from tests.e2e.managed_resources.original import HOLDER, LEASE, RECORDED, Original, OriginalPolicies, recorded
from tests.e2e.managed_resources.sandbox import APPLIED, FINALIZER, ManagedResourceSandbox
from tests.e2e.managed_resources.urls import Manifest, collection_of
from tests.e2e.resource_manager import run_here
from tests.golden.reference.recordings import DIRECTORY

READS_AS_BOOLEAN: Final = frozenset({"y", "Y", "n", "N"})
HEADER: Final = {
    "apiVersion": "resourcemanager.config.gardener.cloud/v1alpha1",
    "kind": "ResourceManagerConfiguration",
}
DESCRIPTION: Final = "gardener.cloud/description"


def configuration(sandbox: ManagedResourceSandbox, **sections: Any) -> Manifest:
    """That of the original: its class, and the Lease that it has by default."""
    mine = {"namespaceSelectors": [{"matchLabels": {"tests.hedgerow.dev/sandbox": sandbox.class_name}}]}
    controllers = {
        "networkPolicy": {"enabled": True, **mine},
        "tokenRequestor": {"enabled": True, "sourceNamespaces": [sandbox.namespace]},
    }
    election = {"leaderElect": True, "resourceNamespace": sandbox.namespace, **sections}
    return sandbox.configuration(controllers=controllers, leaderElection=election)


def planned(sandbox: ManagedResourceSandbox, *controllers: str) -> subprocess.CompletedProcess[str]:
    file = sandbox.folder / "plan.yaml"
    file.write_text(yaml.safe_dump(configuration(sandbox)), encoding="utf-8")
    cluster = ("--kubeconfig", str(sandbox.kubeconfig), "--config", str(file))
    return run_here("plan", *controllers, *cluster, "-o", "json")


def lease(sandbox: ManagedResourceSandbox, holder: str) -> Manifest:
    """The Lease as the original writes it while it leads, and when it gives it back; here nobody has to renew it."""
    times = {"acquireTime": "2026-01-01T00:00:00.000000Z", "renewTime": "2026-01-02T00:00:00.000000Z"}
    spec = {"holderIdentity": holder, "leaseDurationSeconds": 3600 if holder else 1, "leaseTransitions": 4, **times}
    return named("coordination.k8s.io/v1", "Lease", sandbox.namespace, LEASE, spec=spec)


def states(manifests: list[Manifest]) -> list[Manifest]:
    """What somebody has asked of objects, apart from what the controllers of the cluster make of it."""
    revision = "deployment.kubernetes.io/revision"
    return [
        {
            "name": manifest["metadata"]["name"],
            "uid": manifest["metadata"]["uid"],
            "labels": manifest["metadata"].get("labels"),
            "annotations": {
                name: value for name, value in manifest["metadata"].get("annotations", {}).items() if name != revision
            },
            "finalizers": manifest["metadata"].get("finalizers"),
            **{name: value for name, value in manifest.items() if name not in {"metadata", "status"}},
        }
        for manifest in manifests
    ]


def seen_by_the_original(managed: Manifest) -> Mapping[str, Any]:
    """What the original reads of the status of a ManagedResource when it decides again."""
    status = managed["status"]
    conditions = {each["type"]: each for each in status["conditions"]}
    names = ("observedGeneration", "resources", "secretsDataChecksum")
    return {**{name: status.get(name) for name in names}, "applied": conditions["ResourcesApplied"]}


@pytest.fixture
def original(sandbox: ManagedResourceSandbox) -> Original:
    return Original(sandbox, recorded())


@pytest.fixture
def policies(sandbox: ManagedResourceSandbox) -> Iterator[OriginalPolicies]:
    restored = OriginalPolicies(sandbox)
    yield restored
    restored.clear()


def settled_recordings(file: Path) -> list[dict[str, Any]]:
    """Recordings in which the original had nothing left to do, and whose autoscalers the API server knows."""
    if not file.is_file():
        pytest.skip(f"no recording {file}: set HEDGEROW_REFERENCE")
    return [
        each
        for each in recorded(file)
        if any(condition["reason"] == "ApplySucceeded" for condition in each["status"]["conditions"])
        and not READS_AS_BOOLEAN & set(map(str, each["manifest"]["metadata"].get("labels", {}).values()))
        and all(autoscaler["kind"] == "HorizontalPodAutoscaler" for autoscaler in each["autoscalers"])
    ]


@pytest.mark.parametrize("file", [RECORDED, DIRECTORY / "managed-resources.jsonl"], ids=["some", "all"])
def test_a_plan_has_nothing_to_do_for_what_the_original_has_applied(
    sandbox: ManagedResourceSandbox, file: Path
) -> None:
    Original(sandbox, settled_recordings(file))
    position = sandbox.control_plane.audit_position()

    done = planned(sandbox, "managedresource", "secret")

    assert (done.returncode, json.loads(done.stdout)["actions"]) == (0, []), done.stdout
    assert sandbox.writes(position) == []


def test_a_plan_names_exactly_the_policies_that_are_worded_anew(
    sandbox: ManagedResourceSandbox, policies: OriginalPolicies
) -> None:
    done = planned(sandbox, "networkpolicy")

    actions = {(each["action"], each["namespace"], each["name"]) for each in json.loads(done.stdout)["actions"]}
    asked = {("change", each["metadata"]["namespace"], each["metadata"]["name"]) for each in policies.policies}
    assert actions == asked


@pytest.mark.parametrize(("renewal", "actions"), [("2126-01-01T00:00:00Z", 0), ("2026-01-01T00:00:00Z", 2)])
def test_a_plan_renews_tokens_when_they_are_due(sandbox: ManagedResourceSandbox, renewal: str, actions: int) -> None:
    sandbox.create(service_account(sandbox.namespace, "prometheus"), token_secret(sandbox.namespace, renewal))

    done = planned(sandbox, "token-requestor")

    assert len(json.loads(done.stdout)["actions"]) == actions


def token_secret(namespace: str, renewal: str) -> Manifest:
    """A Secret with a token of the original."""
    secret = plain_secret(namespace, "shoot-access-prometheus")
    account = "serviceaccount.resources.gardener.cloud"
    annotations = {f"{account}/name": "prometheus", f"{account}/namespace": namespace}
    metadata = {
        **secret["metadata"],
        "labels": {"resources.gardener.cloud/purpose": "token-requestor"},
        "annotations": {**annotations, f"{account}/token-renew-timestamp": renewal},
    }
    return {**secret, "metadata": metadata, "data": {"token": "b2xk"}}


@pytest.fixture
def standby(sandbox: ManagedResourceSandbox, original: Original, policies: OriginalPolicies) -> Iterator[Manager]:
    """A process beside the original, which holds the Lease."""
    sandbox.create(lease(sandbox, HOLDER))
    with Manager(sandbox.folder, configuration(sandbox)) as running:
        running.wait_ready()
        yield running


def test_one_process_follows_the_other_on_the_same_lease_and_may_go_back(
    sandbox: ManagedResourceSandbox, original: Original, policies: OriginalPolicies, standby: Manager
) -> None:
    left = [*original.secrets, *original.managed, *original.delivered]
    before = [sandbox.get(each) for each in left]
    told = standby.wait_for_line("Leader election")
    secret = sandbox.secret("new", config_map(sandbox.namespace, "new"))
    new = managed_resource(sandbox.namespace, "new", secret["metadata"]["name"], class_name=sandbox.class_name)
    sandbox.create(secret, new)

    assert (told["what"], told["detail"]) == ("new leader", HOLDER)
    assert "status" not in sandbox.get(new)
    assert sandbox.writes(0) == []

    sandbox.patch(lease(sandbox, ""), {"spec": lease(sandbox, "")["spec"]})
    standby.wait_until_at_work(CONTROLLER)
    sandbox.wait_until_applied(expected=APPLIED)
    standby.wait_until_idle()
    assert standby.terminate() == 0

    after = [sandbox.get(each) for each in left]
    assert states(after) == states(before)
    managed = slice(len(original.secrets), len(original.secrets) + len(original.managed))
    assert [*map(seen_by_the_original, after[managed])] == [*map(seen_by_the_original, before[managed])]
    assert sandbox.get(lease(sandbox, ""))["spec"]["holderIdentity"] == ""
    assert_the_original_could_have_made_it(sandbox, sandbox.get(new), sandbox.get(secret))


def assert_the_original_could_have_made_it(
    sandbox: ManagedResourceSandbox, managed: Manifest, secret: Manifest
) -> None:
    """What was applied meanwhile is what the original itself would have left."""
    delivered = sandbox.get(config_map(sandbox.namespace, "new"))
    name = f"{sandbox.namespace}/new"
    labels = {"resources.gardener.cloud/managed-by": "gardener"}
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "namespace": sandbox.namespace, "name": "new"}

    assert (
        managed["metadata"]["finalizers"] == secret["metadata"]["finalizers"] == [f"{FINALIZER}-{sandbox.class_name}"]
    )
    assert set(managed["status"]) == {"conditions", "observedGeneration", "resources", "secretsDataChecksum"}
    assert managed["status"]["resources"] == [{**reference, "labels": labels}]
    assert delivered["metadata"]["labels"] == labels
    assert delivered["metadata"]["annotations"]["resources.gardener.cloud/origin"] == name


def test_policies_allow_what_they_allowed(sandbox: ManagedResourceSandbox, policies: OriginalPolicies) -> None:
    before = policies.now()
    with Manager(sandbox.folder, configuration(sandbox)) as running:
        running.wait_until_at_work(CONTROLLER)
        running.wait_until_idle()
        running.wait_for(lambda: all(is_worded_anew(each) for each in policies.now()), "not all are worded anew")

    assert [permissions(each) for each in policies.now()] == [permissions(each) for each in before]


def is_worded_anew(policy: Manifest) -> bool:
    return "{map[" not in policy["metadata"]["annotations"][DESCRIPTION]


def permissions(policy: Manifest) -> Manifest:
    """What a policy allows. From the world the original names no source, which means every one."""
    everywhere = [
        {"namespaceSelector": {}, "podSelector": {}},
        *({"ipBlock": {"cidr": each}} for each in ("0.0.0.0/0", "::/0")),
    ]
    rules = policy["spec"].get("ingress", [])
    ingress = [{**rule, "from": []} if rule.get("from", []) == everywhere else {"from": [], **rule} for rule in rules]
    return {
        **policy["spec"],
        "ingress": ingress,
        "labels": policy["metadata"]["labels"],
        "uid": policy["metadata"]["uid"],
    }


def test_beside_the_original_everything_has_another_name_but_the_lease(tmp_path: Path) -> None:
    values = tmp_path / "values.yaml"
    config = {**HEADER, "webhooks": {"crdDeletionProtection": {"enabled": True}}}
    asked = {"namePrefix": "hedgerow-", "managedResources": {"clusterAdmin": True}, "config": config}
    values.write_text(yaml.safe_dump(asked), encoding="utf-8")

    done = run_here("install", "resource-manager", "-f", str(values), "-o", "json")

    objects = json.loads(done.stdout)["items"]
    role = next(each for each in objects if each["kind"] == "Role" and each["metadata"]["namespace"] == "garden")
    assert {each["metadata"]["name"].startswith("hedgerow-") for each in objects} == {True}
    assert "ValidatingWebhookConfiguration" in {each["kind"] for each in objects}
    assert [LEASE] in [rule.get("resourceNames") for rule in role["rules"] if rule["resources"] == ["leases"]]


def test_registrations_of_the_original_that_nobody_serves_keep_pods_from_starting(
    sandbox: ManagedResourceSandbox,
) -> None:
    """Why they go before the original does."""
    registration = unserved_registration(sandbox.namespace)
    assert pod_status(sandbox) == http.client.CREATED

    sandbox.create(registration)
    sandbox.wait_for(lambda: pod_status(sandbox) == http.client.INTERNAL_SERVER_ERROR, "pods are refused")
    sandbox.delete(registration)
    sandbox.wait_for(lambda: pod_status(sandbox) == http.client.CREATED, "pods are admitted")


def pod_status(sandbox: ManagedResourceSandbox) -> int:
    """The answer of the API server to a pod of hedgerow, which is only tried."""
    spec = {"containers": [{"name": "hedgerow", "image": "hedgerow:0.1.0"}], "automountServiceAccountToken": False}
    pod = named("v1", "Pod", sandbox.namespace, "hedgerow", spec=spec)
    pod["metadata"]["labels"] = {"app": "hedgerow-gardener-resource-manager"}
    return sandbox.control_plane.request("POST", f"{collection_of(pod)}?dryRun=All", pod)[0]


def unserved_registration(namespace: str) -> Manifest:
    """The original's registration for pods, restricted to a namespace; at its address nobody listens."""
    here = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": [namespace]}
    not_its_own = {"key": "app", "operator": "NotIn", "values": ["gardener-resource-manager"]}
    webhook = {
        "name": "projected-token-mount.resources.gardener.cloud",
        "clientConfig": {"url": "https://127.0.0.1:1/webhooks/mount-projected-service-account-token"},
        "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}],
        "namespaceSelector": {"matchExpressions": [here]},
        "objectSelector": {"matchExpressions": [not_its_own]},
        "failurePolicy": "Fail",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1beta1", "v1"],
    }
    kind = "MutatingWebhookConfiguration"
    return named("admissionregistration.k8s.io/v1", kind, "", f"{namespace}-original", webhooks=[webhook])


def test_with_another_lease_both_write(
    sandbox: ManagedResourceSandbox, original: Original, policies: OriginalPolicies
) -> None:
    sandbox.create(lease(sandbox, HOLDER))

    with Manager(sandbox.folder, configuration(sandbox, resourceName="hedgerow")) as running:
        running.wait_until_at_work(CONTROLLER)
        running.wait_for(lambda: all(is_worded_anew(each) for each in policies.now()), "not all are worded anew")

    assert sandbox.get(lease(sandbox, HOLDER))["spec"]["holderIdentity"] == HOLDER
