"""The dashboard of a component, as Grafana reads it: rows of panels, each with its queries.

Knows how a dashboard is written; which rows there are is decided elsewhere. A variable chooses one installation or
several of a name, so that the same text serves all of them.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

CHOSEN: Final = 'job=~"$job",namespace=~"$namespace"'
"""The label matchers of the installations that a person has chosen."""
RATE: Final = "$__rate_interval"
_SOURCE: Final[Mapping[str, str]] = {"type": "prometheus", "uid": "${datasource}"}
_COLUMNS: Final = 24
_HEIGHT: Final = 8


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel."""

    title: str
    queries: tuple[tuple[str, str], ...]
    """In PromQL, each with the legend of its series."""
    unit: str = "short"
    """As Grafana calls it."""
    kind: Literal["timeseries", "table"] = "timeseries"
    description: str = ""

    def json(self, number: int, place: Mapping[str, int]) -> dict[str, Any]:
        """The panel as it is written."""
        is_table = self.kind == "table"
        targets = [
            {
                "refId": chr(ord("A") + index),
                "datasource": _SOURCE,
                "expr": expr,
                "legendFormat": legend,
                **({"instant": True, "range": False, "format": "table"} if is_table else {}),
            }
            for index, (expr, legend) in enumerate(self.queries)
        ]
        shown = {"transformations": [_WITHOUT_TIME]} if is_table else {"options": _LEGEND}
        return {
            "id": number,
            "type": self.kind,
            "title": self.title,
            "description": self.description,
            "datasource": _SOURCE,
            "gridPos": dict(place),
            "fieldConfig": {"defaults": {"unit": self.unit}, "overrides": []},
            "targets": targets,
            **shown,
        }


_LEGEND: Final = {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}}
_WITHOUT_TIME: Final = {"id": "organize", "options": {"excludeByName": {"Time": True, "Value": True}}}


@dataclass(frozen=True, slots=True)
class Row:
    """A heading with the panels below it."""

    title: str
    panels: tuple[Panel, ...]


def dashboard(component: str, job: str, rows: Iterable[Row]) -> dict[str, Any]:
    """The dashboard of a component whose installations usually have this job, or one that ends with it."""
    return {
        "uid": f"hedgerow-{component}",
        "title": f"hedgerow / {component}",
        "tags": ["hedgerow"],
        "editable": True,
        "schemaVersion": 39,
        "timezone": "browser",
        "time": {"from": "now-3h", "to": "now"},
        "refresh": "1m",
        "templating": {"list": [*_variables(job)]},
        "panels": [*_placed(rows)],
    }


def dashboard_text(written: Mapping[str, Any]) -> str:
    """The dashboard as a file."""
    return json.dumps(written, indent=1, ensure_ascii=False) + "\n"


def _variables(job: str) -> Iterator[dict[str, Any]]:
    yield {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}
    yield _choice("job", "Installation", f'label_values(up{{job=~".*{job}"}}, job)', f".*{job}")
    yield _choice("namespace", "Namespace", 'label_values(up{job=~"$job"}, namespace)', ".*")


def _choice(name: str, label: str, query: str, every: str) -> dict[str, Any]:
    """A variable with the values of a label; the choice of all finds metrics without the label as well."""
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": _SOURCE,
        "query": {"query": query, "refId": name},
        "refresh": 2,
        "includeAll": True,
        "allValue": every,
        "multi": True,
        "current": {"text": ["All"], "value": ["$__all"]},
    }


def _placed(rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """Headings across the page, and below each its panels, three side by side."""
    number, y, width = 0, 0, _COLUMNS // 3
    for row in rows:
        number += 1
        place = {"x": 0, "y": y, "w": _COLUMNS, "h": 1}
        yield {"id": number, "type": "row", "title": row.title, "collapsed": False, "gridPos": place, "panels": []}
        y += 1
        for index, panel in enumerate(row.panels):
            number += 1
            at = {"x": index % 3 * width, "y": y + index // 3 * _HEIGHT, "w": width, "h": _HEIGHT}
            yield panel.json(number, at)
        y += (len(row.panels) + 2) // 3 * _HEIGHT
