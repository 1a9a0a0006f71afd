"""A process that may see some namespaces alone, under permissions for just those, beside one that has the others."""

import json
from pathlib import Path

import pytest
import yaml

from hedgerow_entrypoints.cli.plan import NOT_TRIED
from tests.control_plane import PATIENCE, wait_until
from tests.e2e.permissions import account_kubeconfig, grant_within, refusals_of, user_of
from tests.e2e.resource_manager import ResourceManager, run_here
from tests.e2e.sandbox import WRITES, Manifest, Sandbox, cross_pair, pair, service

ALL_PODS = {"namespace-selectors": "[{}]"}


class Restricted:
    """Two namespaces that a service account may look after, and one that it may not."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.control_plane = sandbox.control_plane
        self.shop, self.web, self.hidden = (sandbox.namespace(name) for name in ("shop", "web", "hidden"))
        self.home = sandbox.namespace("account", handled=False)
        grant_within(self.control_plane, self.home, [self.shop, self.web])
        kubeconfig = account_kubeconfig(self.control_plane, self.home, sandbox.folder)
        connection = {"kubeconfig": str(kubeconfig), "namespaces": [self.shop, self.web]}
        self.config: Manifest = sandbox.configuration(source=connection)

    def touched(self) -> set[str]:
        """The namespaces in which the account has written."""
        events = self.control_plane.audit_events(user_of(self.home), WRITES)
        return {event["objectRef"]["namespace"].removeprefix(f"{self.sandbox.prefix}-") for event in events}


@pytest.fixture
def restricted(sandbox: Sandbox) -> Restricted:
    return Restricted(sandbox)


def test_a_namespace_that_does_not_exist_is_warned_of(sandbox: Sandbox) -> None:
    namespaces = [sandbox.namespace("shop"), f"{sandbox.prefix}-shpo"]
    connection = {"kubeconfig": str(sandbox.kubeconfig), "namespaces": namespaces}

    with ResourceManager(sandbox.folder, sandbox.configuration(source=connection)) as process:
        line = process.wait_for_line("Namespace does not exist")
        process.wait_ready()

    assert (line["level"], line["namespace"], line["connection"]) == ("warning", namespaces[1], "source")


def test_what_is_out_of_sight_is_neither_asked_for_nor_touched(sandbox: Sandbox, restricted: Restricted) -> None:
    """Another process has made policies for the hidden Service, some of them in namespaces that can be seen."""
    sandbox.create(
        service(restricted.shop, "cart", annotations=ALL_PODS),
        service(restricted.hidden, "vault", annotations={"namespace-selectors": json.dumps([named(restricted.web)])}),
    )
    vaults = pair("hidden", "vault-tcp-8080") | cross_pair("hidden", "vault-tcp-8080", "web")
    theirs = sandbox.configuration({"namespaceSelectors": [named(restricted.hidden)]})
    with ResourceManager(sandbox.folder, theirs, name="theirs") as process:
        sandbox.wait_for_policies(vaults)
        process.terminate()

    ours = pair("shop", "cart-tcp-8080") | cross_pair("shop", "cart-tcp-8080", "web")
    with ResourceManager(sandbox.folder, restricted.config) as process:
        sandbox.wait_for_policies(vaults | ours)
        sandbox.label_namespace(restricted.web, {"new": "label"})
        process.wait_until_idle()
        sandbox.delete("Service", restricted.shop, "cart")
        sandbox.wait_for_policies(vaults)
        assert process.terminate() == 0

    assert refusals_of(sandbox.control_plane, restricted.home) == []
    assert restricted.touched() == {"shop", "web"}


def test_a_plan_reads_the_configured_cluster_and_its_namespaces(
    sandbox: Sandbox, restricted: Restricted, tmp_path: Path
) -> None:
    sandbox.create(service(restricted.shop, "cart"), service(restricted.hidden, "vault"))
    config_file = tmp_path / "config.yaml"
    config_file.write_text(yaml.safe_dump(restricted.config), encoding="utf-8")
    plan = ("plan", "networkpolicy", "--config", str(config_file), "-o", "json")

    configured = run_here(*plan)
    flagged = run_here(*plan, "--kubeconfig", str(sandbox.kubeconfig))

    assert (configured.returncode, configured.stderr) == (2, f"{NOT_TRIED}\n2 to create\n")
    assert {action["namespace"] for action in json.loads(configured.stdout)["actions"]} == {restricted.shop}
    assert flagged.stdout == configured.stdout
    assert refusals_of(sandbox.control_plane, restricted.home) == []
    wait_until(
        lambda: bool(sandbox.control_plane.audit_events(sandbox.user, ["list"])),
        timeout=PATIENCE,
        otherwise=lambda: AssertionError("the kubeconfig of the flag was not taken"),
    )


def named(namespace: str) -> Manifest:
    """Selects one namespace."""
    return {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
