"""A process that may see some namespaces alone, under permissions for just those, beside one that has the others."""

import json
from pathlib import Path

import pytest
import yaml

from tests.control_plane import PATIENCE, wait_until
from tests.e2e.permissions import account_kubeconfig, grant_within, refusals_of, user_of
from tests.e2e.resource_manager import ResourceManager, run_command
from tests.e2e.territory import WRITES, Manifest, Territory, cross_pair, pair, service

ALL_PODS = {"namespace-selectors": "[{}]"}


class Restricted:
    """Two namespaces that a service account may look after, and one that it may not."""

    def __init__(self, territory: Territory) -> None:
        self.territory = territory
        self.control_plane = territory.control_plane
        self.shop, self.web, self.hidden = (territory.namespace(name) for name in ("shop", "web", "hidden"))
        self.home = territory.namespace("account", handled=False)
        grant_within(self.control_plane, self.home, [self.shop, self.web])
        kubeconfig = account_kubeconfig(self.control_plane, self.home, territory.folder)
        connection = {"kubeconfig": str(kubeconfig), "namespaces": [self.shop, self.web]}
        self.config: Manifest = territory.configuration(source=connection)

    def touched(self) -> set[str]:
        """The namespaces in which the account has written."""
        events = self.control_plane.audit_events(user_of(self.home), WRITES)
        return {event["objectRef"]["namespace"].removeprefix(f"{self.territory.prefix}-") for event in events}


@pytest.fixture
def restricted(territory: Territory) -> Restricted:
    return Restricted(territory)


def test_what_is_out_of_sight_is_neither_asked_for_nor_touched(territory: Territory, restricted: Restricted) -> None:
    """Another process has made policies for the hidden Service, some of them in namespaces that can be seen."""
    territory.create(
        service(restricted.shop, "cart", annotations=ALL_PODS),
        service(restricted.hidden, "vault", annotations={"namespace-selectors": json.dumps([named(restricted.web)])}),
    )
    vaults = pair("hidden", "vault-tcp-8080") | cross_pair("hidden", "vault-tcp-8080", "web")
    theirs = territory.configuration({"namespaceSelectors": [named(restricted.hidden)]})
    with ResourceManager(territory.folder, theirs, name="theirs") as process:
        territory.wait_for_policies(vaults)
        process.terminate()

    ours = pair("shop", "cart-tcp-8080") | cross_pair("shop", "cart-tcp-8080", "web")
    with ResourceManager(territory.folder, restricted.config) as process:
        territory.wait_for_policies(vaults | ours)
        territory.label_namespace(restricted.web, {"new": "label"})
        process.wait_until_idle()
        territory.delete("Service", restricted.shop, "cart")
        territory.wait_for_policies(vaults)
        assert process.terminate() == 0

    assert refusals_of(territory.control_plane, restricted.home) == []
    assert restricted.touched() == {"shop", "web"}


def test_a_plan_reads_the_configured_cluster_and_its_namespaces(
    territory: Territory, restricted: Restricted, tmp_path: Path
) -> None:
    territory.create(service(restricted.shop, "cart"), service(restricted.hidden, "vault"))
    config_file = tmp_path / "config.yaml"
    config_file.write_text(yaml.safe_dump(restricted.config), encoding="utf-8")
    plan = ("plan", "network-policy", "--config", str(config_file), "-o", "json")

    configured = run_command(*plan)
    flagged = run_command(*plan, "--kubeconfig", str(territory.kubeconfig))

    assert (configured.returncode, configured.stderr) == (2, "2 to create\n")
    assert {action["namespace"] for action in json.loads(configured.stdout)["actions"]} == {restricted.shop}
    assert flagged.stdout == configured.stdout
    assert refusals_of(territory.control_plane, restricted.home) == []
    wait_until(
        lambda: bool(territory.control_plane.audit_events(territory.user, ["list"])),
        timeout=PATIENCE,
        otherwise=lambda: AssertionError("the kubeconfig of the flag was not taken"),
    )


def named(namespace: str) -> Manifest:
    """Selects one namespace."""
    return {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
