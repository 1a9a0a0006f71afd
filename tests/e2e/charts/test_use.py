"""What people do with charts besides installing them: depend on them, and have Helm test a release."""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from hedgerow_entrypoints.components import RESOURCE_MANAGER
from tests.control_plane import PATIENCE
from tests.e2e.charts.helm import CASES, CHART_FOLDERS, case_values, helm, written
from tests.e2e.resource_manager import ResourceManager

pytestmark = pytest.mark.usefixtures("servers")


def rendered(chart: Path, *more: str) -> list[dict[str, Any]]:
    text = helm("template", "release", str(chart), "--namespace", "garden", "--kube-version", "1.36.0", *more)
    return sorted(filter(None, yaml.safe_load_all(text)), key=lambda each: (each["kind"], str(each["metadata"])))


def parent(folder: Path, component: str, values: Mapping[str, Any]) -> Path:
    """A chart with a component's chart inside, which it has for as long as a value of its own says so."""
    shutil.copytree(CHART_FOLDERS / component, folder / "charts" / component)
    dependency = {"name": component, "version": "0.1.0", "condition": f"{component}.enabled"}
    about = {"apiVersion": "v2", "name": "parent", "version": "1.0.0", "dependencies": [dependency]}
    written(folder / "Chart.yaml", about)
    written(folder / "values.yaml", {"global": {"imageRegistry": "example.org"}, component: values})
    return folder


@pytest.mark.parametrize("component", CASES)
def test_a_chart_can_be_part_of_another(component: str, tmp_path: Path) -> None:
    values = yaml.safe_load(case_values(component).read_text(encoding="utf-8"))

    folder = parent(tmp_path / "parent", component, values)

    assert rendered(folder) == rendered(CHART_FOLDERS / component, "-f", str(case_values(component)))
    assert rendered(folder, "--set", f"{component}.enabled=false") == []
    assert "1 chart(s) linted, 0 chart(s) failed" in helm("lint", "--strict", str(folder))


def test_the_test_of_a_release_tells_whether_the_process_is_ready(resource_manager: ResourceManager) -> None:
    here = {"readyz": resource_manager.health_port, "metrics": resource_manager.metrics_port}

    assert asked(here).returncode == 0

    assert resource_manager.terminate() == 0
    assert "Connection refused" in asked(here).stderr


def asked(ports: Mapping[str, int]) -> subprocess.CompletedProcess[str]:
    """What the test's pod would say if the Service led to these ports of the machine."""
    objects = rendered(CHART_FOLDERS / RESOURCE_MANAGER, "--set", "managedResources.clusterAdmin=true")
    (pod,) = (each for each in objects if each["kind"] == "Pod")
    (service,) = (each for each in objects if each["kind"] == "Service")
    (container,) = pod["spec"]["containers"]
    offered = {each["port"] for each in service["spec"]["ports"]}
    arguments = []
    for argument in container["args"]:
        url = urlsplit(argument)
        if url.scheme:
            assert url.hostname == f"{service['metadata']['name']}.{service['metadata']['namespace']}"
            assert url.port in offered
            arguments.append(f"http://127.0.0.1:{ports[url.path.strip('/')]}{url.path}")
        else:
            arguments.append(argument)
    command = [sys.executable, *container["command"][1:], *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
