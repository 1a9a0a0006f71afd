"""The configuration files of controller-manager and seed-extensions."""

from datetime import timedelta
from typing import Any

import pytest

from hedgerow.machinery.configuration.reading import decode
from hedgerow.machinery.configuration.section import Purpose
from hedgerow.registration.configuration import ControllerManagerConfiguration, SeedExtensionsConfiguration
from hedgerow.version import __version__

ELECTION = {"leaderElection": {"resourceNamespace": "garden"}}
NAMED = {"seedConfig": {"metadata": {"name": "aws-eu1"}}}
LEASE = {"namespace": "garden", "name": "token-requestor"}


def of_garden(purpose: Purpose = Purpose.RUN, **sections: Any) -> Any:
    head = {
        "apiVersion": "controllermanager.config.gardener.cloud/v1alpha1",
        "kind": "ControllerManagerConfiguration",
    }
    return decode(ControllerManagerConfiguration, {**head, **ELECTION, **sections}, purpose)


def of_seed(purpose: Purpose = Purpose.RUN, **sections: Any) -> Any:
    head = {"apiVersion": "seedextensions.config.gardener.cloud/v1alpha1", "kind": "SeedExtensionsConfiguration"}
    return decode(SeedExtensionsConfiguration, {**head, **ELECTION, **NAMED, **sections}, purpose)


def test_the_garden_has_the_defaults_of_the_reference() -> None:
    config = of_garden().unwrap().configuration

    assert (config.controllers.controller_registration.enabled, config.controllers.controller_deployment.enabled) == (
        True,
        True,
    )
    assert config.controllers.controller_registration.concurrent_syncs == 5
    assert config.controllers.controller_deployment.concurrent_syncs == 5
    assert (config.require_garden_secrets, config.seed_provider_extensions) == (False, True)
    assert config.leader_election.resource_name == "hedgerow-controller-manager"


def test_a_seed_has_the_defaults_of_the_reference() -> None:
    config = of_seed().unwrap().configuration
    controllers = config.controllers

    assert controllers.controller_installation.concurrent_syncs == 20
    assert controllers.controller_installation_care.concurrent_syncs == 20
    assert controllers.controller_installation_care.sync_period == timedelta(seconds=30)
    assert controllers.controller_installation_required.concurrent_syncs == 1
    assert controllers.seed_extensions_check.concurrent_syncs == 5
    assert controllers.seed_extensions_check.sync_period == timedelta(seconds=30)
    assert controllers.seed_extensions_check.threshold == timedelta(0)
    assert (config.helm.binary, config.helm.timeout, config.helm.api_versions) == ("helm", timedelta(seconds=60), ())
    assert (config.garden_access.enabled, config.identity.version, config.feature_gates) == (False, __version__, {})


def test_what_decides_for_all_seeds_or_for_shoots_is_off_in_the_process_of_a_seed() -> None:
    controllers = of_seed().unwrap().configuration.controllers

    assert {each.attribute for each in controllers.declared if not getattr(controllers, each.attribute).enabled} == {
        "controller_registration",
        "controller_deployment",
        "shoot_extensions",
    }


def test_each_seed_has_a_lease_of_its_own() -> None:
    assert of_seed().unwrap().configuration.leader_election.resource_name == "hedgerow-seed-extensions-aws-eu1"


def test_the_name_of_the_lease_can_be_chosen() -> None:
    config = of_seed(leaderElection={"resourceNamespace": "garden", "resourceName": "mine"}).unwrap().configuration

    assert config.leader_election.resource_name == "mine"


def test_the_last_threshold_counts() -> None:
    thresholds = [{"type": "ExtensionsReady", "duration": each} for each in ("5m", "1m")]
    config = of_seed(controllers={"seedExtensionsCheck": {"conditionThresholds": thresholds}}).unwrap().configuration

    assert config.controllers.seed_extensions_check.threshold == timedelta(minutes=1)


def test_feature_gates_are_truths() -> None:
    assert of_seed(featureGates={"HVPA": True}).unwrap().configuration.feature_gates == {"HVPA": True}
    problem = 'featureGates.HVPA: expected a boolean, got a string: "yes"'
    assert problem in str(of_seed(featureGates={"HVPA": "yes"}).failure())


