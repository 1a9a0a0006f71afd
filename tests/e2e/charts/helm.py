"""The real Helm, and charts as values files describe them."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from hedgerow_entrypoints.components import CONTROLLER_MANAGER, RESOURCE_MANAGER, RSYSLOG_RELP, SEED_EXTENSIONS
from tests.control_plane import PATIENCE
from tests.e2e.servers.build import HELM, build
from tests.golden.installation.chart import CHARTS, FOLDERS
from tests.golden.installation.table import ROWS, leaves, stated

CHART_FOLDERS: Final = Path(__file__).parents[3] / "deploy" / "charts"
CASES: Final = {
    RESOURCE_MANAGER: "everything-is-enabled",
    CONTROLLER_MANAGER: "everything-is-enabled",
    RSYSLOG_RELP: "everything-is-stated",
    SEED_EXTENSIONS: "in-the-garden",
}
"""The golden installation of each component that has the most kinds of objects."""
_OTHER_CASES: Final = ("target.", "part", "crds.", "managedResources.", "webhooks.", "podDisruptionBudget.enabled")


_SELECTOR: Final = {
    "matchLabels": {"b": "2", "a": "1"},
    "matchExpressions": [{"key": "quiet", "operator": "DoesNotExist"}, {"key": "c", "operator": "In", "values": ["3"]}],
}
_TERMS: Final = {
    "*": {"timeoutSeconds": 4, "failurePolicy": "Ignore", "namespaceSelector": _SELECTOR, "objectSelector": _SELECTOR}
}


def helm(*arguments: str, kubeconfig: Path | None = None) -> str:
    """What Helm prints."""
    command = [str(build(HELM) / "helm"), *arguments, *(["--kubeconfig", str(kubeconfig)] if kubeconfig else [])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, f"{' '.join(arguments)}: {done.stderr}"
    return done.stdout


def case_values(component: str) -> Path:
    """The values file of a component's golden installation."""
    return FOLDERS[component] / CASES[component] / "values.yaml"


def written(file: Path, values: Mapping[str, Any]) -> Path:
    """A values file."""
    file.write_text(yaml.safe_dump(dict(values)), encoding="utf-8")
    return file


def all_at_once(component: str) -> dict[str, Any]:
    """Every value of the table that goes with the others."""
    known = {*leaves(CHARTS[component].declared.values_type())}
    rows = [row for row in ROWS if row.value in known and not row.value.startswith(_OTHER_CASES)]
    terms = {"webhooks.overrides": _TERMS} if "webhooks.overrides" in known else {}
    return stated({**{row.value: row.stated for row in reversed(rows)}, **terms})
