"""The page for operators names what the process really tells, and everything of it."""

import re
from pathlib import Path

import yaml

from hedgerow_adapters.telemetry.metrics import RuntimeMetrics
from hedgerow_adapters.telemetry.webhooks import WebhookMetrics

REPOSITORY = Path(__file__).parents[2]
PAGE = (REPOSITORY / "docs" / "operations.md").read_text(encoding="utf-8")
PREFIXES = "controller_runtime|workqueue|rest_client|leader|hedgerow|certwatcher"
METRIC = re.compile(rf"^\| `((?:{PREFIXES})_\w+)` \|", re.MULTILINE)
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


def test_every_alert_is_about_metrics_that_exist_and_stands_in_the_runbook() -> None:
    (block,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    rules = yaml.safe_load(block)["groups"][0]["rules"]

    named = {name for rule in rules for name in re.findall(rf"\b(?:{PREFIXES})_\w+", rule["expr"])}

    assert named <= set(METRIC.findall(PAGE))
    assert [rule["alert"] for rule in rules] == re.findall(r"^\| `(Hedgerow\w+)` \|", PAGE, re.MULTILINE)


def test_every_event_that_is_explained_exists() -> None:
    reasons = re.findall(r"^\| `(\w+)` \|", EVENTS, re.MULTILINE)
    sources = "".join(
        path.read_text(encoding="utf-8")
        for folder in ("core", "adapters", "entrypoints")
        for path in (REPOSITORY / folder).rglob("*.py")
    )

    assert set(reasons) <= set(REASON.findall(sources))


def test_every_line_of_the_log_that_is_explained_exists() -> None:
    rows = re.findall(r"^\| (`.+`) \| (?:info|warning|error) \|", PAGE, re.MULTILINE)
    texts = [text for row in rows for text in re.findall(r"`([^`]+)`", row)]
    sources = "".join(path.read_text(encoding="utf-8") for path in REPOSITORY.glob("[ae][dn]*/**/*.py"))

    assert texts
    assert [text for text in texts if f'"{text}"' not in sources] == []
