"""The queries of dashboards are PromQL, and about metrics that a running process has."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.contract.webhook_server import ServingPair
from tests.e2e.alerts.monitored import CHARTS, Prometheus
from tests.e2e.alerts.test_rules import COMPONENTS
from tests.e2e.replicas import Replica
from tests.e2e.rsyslog.programs import Programs
from tests.e2e.sandbox import Sandbox

VARIABLES = {"$__rate_interval": "5m", "$job": ".*", "$namespace": ".*"}
NOT_OURS = {"ALERTS", "up"}
SELECTED = re.compile(r"\b(\w+)\{")
OF_OTHER_COMPONENTS = {"hedgerow_controller_installation_condition", "hedgerow_extension_operation"}


def queries(component: str) -> list[str]:
    """The queries of a component's dashboard, as Grafana sends them."""
    dashboard: dict[str, Any] = json.loads((CHARTS / component / "files" / "dashboard.json").read_text())
    found = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", ())]
    for variable, value in VARIABLES.items():
        found = [query.replace(variable, value) for query in found]
    return found


@pytest.mark.parametrize("component", COMPONENTS)
def test_queries_are_valid(programs: Programs, tmp_path: Path, component: str) -> None:
    rules = [{"record": f"panel:{number}", "expr": query} for number, query in enumerate(queries(component))]
    file = tmp_path / "rules.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))

    ended = Prometheus(programs, tmp_path, component).promtool("check", "rules", file)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"{len(rules)} rules found" in ended.stdout


def test_a_running_process_has_what_the_dashboards_show(sandbox: Sandbox, long_pair: ServingPair) -> None:
    shown = {name for component in COMPONENTS for query in queries(component) for name in SELECTED.findall(query)}
    with Replica(sandbox, "leader", webhooks={"highAvailabilityConfig": {"enabled": True}}) as process:
        process.wait_until_leading()
        process.wait_ready()
        families = dict(re.findall(r"^# TYPE (\w+) (\w+)$", process.metrics(), re.MULTILINE))

    buckets = {f"{name}_bucket" for name, kind in families.items() if kind == "histogram"}
    assert shown - NOT_OURS - OF_OTHER_COMPONENTS - families.keys() - buckets == set()
