"""The ConfigMap by which a Shoot's Prometheus and Plutono learn of the extension: scrape job, alerts, dashboard.

The consumer concatenates the texts with those of others, so that each begins at column 0 and ends with a line end.

Source: rsyslog-relp §5; decision D-7.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple

from hedgerow.api.kubernetes import CONFIG_MAPS
from hedgerow.machinery.objects import Manifest
from hedgerow.rsyslog_relp.naming import MONITORING_CONFIG_MAP, TYPE
from hedgerow.rsyslog_relp.pstats import PREFIX
from hedgerow.rsyslog_relp.rendering import ACTION_NAME, rendered

LABELS: Final = {"component": TYPE, "extensions.gardener.cloud/configuration": "monitoring"}
COLUMNS: Final = 24
GRAPH_HEIGHT: Final = 7


def _rate(metric: str, interval: str = "$__rate_interval") -> str:
    """How fast a counter grows, by its name."""
    return f'sum(rate({PREFIX}{metric}{{node=~"$Node"}}[{interval}])) by (name)'


def _sum(metric: str) -> str:
    """A gauge, by its name."""
    return f'sum({PREFIX}{metric}{{node=~"$Node"}}) by (name)'


ROWS: Final[Mapping[str, Mapping[str, str]]] = {
    "Input": {"Messages Submitted": _rate("submitted")},
    "Actions": {
        "Messages Processed": _rate("processed"),
        "Messages Failed": _rate("failed"),
        "Times Suspended": _rate("suspended"),
        "Time Spent Suspended": _rate("suspended_duration", "5m"),
        "Times Resumed": _rate("resumed"),
    },
    "Queues": {
        "Messages Enqueued": _rate("enqueued"),
        "Messages in Queue": _sum("size"),
        "Times Queue Was Full": _rate("full"),
        "Maximum Queue Size": _sum("maxqsize"),
        "Messages Discarded When Queue Was Not Full": _rate("discarded_nf"),
        "Messages Discarded When Queue Was Full": _rate("discarded_full"),
    },
    "Resources": {
        "User CPU Time": _rate("utime"),
        "System CPU Time": _rate("stime"),
        "Total Minor Faults": _rate("minflt"),
        "Total Major Faults": _rate("majflt"),
        "File System Output Operations": _rate("oublock"),
        "File System Input Operations": _rate("inblock"),
        "Max Resident Set Size": _sum("maxrss"),
        "Number of Open Files": _sum("openfiles"),
        "Voluntary Context Switches": _rate("nvcsw"),
        "Involuntary Context Switches": _rate("nivcsw"),
    },
}
"""The graphs of the dashboard's rows: title and query."""


class Place(NamedTuple):
    """A row's heading, which has no expression, or a graph, and where it stands in the grid."""

    title: str
    expression: str
    x: int
    y: int
    width: int
    height: int


def _places() -> Iterator[Place]:
    """Headings across the page, below each its graphs side by side in twos; a single one across the page."""
    y = 0
    for heading, graphs in ROWS.items():
        yield Place(heading, "", 0, y, COLUMNS, 1)
        y += 1
        width = COLUMNS if len(graphs) == 1 else COLUMNS // 2
        for number, (title, expression) in enumerate(graphs.items()):
            yield Place(title, expression, number % 2 * width, y + number // 2 * GRAPH_HEIGHT, width, GRAPH_HEIGHT)
        y += (len(graphs) + 1) // 2 * GRAPH_HEIGHT


@cache
def _data() -> Mapping[str, str]:
    """The texts of the ConfigMap, which are the same for every Shoot."""
    dashboard = json.loads(rendered("dashboard.json", places=[*_places()]))
    # No quotation mark in the JSON ends the YAML text.
    in_one_line = json.dumps(dashboard, sort_keys=True, separators=(",", ":"))
    return {
        "scrape_config": rendered("scrape-config.yaml"),
        "alerting_rules": rendered("alerting-rules.yaml", action_name=ACTION_NAME, prefix=PREFIX),
        "dashboard_operators": f"rsyslog-relp-dashboard.json: '{in_one_line}'\n",
    }


def monitoring_config_map(namespace: str) -> Manifest:
    """The ConfigMap for the Shoot of a namespace."""
    return {
        "apiVersion": CONFIG_MAPS.api_version,
        "kind": CONFIG_MAPS.kind,
        "metadata": {"name": MONITORING_CONFIG_MAP, "namespace": namespace, "labels": LABELS},
        "data": _data(),
    }
