"""The roles that `hedgerow install rsyslog-relp` prints are enough for the process, and none is idle."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from hedgerow.admission.registration import WebhookServer
from hedgerow.api.gardener import OPERATING_SYSTEM_CONFIGS, SHOOTS
from hedgerow.api.kubernetes import NAMESPACES, SECRETS
from hedgerow.api.managed_resources import MANAGED_RESOURCES
from hedgerow.rsyslog_relp import operating_system_config_webhook, shoot_admission_webhook
from hedgerow.rsyslog_relp.cleaning import CleanerImages, cleaner_objects
from hedgerow.rsyslog_relp.registration import NAME, webhook_configurations
from tests.contract.webhook_server import ServingPair
from tests.control_plane import PATIENCE, ControlPlane, wait_until
from tests.e2e.permissions import ROLES, account_kubeconfig, granted, refusals_of, used
from tests.e2e.resource_manager import ResourceManager, configuration, run_here
from tests.e2e.rsyslog.seed import TYPE, ExtensionProcess, Shoot
from tests.e2e.rsyslog.test_webhooks import CONFIG, LABELS, registered, until_asked

# The certificate of this test is a file.
EVERYTHING = {"config.webhooks.shoot.enabled": "true", "config.server.webhooks.tls.provision": "files"}


@pytest.fixture
def home(seed: ControlPlane, namespace_prefix: str) -> Iterator[str]:
    """The namespace of an installation, where its roles are as they are printed."""
    namespace = f"{namespace_prefix}-extension"
    seed.kubectl("create", "namespace", namespace)
    roles = yaml.safe_dump_all(printed_roles(namespace))
    seed.kubectl("apply", "-f", "-", input=roles)
    yield namespace
    seed.kubectl("delete", "-f", "-", input=roles)


def printed_roles(namespace: str) -> list[dict[str, Any]]:
    settings = [part for name, value in EVERYTHING.items() for part in ("--set", f"{name}={value}")]
    printed = run_here("install", "rsyslog-relp", "--namespace", namespace, *settings)
    return [each for each in yaml.safe_load_all(printed.stdout) if each["kind"] in ROLES]


@pytest.fixture
def process(
    seed: ControlPlane, shoot: Shoot, home: str, serving_pair: ServingPair, tmp_path: Path
) -> Iterator[ExtensionProcess]:
    """The process that does everything, as the service account of its installation."""
    settings = shoot.settings(
        clientConnection={"kubeconfig": str(account_kubeconfig(seed, home, tmp_path, NAME))},
        leaderElection={"leaderElect": True, "resourceNamespace": home},
        controllers={"heartbeat": {"enabled": True, "namespace": home, "renewInterval": "1s"}},
        webhooks={"operatingSystemConfig": {"enabled": True}, "shoot": {"enabled": True}},
    )
    with ExtensionProcess(tmp_path, settings, name="extension") as running:
        running.wait_ready()
        server = WebhookServer("", "", serving_pair.certificate_pem, f"https://127.0.0.1:{running.webhook_port}")
        webhooks = (operating_system_config_webhook(), shoot_admission_webhook())
        with registered(seed, webhook_configurations(webhooks, server)):
            yield running


def test_the_roles_allow_everything_that_the_process_does_and_nothing_else(
    seed: ControlPlane, shoot: Shoot, home: str, process: ExtensionProcess, tmp_path: Path
) -> None:
    tls = {"tls": {"enabled": True, "secretReferenceName": "certificates"}}
    resources = [{"name": "certificates", "resourceRef": {"apiVersion": "v1", "kind": "Secret", "name": "relp"}}]
    extensions = [{"type": TYPE, "providerConfig": {**CONFIG, **tls}}]
    shoot.create(SECRETS, {"metadata": {"namespace": shoot.namespace, "name": "relp"}})

    until_asked(shoot, OPERATING_SYSTEM_CONFIGS, {"spec": {"purpose": "reconcile"}})
    ask_before_the_cluster_is_there(shoot)
    spec = {"extensions": extensions, "resources": resources}
    until_asked(shoot, SHOOTS, {"metadata": {"labels": LABELS}, "spec": spec})
    shoot.enable({**CONFIG, **tls})
    until(lambda: shoot.last_operation == ("Create", "Succeeded"))
    seed.kubectl("patch", "configmap", f"{TYPE}-prometheus", f"--namespace={shoot.namespace}", '--patch={"data": null}')
    shoot.ask_for("reconcile")
    until(lambda: shoot.last_operation == ("Reconcile", "Succeeded"))
    with ResourceManager(tmp_path, configuration(seed.kubeconfig(), network_policy={"enabled": False})):
        shoot.disable()
        until(lambda: shoot.extension is None)
        leave_an_older_cleaner(shoot)
        shoot.enable()
        until(lambda: shoot.last_operation == ("Create", "Succeeded"))
        shoot.disable()
        until(lambda: shoot.extension is None)
    assert process.terminate() == 0

    assert refusals_of(seed, home, NAME) == []
    assert used(seed, home, NAME) == granted(printed_roles(home))


def ask_before_the_cluster_is_there(shoot: Shoot) -> None:
    """Only then a Cluster is read live."""
    name = f"{shoot.namespace}-new"
    shoot.create(NAMESPACES, {"metadata": {"name": name, "labels": {f"extensions.gardener.cloud/{TYPE}": "true"}}})
    osc = {"metadata": {"namespace": name, "name": "nodes"}, "spec": {"purpose": "reconcile"}}
    assert "could not get cluster" in shoot.ask_to_create(OPERATING_SYSTEM_CONFIGS, osc)[1]["message"]


def leave_an_older_cleaner(shoot: Shoot) -> None:
    """What has to be updated when the extension is disabled."""
    secret, managed_resource = cleaner_objects(shoot.namespace, CleanerImages())
    name = secret["metadata"]["name"]
    shoot.create(SECRETS, {"metadata": {"namespace": shoot.namespace, "name": name}})
    shoot.create(SECRETS, {"metadata": {"namespace": shoot.namespace, "name": "former"}})
    spec = {**managed_resource["spec"], "secretRefs": [{"name": "former"}]}
    shoot.create(MANAGED_RESOURCES, {**managed_resource, "spec": spec})


def until(is_so: Any) -> None:
    wait_until(is_so, timeout=PATIENCE, otherwise=lambda: AssertionError(f"not within {PATIENCE} s"))
