"""Workloads that roll out, complete, fail and go, with the controllers of Kubernetes at work on them."""

from tests.control_plane import PodKeeper
from tests.control_plane.pods import ENDS
from tests.e2e.managed_resources.estate import SETTLED, Estate
from tests.e2e.managed_resources.manager import Manager
from tests.e2e.managed_resources.manifests import autoscaler, config_map, deployment, job, named, stateful_set

HEALTHY, PROGRESSING = "ResourcesHealthy", "ResourcesProgressing"


def test_a_rollout_is_told_while_it_goes_on_and_when_it_is_through(
    estate: Estate, manager: Manager, pods: PodKeeper
) -> None:
    managed = estate.deliver("shop", deployment(estate.namespace, "web", replicas=2))
    estate.wait_until_applied(expected=SETTLED)
    pods.hold_back(estate.namespace)

    estate.redeliver("shop", deployment(estate.namespace, "web", replicas=2, image="registry.example.com/app:v2"))
    estate.wait_for(
        lambda: estate.condition(managed, PROGRESSING)[:2] == ("True", "DeploymentProgressing"), "the rollout is told"
    )
    message = estate.condition(managed, PROGRESSING)[2]
    assert message.startswith(f'Deployment "{estate.namespace}/web" is progressing: ')
    assert estate.condition(managed)[0] == "True"

    pods.let_go(estate.namespace)
    estate.wait_until_applied(expected=SETTLED)
    through = ("False", "ResourcesRolledOut", "All resources have been fully rolled out.")
    assert estate.condition(managed, PROGRESSING) == through


def test_a_deployment_without_ready_pods_is_unhealthy_until_they_are(
    estate: Estate, manager: Manager, pods: PodKeeper
) -> None:
    pods.hold_back(estate.namespace)
    managed = estate.deliver("shop", deployment(estate.namespace, "web"))

    estate.wait_for(
        lambda: estate.condition(managed, HEALTHY)[:2] == ("False", "DeploymentUnhealthy"), "it is told to be unhealthy"
    )
    # Who looks while the Deployment's own controller is at it sees that it has not come to its end.
    assert estate.condition(managed, HEALTHY)[2].startswith(f'Deployment "{estate.namespace}/web" is unhealthy: ')

    pods.let_go(estate.namespace)
    estate.wait_until_applied(expected=SETTLED)


def test_replicas_that_an_autoscaler_sets_stay(estate: Estate, manager: Manager) -> None:
    web, scaler = deployment(estate.namespace, "web"), autoscaler(estate.namespace, "web")
    settings = config_map(estate.namespace, "settings", a="1")
    estate.deliver("shop", web, scaler, settings)
    estate.wait_until_applied(expected=SETTLED)

    estate.patch(web, {"spec": {"replicas": 3}})
    estate.redeliver("shop", web, scaler, {**settings, "data": {"a": "2"}})
    estate.wait_for(lambda: bool(estate.get(settings)["data"] == {"a": "2"}), "the change is applied")
    estate.wait_until_applied(expected=SETTLED)
    manager.wait_until_idle()

    assert estate.get(web)["spec"]["replicas"] == 3


def test_a_job_that_completes_is_healthy_and_one_that_fails_is_not(estate: Estate, manager: Manager) -> None:
    estate.deliver("good", job(estate.namespace, "good"))
    estate.wait_until_applied("good", expected=SETTLED)

    managed = estate.deliver("bad", job(estate.namespace, "bad", {ENDS: "Failed"}, backoffLimit=0))
    estate.wait_for(
        lambda: estate.condition(managed, HEALTHY)[:2] == ("False", "JobUnhealthy"), "it is told to be unhealthy"
    )

    assert estate.condition(managed, HEALTHY)[2].startswith(
        f'Job "{estate.namespace}/bad" is unhealthy: condition "Failed" has invalid status True (expected False)'
    )


def test_a_completed_job_is_not_run_again_when_other_objects_change(estate: Estate, manager: Manager) -> None:
    work, settings = job(estate.namespace, "work"), config_map(estate.namespace, "settings", a="1")
    estate.deliver("shop", work, settings)
    estate.wait_until_applied(expected=SETTLED)
    uid = estate.uid(work)

    estate.redeliver("shop", work, {**settings, "data": {"a": "2"}})
    estate.wait_for(lambda: bool(estate.get(settings)["data"] == {"a": "2"}), "the change is applied")
    estate.wait_until_applied(expected=SETTLED)

    assert estate.uid(work) == uid


def test_a_deployment_that_leaves_is_gone_with_its_pods_before_anything_new_is_made(
    estate: Estate, manager: Manager
) -> None:
    web, settings = deployment(estate.namespace, "web", replicas=2), config_map(estate.namespace, "settings")
    estate.deliver("shop", web)
    estate.wait_until_applied(expected=SETTLED)

    estate.redeliver("shop", settings)
    estate.wait_for(lambda: estate.find(settings) is not None, "the new object is there")

    assert estate.find(web) is None
    assert estate.all("apps/v1", "ReplicaSet") == {}
    assert estate.all("v1", "Pod") == {}


def test_the_claims_of_a_stateful_set_go_with_it_only_where_that_is_asked_for(estate: Estate, manager: Manager) -> None:
    kept, cleared = stateful_set(estate.namespace, "kept"), stateful_set(estate.namespace, "cleared")
    managed = [
        estate.deliver("kept", kept),
        estate.deliver("cleared", cleared, deletePersistentVolumeClaims=True),
    ]
    estate.wait_until_applied(expected=SETTLED)
    assert estate.all("v1", "PersistentVolumeClaim").keys() == {"data-kept-0", "data-cleared-0"}
    (template,) = cleared["spec"]["volumeClaimTemplates"]
    backup = named("v1", "PersistentVolumeClaim", estate.namespace, "backup-of-cleared", spec=template["spec"])
    labels = cleared["spec"]["selector"]["matchLabels"]
    estate.create({**backup, "metadata": {**backup["metadata"], "labels": labels}})

    for each in managed:
        estate.delete(each)
    estate.wait_until_gone(*managed, kept, cleared)

    left = {"data-kept-0", "backup-of-cleared"}
    estate.wait_for(lambda: estate.all("v1", "PersistentVolumeClaim").keys() == left, "one claim goes")
    assert "deletionTimestamp" not in estate.get(backup)["metadata"]
