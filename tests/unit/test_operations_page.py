"""The page for operators names what the process really tells, and everything of it."""

import re
from pathlib import Path

from hedgerow_adapters.telemetry import RuntimeMetrics
from hedgerow_adapters.telemetry.webhooks import WebhookMetrics

REPOSITORY = Path(__file__).parents[2]
PAGE = (REPOSITORY / "docs" / "operations.md").read_text(encoding="utf-8")
METRIC = re.compile(r"^\| `((?:controller_runtime|workqueue|rest_client|leader|hedgerow|certwatcher)_\w+)` \|", re.MULTILINE)
EVENTS = PAGE.partition("### Events")[2].partition("\n## ")[0]
REASON = re.compile(r'"([A-Z]\w+)"')


def test_every_metric_is_explained_and_no_other() -> None:
    metrics = RuntimeMetrics()
    WebhookMetrics(metrics.registry, ["/webhook"])
    metrics.controller("any", workers=1)
    metrics.queue("any")
    kinds = {metric.name: metric.type for metric in metrics.registry.collect()}

    told = {f"{name}_total" if kind == "counter" else name for name, kind in kinds.items()}

    assert set(METRIC.findall(PAGE)) == {name for name in told if not name.startswith("process_")}


def test_every_event_that_is_explained_exists() -> None:
    reasons = re.findall(r"^\| `(\w+)` \|", EVENTS, re.MULTILINE)
    sources = "".join(
        path.read_text(encoding="utf-8")
        for folder in ("core", "adapters", "entrypoints")
        for path in (REPOSITORY / folder).rglob("*.py")
    )

    assert set(reasons) <= set(REASON.findall(sources))
