"""The page for operators names what the process really tells, and everything of it."""

import json
import re
from pathlib import Path

import yaml

from hedgerow_adapters.runtime.runner import KEYS_OF_A_WORKER
from hedgerow_adapters.telemetry.metrics import RuntimeMetrics
from hedgerow_adapters.telemetry.webhooks import WebhookMetrics
from hedgerow_entrypoints.components import RUNNABLE, component

REPOSITORY = Path(__file__).parents[2]
PAGE = (REPOSITORY / "docs" / "operations.md").read_text(encoding="utf-8")
PREFIXES = "controller_runtime|workqueue|rest_client|leader|hedgerow|certwatcher"
METRIC = re.compile(rf"^\| `((?:{PREFIXES})_\w+)` \|", re.MULTILINE)
EVENTS = PAGE.partition("### Events")[2].partition("\n## ")[0]
REASON = re.compile(r'"([A-Z]\w+)"')


CHARTS = REPOSITORY / "deploy" / "charts"
RULES = [
    rule
    for file in sorted(CHARTS.glob("*/files/alerts.yaml"))
    for group in yaml.safe_load(file.read_text(encoding="utf-8"))["groups"]
    for rule in group["rules"]
]


def exposed() -> set[str]:
    """The names of all metrics that a process of some component may have."""
    metrics = RuntimeMetrics()
    WebhookMetrics(metrics.registry, ["/webhook"])
    metrics.controller("any", workers=1)
    metrics.queue("any")
    kinds = {metric.name: metric.type for metric in metrics.registry.collect()}
    counted = {f"{name}_total" if kind == "counter" else name for name, kind in kinds.items()}
    return {*(name for name in counted if not name.startswith("process_")), *reported()}


def reported() -> set[str]:
    """Those of single objects."""
    configurations = [(each, each.document()) for each in map(component, RUNNABLE) if each.document]
    declared = [entry.build(default, "") for each, default in configurations for entry in each.controllers]
    return {controller.reported.metric for controller in declared if controller.reported}


def test_every_metric_is_explained_and_no_other() -> None:
    assert set(METRIC.findall(PAGE)) == exposed()


def test_every_alert_is_about_metrics_that_exist() -> None:
    named = {name for rule in RULES for name in re.findall(rf"\b(?:{PREFIXES})_\w+", rule["expr"])}

    assert named
    assert named - exposed() == set()


def test_every_dashboard_shows_metrics_that_exist() -> None:
    for file in sorted(CHARTS.glob("*/files/dashboard.json")):
        panels = json.loads(file.read_text(encoding="utf-8"))["panels"]
        queries = [target["expr"] for panel in panels for target in panel.get("targets", ())]
        named = {name for query in queries for name in re.findall(rf"\b(?:{PREFIXES})_\w+", query)}

        assert queries
        assert {name.removesuffix("_bucket") for name in named} - exposed() == set(), file


def test_every_alert_stands_in_the_runbook_where_it_says() -> None:
    rows = dict(re.findall(r'^\| <a id="(\w+)"></a>`(Hedgerow\w+)` \| .+ \| .+ \|$', PAGE, re.MULTILINE))

    places = {rule["annotations"]["runbook"]: rule["alert"] for rule in RULES}

    assert places == {f"docs/operations.md#{anchor}": name for anchor, name in rows.items()}


def test_every_event_that_is_explained_exists() -> None:
    reasons = re.findall(r"^\| `(\w+)` \|", EVENTS, re.MULTILINE)
    sources = "".join(
        path.read_text(encoding="utf-8")
        for folder in ("core", "adapters", "entrypoints")
        for path in (REPOSITORY / folder).rglob("*.py")
    )

    assert set(reasons) <= set(REASON.findall(sources))


def test_the_pages_say_how_many_keys_a_worker_has_under_way() -> None:
    number = {3: "three"}[KEYS_OF_A_WORKER]
    configuration = (REPOSITORY / "docs" / "configuration.md").read_text(encoding="utf-8")

    assert f"reconciliations: {number} for each of `concurrentSyncs` workers" in PAGE
    assert configuration.count("| `concurrentSyncs` |") == configuration.count(f"each has up to {number} ")
