"""Workloads that roll out, complete, fail and go, with the controllers of Kubernetes at work on them."""

from tests.control_plane import PodKeeper
from tests.control_plane.pods import ENDS
from tests.e2e.managed_resources.manager import Manager
from tests.e2e.managed_resources.manifests import autoscaler, config_map, deployment, job, named, stateful_set
from tests.e2e.managed_resources.sandbox import SETTLED, ManagedResourceSandbox

HEALTHY, PROGRESSING = "ResourcesHealthy", "ResourcesProgressing"


def test_a_rollout_is_told_while_it_goes_on_and_when_it_is_through(
    sandbox: ManagedResourceSandbox, manager: Manager, pods: PodKeeper
) -> None:
    managed = sandbox.deliver("shop", deployment(sandbox.namespace, "web", replicas=2))
    sandbox.wait_until_applied(expected=SETTLED)
    pods.hold_back(sandbox.namespace)

    sandbox.redeliver("shop", deployment(sandbox.namespace, "web", replicas=2, image="registry.example.com/app:v2"))
    sandbox.wait_for(
        lambda: sandbox.condition(managed, PROGRESSING)[:2] == ("True", "DeploymentProgressing"), "the rollout is told"
    )
    message = sandbox.condition(managed, PROGRESSING)[2]
    assert message.startswith(f'Deployment "{sandbox.namespace}/web" is progressing: ')
    assert sandbox.condition(managed)[0] == "True"

    pods.let_go(sandbox.namespace)
    sandbox.wait_until_applied(expected=SETTLED)
    through = ("False", "ResourcesRolledOut", "All resources have been fully rolled out.")
    assert sandbox.condition(managed, PROGRESSING) == through


def test_a_deployment_without_ready_pods_is_unhealthy_until_they_are(
    sandbox: ManagedResourceSandbox, manager: Manager, pods: PodKeeper
) -> None:
    pods.hold_back(sandbox.namespace)
    managed = sandbox.deliver("shop", deployment(sandbox.namespace, "web"))

    sandbox.wait_for(
        lambda: sandbox.condition(managed, HEALTHY)[:2] == ("False", "DeploymentUnhealthy"),
        "it is told to be unhealthy",
    )
    # Who looks while the Deployment's own controller is at it sees that it has not come to its end.
    assert sandbox.condition(managed, HEALTHY)[2].startswith(f'Deployment "{sandbox.namespace}/web" is unhealthy: ')

    pods.let_go(sandbox.namespace)
    sandbox.wait_until_applied(expected=SETTLED)


def test_replicas_that_an_autoscaler_sets_stay(sandbox: ManagedResourceSandbox, manager: Manager) -> None:
    web, scaler = deployment(sandbox.namespace, "web"), autoscaler(sandbox.namespace, "web")
    settings = config_map(sandbox.namespace, "settings", a="1")
    sandbox.deliver("shop", web, scaler, settings)
    sandbox.wait_until_applied(expected=SETTLED)

    sandbox.patch(web, {"spec": {"replicas": 3}})
    sandbox.redeliver("shop", web, scaler, {**settings, "data": {"a": "2"}})
    sandbox.wait_for(lambda: bool(sandbox.get(settings)["data"] == {"a": "2"}), "the change is applied")
    sandbox.wait_until_applied(expected=SETTLED)
    manager.wait_until_idle()

    assert sandbox.get(web)["spec"]["replicas"] == 3


def test_a_job_that_completes_is_healthy_and_one_that_fails_is_not(
    sandbox: ManagedResourceSandbox, manager: Manager
) -> None:
    sandbox.deliver("good", job(sandbox.namespace, "good"))
    sandbox.wait_until_applied("good", expected=SETTLED)

    managed = sandbox.deliver("bad", job(sandbox.namespace, "bad", {ENDS: "Failed"}, backoffLimit=0))
    sandbox.wait_for(
        lambda: sandbox.condition(managed, HEALTHY)[:2] == ("False", "JobUnhealthy"), "it is told to be unhealthy"
    )

    assert sandbox.condition(managed, HEALTHY)[2].startswith(
        f'Job "{sandbox.namespace}/bad" is unhealthy: condition "Failed" has invalid status True (expected False)'
    )


def test_a_completed_job_is_not_run_again_when_other_objects_change(
    sandbox: ManagedResourceSandbox, manager: Manager
) -> None:
    work, settings = job(sandbox.namespace, "work"), config_map(sandbox.namespace, "settings", a="1")
    sandbox.deliver("shop", work, settings)
    sandbox.wait_until_applied(expected=SETTLED)
    uid = sandbox.uid(work)

    sandbox.redeliver("shop", work, {**settings, "data": {"a": "2"}})
    sandbox.wait_for(lambda: bool(sandbox.get(settings)["data"] == {"a": "2"}), "the change is applied")
    sandbox.wait_until_applied(expected=SETTLED)

    assert sandbox.uid(work) == uid


def test_a_deployment_that_leaves_is_gone_with_its_pods_before_anything_new_is_made(
    sandbox: ManagedResourceSandbox, manager: Manager
) -> None:
    web, settings = deployment(sandbox.namespace, "web", replicas=2), config_map(sandbox.namespace, "settings")
    sandbox.deliver("shop", web)
    sandbox.wait_until_applied(expected=SETTLED)

    sandbox.redeliver("shop", settings)
    sandbox.wait_for(lambda: sandbox.find(settings) is not None, "the new object is there")

    assert sandbox.find(web) is None
    assert sandbox.all("apps/v1", "ReplicaSet") == {}
    assert sandbox.all("v1", "Pod") == {}


def test_the_claims_of_a_stateful_set_go_with_it_only_where_that_is_asked_for(
    sandbox: ManagedResourceSandbox, manager: Manager
) -> None:
    kept, cleared = stateful_set(sandbox.namespace, "kept"), stateful_set(sandbox.namespace, "cleared")
    managed = [
        sandbox.deliver("kept", kept),
        sandbox.deliver("cleared", cleared, deletePersistentVolumeClaims=True),
    ]
    sandbox.wait_until_applied(expected=SETTLED)
    assert sandbox.all("v1", "PersistentVolumeClaim").keys() == {"data-kept-0", "data-cleared-0"}
    (template,) = cleared["spec"]["volumeClaimTemplates"]
    backup = named("v1", "PersistentVolumeClaim", sandbox.namespace, "backup-of-cleared", spec=template["spec"])
    labels = cleared["spec"]["selector"]["matchLabels"]
    sandbox.create({**backup, "metadata": {**backup["metadata"], "labels": labels}})

    for each in managed:
        sandbox.delete(each)
    sandbox.wait_until_gone(*managed, kept, cleared)

    left = {"data-kept-0", "backup-of-cleared"}
    sandbox.wait_for(lambda: sandbox.all("v1", "PersistentVolumeClaim").keys() == left, "one claim goes")
    assert "deletionTimestamp" not in sandbox.get(backup)["metadata"]
