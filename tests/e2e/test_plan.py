"""`hedgerow plan` looks at a live cluster, and looks alone."""

import json
from pathlib import Path

import pytest
import yaml

from tests.e2e.landscapes import controller_settings, landscape, simulated
from tests.e2e.resource_manager import run_command
from tests.e2e.territory import Manifest, Territory, pair, service


@pytest.fixture
def config_file(territory: Territory) -> Path:
    """What the resource manager is told, which tells `plan` which Services are handled."""
    file = territory.folder / "config.yaml"
    file.write_text(yaml.safe_dump(territory.configuration(controller_settings(territory))), encoding="utf-8")
    return file


def asked(territory: Territory) -> set[tuple[str, str]]:
    """Which verbs the command has asked of which resources."""
    events = territory.control_plane.audit_events(territory.user)
    return {(event["verb"], event["objectRef"]["resource"]) for event in events}


def test_what_simulate_prints_can_be_applied_and_leaves_nothing_to_plan(
    territory: Territory, config_file: Path
) -> None:
    manifests = landscape(territory, shoots=2)
    territory.create(*manifests, *simulated(territory, manifests, config_file).values())

    done = run_command(
        "plan", "network-policy", "--kubeconfig", str(territory.kubeconfig), "--config", str(config_file)
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "nothing to do\n")
    assert asked(territory) == {("list", each) for each in ("services", "namespaces", "networkpolicies", "ingresses")}


def test_pending_changes_are_shown_and_not_made(territory: Territory, config_file: Path) -> None:
    shop = territory.namespace("shop")
    territory.create(service(shop, "cart"))

    done = run_command(
        *("plan", "network-policy", "--kubeconfig", str(territory.kubeconfig)),
        *("--config", str(config_file), "-o", "json"),
    )

    actions = json.loads(done.stdout)["actions"]
    planned = {f"{action['namespace']}/{action['name']}".replace(f"{territory.prefix}-", "") for action in actions}
    assert (done.returncode, done.stderr) == (2, "2 to create\n")
    assert planned == pair("shop", "cart-tcp-8080")
    assert {verb for verb, _ in asked(territory)} == {"list"}
    assert territory.policies() == {}


def two_contexts(territory: Territory) -> Manifest:
    """A kubeconfig whose current context leads nowhere, and whose other one leads here."""
    document: Manifest = yaml.safe_load(territory.kubeconfig.read_text(encoding="utf-8"))
    (here,) = document["contexts"]
    document["clusters"].append({"name": "nowhere", "cluster": {"server": "https://127.0.0.1:1"}})
    document["contexts"] = [
        {"name": "here", "context": here["context"]},
        {"name": "nowhere", "context": {**here["context"], "cluster": "nowhere"}},
    ]
    return {**document, "current-context": "nowhere"}


def test_a_context_says_which_cluster_of_the_kubeconfig_is_meant(territory: Territory, config_file: Path) -> None:
    territory.create(service(territory.namespace("shop"), "cart"))
    kubeconfig = territory.folder / "two-contexts"
    kubeconfig.write_text(yaml.safe_dump(two_contexts(territory)), encoding="utf-8")
    plan = ("plan", "network-policy", "--config", str(config_file))

    here = run_command(*plan, "--kubeconfig", str(kubeconfig), "--context", "here")
    kubectls = run_command(*plan, "--context", "here", environment={"KUBECONFIG": str(kubeconfig)})
    nowhere = run_command(*plan, "--kubeconfig", str(kubeconfig))
    unknown = run_command(*plan, "--kubeconfig", str(kubeconfig), "--context", "there")

    assert (here.returncode, here.stderr) == (kubectls.returncode, kubectls.stderr) == (2, "2 to create\n")
    assert nowhere.returncode == unknown.returncode == 1
    assert nowhere.stderr == "error: cannot connect to https://127.0.0.1:1: Connection refused\n"
    assert unknown.stderr == f'error: kubeconfig {kubeconfig}: no context "there", there are: here, nowhere\n'
    assert nowhere.stdout == unknown.stdout == ""


def test_a_missing_permission_is_named(territory: Territory, config_file: Path) -> None:
    kubeconfig = territory.control_plane.kubeconfig("hedgerow")

    done = run_command("plan", "network-policy", "--kubeconfig", str(kubeconfig), "--config", str(config_file))

    assert done.returncode == 1
    assert done.stderr == "error: missing permission: list services (all namespaces)\n"
