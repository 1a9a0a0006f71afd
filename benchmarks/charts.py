"""How many charts a second are rendered: by Helm alone, two at a time, and by the project's renderer."""

import json
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks.deployment import NAMESPACE, deployment
from benchmarks.figures import Figure
from hedgerow.machinery.charts import RenderChart, RenderedChart, RenderError
from hedgerow_adapters.charts import HelmCommand
from hedgerow_adapters.charts.helm import environment
from hedgerow_adapters.charts.renderer import AT_ONCE, ChartRenderer, chart_renderer
from tests.e2e.servers.build import HELM, build
from tests.unit.adapters.charts.archived import chart

RENDERINGS: Final = 60
ROUNDS: Final = 5
DEPLOYMENTS: Final = 4
OBJECTS: Final = 20


def measure() -> Iterator[Figure]:
    """Renderings a second of a chart of 20 objects; both take turns, as the machine may be shared."""
    helm = str(build(HELM) / "helm")
    raw, ours, kept = [], [], []
    with chart_renderer(HelmCommand(helm)) as renderer:
        for round_ in range(ROUNDS):
            charts = [asked(round_ * RENDERINGS + number) for number in range(RENDERINGS)]
            raw.append(raw_renderings(helm))
            ours.append(_renderings(renderer, charts))
            kept.append(_renderings(renderer, charts))
    yield Figure("helm template alone, a chart of 20 objects, two at a time", median(raw), "renderings/s")
    ratio = median(alone / rendered for alone, rendered in zip(raw, ours, strict=True))
    yield Figure("rendered, checked and read", median(ours), "renderings/s")
    yield Figure.at_most("the same against helm template alone", ratio, "", 1.3)
    yield Figure("the same again, from what is kept", median(kept), "renderings/s")


def archive() -> bytes:
    """A chart of objects that show a value."""
    made = objects("{{ .Release.Namespace }}", "{{ .Values.number }}")
    return chart({f"{each['metadata']['name']}.yaml": json.dumps(each) for each in made})


def objects(namespace: str, value: str) -> list[dict[str, Any]]:
    """A few Deployments, and ConfigMaps with a value."""
    workloads = [_workload(namespace, number) for number in range(DEPLOYMENTS)]
    return workloads + [_config_map(namespace, number, value) for number in range(OBJECTS - DEPLOYMENTS)]


def asked(number: int) -> RenderChart:
    """A chart, rendered with values that no other number has."""
    return RenderChart(ARCHIVE, "release", NAMESPACE, {"number": number}, "v1.36.0")


def raw_renderings(helm: str, renderings: int = RENDERINGS) -> float:
    """Renderings a second of Helm alone, with all that it is told, whose files nobody reads."""
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(AT_ONCE) as workers:
        folder = Path(name)
        (folder / "chart.tgz").write_bytes(ARCHIVE)
        began = time.perf_counter()
        [*workers.map(partial(_run, helm, folder), range(renderings))]
        return renderings / (time.perf_counter() - began)


def _run(helm: str, folder: Path, number: int) -> None:
    values = folder / f"{number}.json"
    values.write_text(json.dumps({"number": number}), encoding="utf-8")
    command = [helm, "template", "release", str(folder / "chart.tgz"), f"--namespace={NAMESPACE}", f"--values={values}"]
    output = [f"--output-dir={folder / str(number)}", "--kube-version=v1.36.0", "--skip-tests"]
    subprocess.run([*command, *output], env=environment(folder), stdout=subprocess.DEVNULL, check=True)


def _renderings(renderer: ChartRenderer, charts: Iterable[RenderChart]) -> float:
    began = time.perf_counter()
    futures = [renderer.submit(chart) for chart in charts]
    if any(_count(future.result()) != OBJECTS for future in futures):
        raise AssertionError(f"expected {OBJECTS} objects of each chart")
    return len(futures) / (time.perf_counter() - began)


def _count(rendered: RenderedChart) -> int:
    return -1 if isinstance(rendered, RenderError) else sum(len(file.objects) for file in rendered)


def _workload(namespace: str, number: int) -> dict[str, Any]:
    manifest = deployment()
    return {**manifest, "metadata": {**manifest["metadata"], "name": f"workload-{number}", "namespace": namespace}}


def _config_map(namespace: str, number: int, value: str) -> dict[str, Any]:
    metadata = {"name": f"config-{number}", "namespace": namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"number": value}}


ARCHIVE: Final = archive()