@pytest.mark.parametrize("name", ["sourceClientConnection", "gardenClientConnection"])
def test_the_way_to_the_garden_has_the_name_of_gardener_too(name: str) -> None:
    connection: dict[str, Any] = {
        name: {"kubeconfig": "garden.yaml", "gardenClusterAddress": "https://garden.example.com"}
    }
    garden, seed = of_garden(**connection).unwrap().configuration, of_seed(**connection).unwrap().configuration

    assert garden.garden_client_connection.kubeconfig == "garden.yaml"
    assert seed.garden_client_connection.garden_cluster_address == "https://garden.example.com"


SEED_IS_MISSING = "seedConfig.metadata.name: Required value: is the Seed that controllers work for"


def test_a_process_that_works_for_a_seed_names_it() -> None:
    assert SEED_IS_MISSING in str(of_seed(seedConfig={}).failure())


def test_commands_without_a_cluster_work_for_all_seeds() -> None:
    assert of_seed(Purpose.OFFLINE, seedConfig={}).unwrap().configuration.seed == ""


def test_a_process_that_only_decides_for_all_seeds_names_none() -> None:
    names = ("controllerInstallation", "controllerInstallationCare", "controllerInstallationRequired")
    controllers: dict[str, Any] = {name: {"enabled": False} for name in (*names, "seedExtensionsCheck")}
    config = of_seed(seedConfig={}, controllers=controllers).unwrap().configuration

    assert config.leader_election.resource_name == "hedgerow-seed-extensions"


@pytest.mark.parametrize("name", ["controllerRegistration", "controllerDeployment"])
def test_only_a_seed_that_is_the_garden_decides_for_all_seeds(name: str) -> None:
    controllers = {name: {"enabled": True}}
    problem = (
        f"controllers.{name}.enabled: Forbidden: must not be set together with targetClientConnection: "
        "controller-manager decides for all seeds"
    )

    assert problem in str(of_seed(targetClientConnection={}, controllers=controllers).failure())
    assert of_seed(controllers=controllers).unwrap()


@pytest.mark.parametrize("missing", ["namespace", "name"])
def test_garden_access_names_the_token_requestor_without_which_pods_would_wait(missing: str) -> None:
    lease = {name: text for name, text in LEASE.items() if name != missing}
    problem = (
        f"gardenAccess.tokenRequestorLease.{missing}: Required value: "
        "names the token requestor of class garden, without which pods wait for a token"
    )

    assert problem in str(of_seed(gardenAccess={"enabled": True, "tokenRequestorLease": lease}).failure())
    assert of_seed(gardenAccess={"enabled": True, "tokenRequestorLease": LEASE}).unwrap()
    assert of_seed(gardenAccess={"enabled": False, "tokenRequestorLease": lease}).unwrap()


@pytest.mark.parametrize(
    ("sections", "problem"),
    [
        ({"helm": {"binary": ""}}, "helm.binary: Required value: must name a program"),
        ({"helm": {"timeout": "0s"}}, "helm.timeout: Invalid value: 0s: must be greater than zero"),
        (
            {"controllers": {"controllerInstallationCare": {"syncPeriod": "1ms"}}},
            "controllers.controllerInstallationCare.syncPeriod: Invalid value: 1ms: must be at least 1s",
        ),
        (
            {"controllers": {"seedExtensionsCheck": {"conditionThresholds": [{"type": "Ready"}]}}},
            'controllers.seedExtensionsCheck.conditionThresholds[0].type: Unsupported value: "Ready"',
        ),
        (
            {"controllers": {"seedExtensionsCheck": {"conditionThresholds": [{"duration": "-1s"}]}}},
            "conditionThresholds[0].duration: Invalid value: -1s: must be at least 0s",
        ),
        ({"seedConfig": {"metadata": {"name": "A"}}}, "seedConfig.metadata.name: Invalid value"),
    ],
)
def test_mistakes_are_told_by_their_fields(sections: dict[str, Any], problem: str) -> None:
    assert problem in str(of_seed(**sections).failure())


def test_certificate_authorities_of_the_garden_are_base64() -> None:
    problem = str(of_seed(gardenClientConnection={"gardenClusterCACert": "PEM"}).failure())

    assert 'gardenClientConnection.gardenClusterCACert: Invalid value: "PEM": must be encoded in base64' in problem
