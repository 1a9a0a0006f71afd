"""How the process of a seed lets extensions reach the garden."""

from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from hedgerow.machinery.configuration.reading import decode
from hedgerow.machinery.configuration.section import Purpose
from hedgerow.machinery.objects import ObjectKey
from hedgerow.registration.configuration import SeedExtensionsConfiguration
from hedgerow.registration.garden_access import GardenAccess
from hedgerow_entrypoints.components.registry import ControllerEntry
from hedgerow_entrypoints.components.seed_extensions import COMPONENT, PLACEHOLDER
from hedgerow_entrypoints.errors import CommandError

LEASE = ObjectKey("garden", "token-requestor")
SERVER = "https://garden.example.com"


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)


def kubeconfig(folder: Path, **cluster: Any) -> str:
    path = folder / "kubeconfig"
    named = {"server": SERVER, **cluster}
    content = {
        "clusters": [{"name": "garden", "cluster": named}],
        "contexts": [{"name": "garden", "context": {"cluster": "garden", "user": "me"}}],
        "users": [{"name": "me", "user": {"token": "x"}}],
        "current-context": "garden",
    }
    path.write_text(yaml.safe_dump(content))
    return str(path)


def configured(connection: Mapping[str, str], *, enabled: bool = True) -> SeedExtensionsConfiguration:
    document = {
        "apiVersion": "seedextensions.config.gardener.cloud/v1alpha1",
        "kind": "SeedExtensionsConfiguration",
        "leaderElection": {"resourceNamespace": "garden"},
        "seedConfig": {"metadata": {"name": "aws-eu1"}},
        "gardenClientConnection": {**connection},
        "gardenAccess": {"enabled": enabled, "tokenRequestorLease": LEASE._asdict()},
    }
    return decode(SeedExtensionsConfiguration, document, Purpose.RUN).unwrap().configuration


def installing() -> ControllerEntry[SeedExtensionsConfiguration]:
    (entry,) = (each for each in COMPONENT.controllers if each.name == "controllerinstallation")
    return entry


def access(connection: Mapping[str, str], *, enabled: bool = True) -> GardenAccess | None:
    configuration = configured(connection, enabled=enabled)
    (controller,) = (each for each in COMPONENT.running(configuration, "") if each.name == installing().name)
    found = controller.config.garden_access
    assert found is None or isinstance(found, GardenAccess)
    return found


def encoded(authorities: bytes) -> str:
    return b64encode(authorities).decode()


def test_extensions_do_not_reach_the_garden_unless_that_is_asked_for() -> None:
    assert access({}, enabled=False) is None


def test_extensions_reach_the_garden_as_the_process_does(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, **{"certificate-authority-data": encoded(b"own")})

    assert access({"kubeconfig": path}) == GardenAccess(SERVER, b"own", token_requestor=LEASE)


@pytest.mark.parametrize(
    ("connection", "expected"),
    [
        ({"gardenClusterAddress": "https://other"}, GardenAccess("https://other", b"", is_insecure=True)),
        ({"gardenClusterCACert": encoded(b"ca")}, GardenAccess(SERVER, b"ca")),
    ],
)
def test_what_is_configured_wins(tmp_path: Path, connection: dict[str, str], expected: GardenAccess) -> None:
    found = access({"kubeconfig": kubeconfig(tmp_path, **{"insecure-skip-tls-verify": True}), **connection})

    assert found is not None
    assert (found.server, found.certificate_authorities) == (expected.server, expected.certificate_authorities)
    assert found.is_insecure is expected.is_insecure


def test_a_connection_without_encryption_has_nothing_to_trust(tmp_path: Path) -> None:
    found = access({"kubeconfig": kubeconfig(tmp_path, server="http://127.0.0.1:8080")})

    assert found == GardenAccess("http://127.0.0.1:8080", token_requestor=LEASE)


def test_nothing_else_is_read_where_everything_is_configured() -> None:
    connection = {"gardenClusterAddress": "https://other", "gardenClusterCACert": encoded(b"ca")}

    assert access(connection) == GardenAccess("https://other", b"ca", token_requestor=LEASE)


def test_only_a_process_asks_how_it_reaches_the_garden_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
    configuration = configured({"gardenClusterCACert": encoded(b"ca")})

    found = installing().build(configuration, "").config.garden_access

    assert found == GardenAccess(PLACEHOLDER, b"ca", token_requestor=LEASE)


def test_without_an_address_nothing_starts() -> None:
    with pytest.raises(CommandError, match="without gardenClusterAddress and gardenClusterCACert"):
        access({})


def test_where_a_seed_is_the_garden_its_process_decides_for_all_seeds_first() -> None:
    decides = {name: {"enabled": True} for name in ("controllerRegistration", "controllerDeployment")}
    document = {
        "apiVersion": "seedextensions.config.gardener.cloud/v1alpha1",
        "kind": "SeedExtensionsConfiguration",
        "leaderElection": {"resourceNamespace": "garden"},
        "seedConfig": {"metadata": {"name": "own"}},
        "controllers": {**decides, "shootExtensions": {"enabled": True}},
    }
    configuration = decode(SeedExtensionsConfiguration, document, Purpose.RUN).unwrap().configuration

    assert [each.name for each in COMPONENT.declared(configuration, "")] == [
        "controllerregistration-seed",
        "controllerregistration-controllerregistration-finalizer",
        "controllerregistration-seed-finalizer",
        "controllerdeployment",
        "controllerinstallation",
        "controllerinstallation-care",
        "controllerinstallation-required",
        "seed-extensions-check",
        "shoot-extensions",
    ]
