"""`hedgerow plan` looks at a live cluster, and looks alone."""

import json
from pathlib import Path

import pytest
import yaml

from hedgerow_entrypoints.cli.plan import NOT_TRIED
from tests.e2e.landscapes import landscape, offline_settings, simulated
from tests.e2e.resource_manager import run_command
from tests.e2e.sandbox import Manifest, Sandbox, pair, service


@pytest.fixture
def config_file(sandbox: Sandbox) -> Path:
    """What the resource manager is told, which tells `plan` which Services are handled."""
    file = sandbox.folder / "config.yaml"
    file.write_text(yaml.safe_dump(sandbox.configuration(offline_settings(sandbox))), encoding="utf-8")
    return file


def asked(sandbox: Sandbox) -> set[tuple[str, str]]:
    """Which verbs the command has asked of which resources."""
    events = sandbox.control_plane.audit_events(sandbox.user)
    return {(event["verb"], event["objectRef"]["resource"]) for event in events}


def test_what_simulate_prints_can_be_applied_and_leaves_nothing_to_plan(sandbox: Sandbox, config_file: Path) -> None:
    manifests = landscape(sandbox, shoots=2)
    sandbox.create(*manifests, *simulated(sandbox, manifests, config_file).values())

    done = run_command("plan", "networkpolicy", "--kubeconfig", str(sandbox.kubeconfig), "--config", str(config_file))

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "nothing to do\n")
    assert asked(sandbox) == {("list", each) for each in ("services", "namespaces", "networkpolicies", "ingresses")}


def test_pending_changes_are_shown_and_not_made(sandbox: Sandbox, config_file: Path) -> None:
    shop = sandbox.namespace("shop")
    sandbox.create(service(shop, "cart"))

    done = run_command(
        *("plan", "networkpolicy", "--kubeconfig", str(sandbox.kubeconfig)),
        *("--config", str(config_file), "-o", "json"),
    )

    actions = json.loads(done.stdout)["actions"]
    planned = {f"{action['namespace']}/{action['name']}".replace(f"{sandbox.prefix}-", "") for action in actions}
    assert (done.returncode, done.stderr) == (2, f"{NOT_TRIED}\n2 to create\n")
    assert planned == pair("shop", "cart-tcp-8080")
    assert {verb for verb, _ in asked(sandbox)} == {"list"}
    assert sandbox.policies() == {}


def two_contexts(sandbox: Sandbox) -> Manifest:
    """A kubeconfig whose current context leads nowhere, and whose other one leads here."""
    document: Manifest = yaml.safe_load(sandbox.kubeconfig.read_text(encoding="utf-8"))
    (here,) = document["contexts"]
    document["clusters"].append({"name": "nowhere", "cluster": {"server": "https://127.0.0.1:1"}})
    document["contexts"] = [
        {"name": "here", "context": here["context"]},
        {"name": "nowhere", "context": {**here["context"], "cluster": "nowhere"}},
    ]
    return {**document, "current-context": "nowhere"}


def test_a_context_says_which_cluster_of_the_kubeconfig_is_meant(sandbox: Sandbox, config_file: Path) -> None:
    sandbox.create(service(sandbox.namespace("shop"), "cart"))
    kubeconfig = sandbox.folder / "two-contexts"
    kubeconfig.write_text(yaml.safe_dump(two_contexts(sandbox)), encoding="utf-8")
    plan = ("plan", "networkpolicy", "--config", str(config_file))

    here = run_command(*plan, "--kubeconfig", str(kubeconfig), "--context", "here")
    kubectls = run_command(*plan, "--context", "here", environment={"KUBECONFIG": str(kubeconfig)})
    nowhere = run_command(*plan, "--kubeconfig", str(kubeconfig))
    unknown = run_command(*plan, "--kubeconfig", str(kubeconfig), "--context", "there")

    assert (
        (here.returncode, here.stderr) == (kubectls.returncode, kubectls.stderr) == (2, f"{NOT_TRIED}\n2 to create\n")
    )
    assert nowhere.returncode == unknown.returncode == 1
    assert nowhere.stderr == "error: cannot connect to https://127.0.0.1:1: Connection refused\n"
    assert unknown.stderr == f'error: kubeconfig {kubeconfig}: no context "there", there are: here, nowhere\n'
    assert nowhere.stdout == unknown.stdout == ""


def test_a_missing_permission_is_named(sandbox: Sandbox, config_file: Path) -> None:
    kubeconfig = sandbox.control_plane.kubeconfig("hedgerow")

    done = run_command("plan", "networkpolicy", "--kubeconfig", str(kubeconfig), "--config", str(config_file))

    assert done.returncode == 1
    assert done.stderr == "error: missing permission: list services (all namespaces)\n"
