"""`hedgerow plan` and `hedgerow health` look at a live cluster, and look alone."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from hedgerow_entrypoints.cli.plan import NOT_TRIED
from tests.e2e.canaries import Canaries
from tests.e2e.managed_resources.manager import Manager
from tests.e2e.managed_resources.manifests import cluster_role, config_map, deployment, plain_secret, service
from tests.e2e.managed_resources.sandbox import SETTLED, ManagedResourceSandbox
from tests.e2e.resource_manager import run_here


@pytest.fixture
def config_file(sandbox: ManagedResourceSandbox) -> Path:
    """What the process is told, which tells `plan` the class."""
    file = sandbox.folder / "plan.yaml"
    file.write_text(yaml.safe_dump(sandbox.configuration()), encoding="utf-8")
    return file


def planned(sandbox: ManagedResourceSandbox, config_file: Path, *options: str) -> subprocess.CompletedProcess[str]:
    cluster = ("--kubeconfig", str(sandbox.kubeconfig), "--config", str(config_file))
    return run_here("plan", "managedresource", *cluster, *options)


def judged(sandbox: ManagedResourceSandbox, *options: str) -> subprocess.CompletedProcess[str]:
    return run_here("health", "--kubeconfig", str(sandbox.kubeconfig), "-n", sandbox.namespace, *options)


def told(plan: subprocess.CompletedProcess[str]) -> list[str]:
    return [f"{each['action']} {each['kind']} {each['name']}" for each in json.loads(plan.stdout)["actions"]]


def conclusion(plan: subprocess.CompletedProcess[str]) -> str:
    """The last line: those before it name what is of another class in a cluster that others use as well."""
    return plan.stderr.splitlines()[-1]


def test_a_plan_prints_no_value_of_a_secret_wherever_it_stands(
    sandbox: ManagedResourceSandbox, config_file: Path
) -> None:
    namespace, canaries = sandbox.namespace, Canaries()
    secret = {**plain_secret(namespace, "payment"), "dataa": {"password": canaries.new("a misspelt field")}}
    secret["metadata"] |= {"annotations": {"example.org/password": canaries.new("an annotation")}}
    live = config_map(namespace, "bundle", secret=json.dumps({**secret, "data": {"a": canaries.new("a live text")}}))
    sandbox.create(live)
    text = json.dumps({**secret, "stringData": {"a": canaries.new("a text")}})
    managed = sandbox.deliver("shop", secret, {**live, "data": {"secret": text}})

    plans = [planned(sandbox, config_file, "-o", output) for output in ("diff", "table", "yaml", "json")]

    assert {plan.returncode for plan in plans} == {2}
    assert "dataa: (redacted)" in plans[0].stdout
    assert "secret: (redacted, changed)" in plans[0].stdout
    assert canaries.seen_in(each for plan in plans for each in (plan.stdout, plan.stderr)) == set()
    sandbox.delete(managed)


def test_what_is_planned_is_what_happens_and_nothing_else_does(
    sandbox: ManagedResourceSandbox, config_file: Path
) -> None:
    namespace, role = sandbox.namespace, cluster_role(sandbox.namespace)
    objects = [config_map(namespace, "settings"), plain_secret(namespace, "password"), service(namespace, "web")]
    managed = sandbox.deliver("shop", *objects, deployment(namespace, "web"), role)
    position = sandbox.control_plane.audit_position()

    before = planned(sandbox, config_file, "-o", "json")
    creations = ["Secret password", "ConfigMap settings", f"ClusterRole {namespace}", "Service web", "Deployment web"]
    assert (before.returncode, conclusion(before)) == (2, "5 to create, 1 to change")
    assert sorted(told(before)) == sorted([*(f"create {each}" for each in creations), "change ManagedResource shop"])
    assert "cGFzc3dvcmQ" not in before.stdout
    assert judged(sandbox).returncode == 2
    assert sandbox.writes(position) == []

    with Manager(sandbox.folder, sandbox.configuration()) as manager:
        manager.wait_ready()
        sandbox.wait_until_applied(expected=SETTLED)
    position = sandbox.control_plane.audit_position()
    settled, healthy = planned(sandbox, config_file), judged(sandbox)
    assert (settled.returncode, settled.stdout, conclusion(settled)) == (0, "", "nothing to do")
    assert (healthy.returncode, healthy.stderr) == (0, "6 healthy\n"), healthy.stdout

    sandbox.patch(objects[0], {"data": {"setting": "of somebody"}})
    sandbox.delete(objects[2])
    drifted, unhealthy = planned(sandbox, config_file, "-o", "json"), judged(sandbox, "-o", "json")
    assert sorted(told(drifted)) == ["change ConfigMap settings", "create Service web"]
    verdicts = {each["kind"]: (each["healthy"], each["why"]) for each in json.loads(unhealthy.stdout)["objects"]}
    assert (unhealthy.returncode, verdicts["Service"]) == (2, (False, "missing"))
    assert verdicts["Deployment"] == (True, "")
    assert sandbox.writes(position) == []
    sandbox.delete(managed)


def test_a_plan_names_objects_whose_namespace_does_not_exist(
    sandbox: ManagedResourceSandbox, config_file: Path
) -> None:
    managed = sandbox.deliver("shop", config_map(sandbox.namespace, "here"), config_map("not-there", "there"))

    plan = planned(sandbox, config_file, "-o", "json")

    assert plan.returncode == 1
    assert 'error: ConfigMap not-there/there: metadata.namespace: Namespace "not-there" does not exist' in plan.stderr
    assert "create ConfigMap here" in told(plan)
    assert NOT_TRIED in plan.stderr
    sandbox.delete(managed)


def test_health_tells_a_class_that_the_instance_does_not_handle(
    sandbox: ManagedResourceSandbox, config_file: Path
) -> None:
    managed = sandbox.deliver("shop", config_map(sandbox.namespace, "here"))
    config_file.write_text(yaml.safe_dump(sandbox.configuration(class_name="other")), encoding="utf-8")

    (verdict,) = json.loads(judged(sandbox, "--config", str(config_file), "-o", "json").stdout)["objects"]

    assert verdict["why"].startswith(f"class {sandbox.class_name} is not handled by this instance; ")
    sandbox.delete(managed)
