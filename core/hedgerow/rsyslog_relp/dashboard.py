"""The dashboard of rsyslog's statistics: a table of rows and panels, and the JSON that Plutono reads.

Source: rsyslog-relp §5.3; decision D-7.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from hedgerow.rsyslog_relp.pstats import PREFIX

WHOLE: Final = 24
"""Columns of the grid."""
HALF: Final = WHOLE // 2
PANEL_HEIGHT: Final = 7
_RATE_INTERVAL: Final = "$__rate_interval"

JsonObject: TypeAlias = dict[str, Any]


class Panel(NamedTuple):
    """One graph."""

    title: str
    metric: str
    """Without the prefix of all of them."""
    is_rate: bool = True
    """True for how fast a counter grows, by its name; otherwise the sum of a gauge."""
    interval: str = _RATE_INTERVAL

    @property
    def expression(self) -> str:
        """The query."""
        series = f'{PREFIX}{self.metric}{{node=~"$Node"}}'
        return f"sum(rate({series}[{self.interval}])) by (name)" if self.is_rate else f"sum({series}) by (name)"


ROWS: Final[Mapping[str, tuple[Panel, ...]]] = {
    "Input": (Panel("Messages Submitted", "submitted"),),
    "Actions": (
        Panel("Messages Processed", "processed"),
        Panel("Messages Failed", "failed"),
        Panel("Times Suspended", "suspended"),
        Panel("Time Spent Suspended", "suspended_duration", interval="5m"),
        Panel("Times Resumed", "resumed"),
    ),
    "Queues": (
        Panel("Messages Enqueued", "enqueued"),
        Panel("Messages in Queue", "size", is_rate=False),
        Panel("Times Queue Was Full", "full"),
        Panel("Maximum Queue Size", "maxqsize", is_rate=False),
        Panel("Messages Discarded When Queue Was Not Full", "discarded_nf"),
        Panel("Messages Discarded When Queue Was Full", "discarded_full"),
    ),
    "Resources": (
        Panel("User CPU Time", "utime"),
        Panel("System CPU Time", "stime"),
        Panel("Total Minor Faults", "minflt"),
        Panel("Total Major Faults", "majflt"),
        Panel("File System Output Operations", "oublock"),
        Panel("File System Input Operations", "inblock"),
        Panel("Max Resident Set Size", "maxrss", is_rate=False),
        Panel("Number of Open Files", "openfiles", is_rate=False),
        Panel("Voluntary Context Switches", "nvcsw"),
        Panel("Involuntary Context Switches", "nivcsw"),
    ),
}


def dashboard_json() -> str:
    """The dashboard in one line; equal for equal tables."""
    return json.dumps(_dashboard(), sort_keys=True, separators=(",", ":"))


def _dashboard() -> JsonObject:
    return {
        "annotations": {"list": [_ANNOTATIONS]},
        "editable": True,
        "graphTooltip": 1,
        "links": [],
        "panels": [*_panels()],
        "refresh": "1h",
        "schemaVersion": 27,
        "style": "dark",
        "tags": ["rsyslog", "audit", "shoot"],
        "templating": {"list": [_NODE]},
        "time": {"from": "now-3h", "to": "now"},
        "timepicker": {
            "refresh_intervals": ["10s", "30s", "1m", "5m", "15m", "30m", "1h"],
            "time_options": ["5m", "15m", "1h", "3h", "6h", "12h", "24h", "2d", "7d", "14d"],
        },
        "timezone": "utc",
        "title": "Rsyslog Stats",
        "uid": "extension-extension-shoot-rsyslog-relp",
        "version": 1,
    }


_ANNOTATIONS: Final[JsonObject] = {
    "builtIn": 1,
    "datasource": "-- Plutono --",
    "enable": True,
    "hide": True,
    "iconColor": "rgba(0, 211, 255, 1)",
    "name": "Annotations & Alerts",
    "type": "dashboard",
}
_ROW: Final[JsonObject] = {"type": "row", "collapsed": False, "datasource": None, "panels": []}
_NODE_QUERY: Final = 'label_values(kube_node_info{type="shoot"}, node)'
_NODE: Final[JsonObject] = {
    "allValue": None,
    "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
    "datasource": None,
    "definition": _NODE_QUERY,
    "hide": 0,
    "includeAll": True,
    "label": "Node",
    "multi": True,
    "name": "Node",
    "options": [],
    "query": {"query": _NODE_QUERY, "refId": "StandardVariableQuery"},
    "refresh": 2,
    "regex": "",
    "skipUrlSync": False,
    "sort": 0,
    "type": "query",
}


def _panels() -> Iterator[JsonObject]:
    """Rows and graphs, numbered from top to bottom."""
    for number, panel in enumerate(_placed_panels(), start=1):
        yield {"id": number, **panel}


def _placed_panels() -> Iterator[JsonObject]:
    """Rows and graphs: two graphs side by side, the only one of a row across the page."""
    y = 0
    for title, panels in ROWS.items():
        yield {**_placed(title, WHOLE, 1, 0, y), **_ROW}
        y += 1
        width = HALF if len(panels) > 1 else WHOLE
        for place, panel in enumerate(panels):
            x = place % 2 * HALF
            yield {**_placed(panel.title, width, PANEL_HEIGHT, x, y), **_graph(panel)}
            if x or place == len(panels) - 1:
                y += PANEL_HEIGHT


def _placed(title: str, width: int, height: int, x: int, y: int) -> JsonObject:
    return {"title": title, "gridPos": {"h": height, "w": width, "x": x, "y": y}}


def _graph(panel: Panel) -> JsonObject:
    axis = {"format": "short", "logBase": 1, "show": True}
    return {
        "datasource": "prometheus",
        "fill": 1,
        "legend": {
            **dict.fromkeys(("alignAsTable", "avg", "current", "max", "min", "rightSide", "show", "values"), True),
            "total": False,
        },
        "lines": True,
        "linewidth": 1,
        "nullPointMode": "null",
        "renderer": "flot",
        "targets": [{"expr": panel.expression, "interval": "", "legendFormat": "{{name}}", "refId": "A"}],
        "tooltip": {"shared": True, "sort": 0, "value_type": "individual"},
        "type": "graph",
        "xaxis": {"mode": "time", "show": True, "values": []},
        "yaxes": [{**axis, "min": "0"}, axis],
    }
