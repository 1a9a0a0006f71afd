"""Dashboards as Grafana reads them."""

import json
from typing import Any

import pytest

from hedgerow.installation.dashboard import CHOSEN
from hedgerow.installation.installation import Installation
from hedgerow.installation.monitoring import dashboard_file
from hedgerow.registration.installation import ControllerManagerInstallation, SeedExtensionsInstallation
from hedgerow.resource_manager.installation import ResourceManagerInstallation
from hedgerow.rsyslog_relp.installation import RsyslogRelpInstallation

COMMON = ["Overview", "Controllers", "Queues", "Caches"]
OF_WEBHOOKS = ["Webhooks", "Certificates"]
INSTALLATIONS: list[tuple[type[Installation[Any, Any]], list[str]]] = [
    (ResourceManagerInstallation, [*COMMON, *OF_WEBHOOKS, "ManagedResources"]),
    (ControllerManagerInstallation, [*COMMON, *OF_WEBHOOKS]),
    (SeedExtensionsInstallation, [*COMMON, "ControllerInstallations"]),
    (RsyslogRelpInstallation, [*COMMON, *OF_WEBHOOKS, "Extensions"]),
]


def panels(declared: type[Installation[Any, Any]]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(dashboard_file(declared))["panels"]
    return found


@pytest.mark.parametrize(("declared", "rows"), INSTALLATIONS)
def test_a_component_has_rows_for_what_it_does(declared: type[Installation[Any, Any]], rows: list[str]) -> None:
    assert [panel["title"] for panel in panels(declared) if panel["type"] == "row"] == rows


@pytest.mark.parametrize(("declared", "rows"), INSTALLATIONS)
def test_no_panel_covers_another_and_each_has_its_number(
    declared: type[Installation[Any, Any]], rows: list[str]
) -> None:
    found = panels(declared)
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in found)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]

    assert len(cells) == len({*cells})
    assert {x for x, _ in cells} == {*range(24)}
    assert [panel["id"] for panel in found] == [*range(1, len(found) + 1)]


@pytest.mark.parametrize(("declared", "rows"), INSTALLATIONS)
def test_every_query_is_about_the_installations_that_were_chosen(
    declared: type[Installation[Any, Any]], rows: list[str]
) -> None:
    queries = [target["expr"] for panel in panels(declared) for target in panel.get("targets", ())]

    assert queries
    assert [query for query in queries if query.count("{") != query.count(f"{{{CHOSEN}") or "{" not in query] == []
