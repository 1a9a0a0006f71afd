"""What the project's own webhook makes of a Deployment reaches one that is settled, although nobody changes it."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import pytest

from tests.contract.webhook_server import ServingPair
from tests.e2e.admission import CONSIDERED, registered_for
from tests.e2e.hasty import PERIODS_OF_ANY_LENGTH
from tests.e2e.managed_resources.manager import HastyManager, Manager
from tests.e2e.managed_resources.manifests import config_map, deployment, named
from tests.e2e.managed_resources.sandbox import SETTLED, ManagedResourceSandbox

HA: Final = "high-availability-config.resources.gardener.cloud"
LOOKS: Final = 2


@pytest.fixture
def serving(sandbox: ManagedResourceSandbox, serving_pair: ServingPair) -> Iterator[Manager]:
    """A process that applies ManagedResources often, and serves the webhook that nobody has registered yet."""
    settings = sandbox.configuration(
        controllers={"managedResource": {"syncPeriod": "3s"}},
        webhooks={"highAvailabilityConfig": {"enabled": True}},
    )
    with HastyManager(sandbox.folder, settings, {}, before=PERIODS_OF_ANY_LENGTH) as running:
        running.wait_ready()
        yield running


def considered_deployment(namespace: str) -> dict[str, Any]:
    manifest = deployment(namespace, "web")
    manifest["metadata"]["labels"] = {**manifest["metadata"].get("labels", {}), f"{HA}/type": "server"}
    manifest["spec"].pop("replicas", None)
    return manifest


@pytest.mark.slow
def test_a_webhook_that_is_registered_later_and_zones_of_a_namespace_reach_a_settled_deployment(
    sandbox: ManagedResourceSandbox, serving: Manager, serving_pair: ServingPair
) -> None:
    web, settings = considered_deployment(sandbox.namespace), config_map(sandbox.namespace, "settings", a="1")
    namespace = named("v1", "Namespace", "", sandbox.namespace)
    sandbox.patch(namespace, {"metadata": {"labels": CONSIDERED}})
    sandbox.deliver("shop", web, settings)
    sandbox.wait_until_applied(expected=SETTLED)
    assert sandbox.get(web)["spec"]["replicas"] == 1

    with registered_for(sandbox.control_plane, sandbox.namespace, serving, serving_pair):
        sandbox.wait_for(lambda: bool(sandbox.get(web)["spec"]["replicas"] == 2), "the webhook reaches the Deployment")

        zones = {f"{HA}/zones": "a,b", f"{HA}/zone-pinning": "true"}
        sandbox.patch(namespace, {"metadata": {"annotations": zones}})
        sandbox.wait_for(lambda: "zone" in str(sandbox.get(web)["spec"]["template"]), "the zones reach it")
        sandbox.wait_until_applied(expected=SETTLED)
        serving.wait_until_idle()

        # What is judged of the Deployment may be written once more after that.
        serving.wait_for(partial(nothing_is_written, sandbox, serving), "something is written though nothing changes")


def nothing_is_written(sandbox: ManagedResourceSandbox, serving: Manager) -> bool:
    """Whether nothing is written while everything is looked at some more times."""
    position, looks = sandbox.control_plane.audit_position(), serving.reconciliations()
    serving.wait_for(lambda: serving.reconciliations() >= looks + LOOKS, "is not looked at again")
    return sandbox.writes(position) == []
