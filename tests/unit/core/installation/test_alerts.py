"""What alerts are made of."""

import pytest

from hedgerow.installation.alerts import OF_PROCESSES, OWN, matchers
from hedgerow.installation.monitoring import alerts_of, rule_file
from hedgerow.registration.installation import SeedExtensionsInstallation
from hedgerow.resource_manager.installation import ResourceManagerInstallation


def test_rules_find_every_installation_of_a_name_or_one_of_them() -> None:
    assert matchers("gardener-resource-manager") == 'job="gardener-resource-manager"'
    assert matchers("virtual-garden", "garden") == 'job="virtual-garden",namespace="garden"'


@pytest.mark.parametrize("alert", alerts_of(ResourceManagerInstallation), ids=lambda alert: alert.name)
def test_every_selector_of_an_alert_is_limited_to_the_installation(alert: object) -> None:
    assert isinstance(alert, type(OF_PROCESSES[0]))
    rule = alert.rule(matchers("its-name", "its-namespace"))

    assert rule["expr"].count("{") == rule["expr"].count('{job="its-name",namespace="its-namespace"') > 0
    assert OWN not in rule["expr"]


def test_a_component_without_webhooks_has_no_alerts_about_them() -> None:
    names = [rule["alert"] for rule in rule_file(SeedExtensionsInstallation)["groups"][0]["rules"]]

    assert not [name for name in names if "Webhook" in name or "Certificate" in name]
    assert names[-1] == "HedgerowInstallationFails"


def test_names_of_alerts_are_used_once() -> None:
    names = [alert.name for alert in alerts_of(ResourceManagerInstallation)]

    assert len(names) == len({*names})
