"""What a component need not declare, and what its configuration gets that leaves it out."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from hedgerow.installation.certificates import registrations
from hedgerow.installation.completion import NAMESPACE, completion, filled
from hedgerow.installation.installation import Installation
from hedgerow.installation.manifests import manifests
from hedgerow.installation.values import Values, WebhookValues
from hedgerow.machinery.configuration.process import ClientConnection, LeaderElection, Server
from hedgerow_entrypoints.cli.install import installation
from hedgerow_entrypoints.cli.stated_values import complete_values
from hedgerow_entrypoints.components import RESOURCE_MANAGER
from tests.golden.installation.chart import CASES, CHARTS


class Bare(Installation[Values, Any]):
    """A component with neither controllers nor webhooks."""

    component = "bare"
    process = "hedgerow-bare"
    values_type = Values
    completion = {"controllers": {"beat": {"namespace": NAMESPACE}}}  # noqa: RUF012 -- an example


class Serving(Bare):
    """A component that may serve webhooks."""

    values_type = WebhookValues


def bare(*, leader_elect: bool) -> Bare:
    return Bare(
        values=Values.model_validate({"config": {}}),
        namespace="home",
        version="1",
        document={},
        configuration=None,
        source=ClientConnection(),
        separate_target=None,
        server=Server(),
        leader_election=LeaderElection(leader_elect=leader_elect, resource_name="bare", resource_namespace="home"),
        controllers=(),
        webhooks=(),
    )


def test_a_component_without_webhooks_registers_and_mounts_nothing() -> None:
    made = manifests(bare(leader_elect=True), "").unwrap()

    assert [each["kind"] for each in made] == [
        "ServiceAccount",
        "ConfigMap",
        "ClusterRole",
        "ClusterRoleBinding",
        "Role",
        "RoleBinding",
        "Service",
        "Deployment",
        "PodDisruptionBudget",
    ]
    pod = next(each for each in made if each["kind"] == "Deployment")["spec"]["template"]["spec"]
    assert [volume["name"] for volume in pod["volumes"]] == ["config", "api-access"]
    assert pod["containers"][0]["args"] == ["run", "bare", "--config=/etc/hedgerow-bare/config/config.yaml"]


def test_a_process_that_competes_for_no_lease_needs_no_role_in_its_namespace() -> None:
    assert "Role" not in {each["kind"] for each in manifests(bare(leader_elect=False), "").unwrap()}


def test_a_configuration_is_completed_with_what_only_the_release_knows() -> None:
    assert completion(Bare, "home", "bare") == {
        "controllers": {"beat": {"namespace": "home"}},
        "leaderElection": {"resourceNamespace": "home"},
    }
    tls = completion(Serving, "home", "serving")["server"]["webhooks"]["tls"]
    assert (tls["provision"], tls["serverCertDir"]) == ("self", "/etc/hedgerow-bare/certificates")
    assert tls["self"] == {
        "secretName": "serving-webhook-certificates",
        "secretNamespace": "home",
        "registrations": "/etc/hedgerow-bare/config/webhooks.yaml",
    }


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({}, {"a": {"b": "c"}}),
        ({"a": None}, {"a": {"b": "c"}}),
        ({"a": {"b": ""}}, {"a": {"b": "c"}}),
        ({"a": {"b": "d", "e": 1}, "f": 2}, {"a": {"b": "d", "e": 1}, "f": 2}),
    ],
)
def test_what_is_stated_stays(document: dict[str, Any], expected: dict[str, Any]) -> None:
    assert filled(document, {"a": {"b": "c"}}) == expected


@pytest.mark.parametrize(("component", "case"), CASES, ids=lambda part: getattr(part, "name", part))
def test_a_process_knows_every_registration_that_may_be_its_own(component: str, case: Path) -> None:
    chart = CHARTS[component]
    stated = yaml.safe_load((case / "values.yaml").read_text(encoding="utf-8"))
    wanted = installation(chart.component, complete_values(chart.declared.values_type, stated), "garden")

    named = {(each["kind"], each["metadata"]["name"]) for each in wanted.registrations}

    assert named <= set(wanted.registration_names.items())


def test_a_process_is_told_of_registrations_none_of_whose_webhooks_is_enabled() -> None:
    section = {"webhooks": {"seccompProfile": {"enabled": True}}}
    tls = {"provision": "self", "self": {"secretName": "own"}}
    wanted = CHARTS[RESOURCE_MANAGER].installed({**section, "server": {"webhooks": {"tls": tls}}})

    assert {each["kind"]: len(each["webhooks"]) for each in wanted.provided_registrations} == {
        "MutatingWebhookConfiguration": 1,
        "ValidatingWebhookConfiguration": 0,
    }
    assert [each["kind"] for each in registrations(wanted)] == ["MutatingWebhookConfiguration"]
    patched = {each.plural for each in wanted.permissions if "patch" in each.verbs}
    assert patched >= {"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}
