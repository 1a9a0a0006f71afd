"""A record holds neither charts nor their values, and repeats exactly all the same."""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.registrations import CONTROLLER_DEPLOYMENTS
from hedgerow.machinery.charts import RenderChart, RenderedChart, RenderedFile, RenderError
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller, Watch
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.plan import Create, Plan
from hedgerow.machinery.questions import Found, ObjectQuestion
from hedgerow.machinery.recording.journal import Part
from hedgerow.machinery.snapshot import Snapshot
from tests.unit.adapters.recording.session import Session, documents, encoded, repeated

CANARY = "canary-4f1d"
CHART = b"\x1f\x8b" + b"chart" * 1000
DEPLOYMENT = {
    "apiVersion": CONTROLLER_DEPLOYMENTS.api_version,
    "kind": "ControllerDeployment",
    "metadata": {"name": "os"},
    "type": "helm",
    "providerConfig": {"chart": base64.b64encode(CHART).decode(), "values": {"password": CANARY, "replicas": 2}},
}


def kept(manifest: Manifest) -> Mapping[str, Any]:
    return {"metadata": manifest["metadata"]}


def own_key(manifest: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey]:
    return (key_of(manifest),)


async def reconcile(key: ObjectKey, _snapshot: Snapshot, _context: Context[None]) -> Plan:
    answer = await ObjectQuestion(CONTROLLER_DEPLOYMENTS, key, Cluster.TARGET)
    assert isinstance(answer, Found)
    config = answer.objects[0]["providerConfig"]
    rendered = await RenderChart(base64.b64decode(config["chart"]), key.name, "shop", config["values"], "v1.29.4")
    if isinstance(rendered, RenderError):
        return Plan()
    content = encoded(documents(*(each for file in rendered for each in file.objects)))
    manifest = {"metadata": {"name": "rendered", "namespace": "shop"}, "data": {"a": content}}
    return Plan((Create(SECRETS, manifest, "rendered"),))


CONTROLLER = Controller(
    name="rendering",
    primary=CONTROLLER_DEPLOYMENTS,
    watches=(Watch(CONTROLLER_DEPLOYMENTS, kept, own_key),),
    owned=None,
    concurrency=1,
    config=None,
    reconcile=reconcile,
)


def render(chart: RenderChart) -> RenderedChart:
    assert chart.chart == CHART
    data = {"password": encoded(chart.values["password"])}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "namespace": "shop"}, "data": data}
    return (RenderedFile("test/templates/a.yaml", (secret,)),)


def parts_of(path: Path) -> tuple[Part, ...]:
    repetition = repeated(path, [CONTROLLER])
    assert not repetition.differences
    (decision,) = repetition.decisions
    assert decision.acted is None
    return decision.parts


def test_a_rendering_is_recorded_without_chart_and_values_and_repeats(tmp_path: Path) -> None:
    session = Session(tmp_path / "record", [CONTROLLER], render=render)
    session.put(DEPLOYMENT)
    session.work()
    record = session.end()

    assert not session.problems
    assert CANARY not in record
    assert encoded(CANARY) not in record
    assert len(record) < len(CHART)
    asked = parts_of(session.path)[1]
    assert isinstance(asked.wants, RenderChart)
    assert asked.wants.chart.startswith(b"fingerprint-")
    (file,) = asked.reply
    assert file.path == "test/templates/a.yaml"
    assert set(file.objects[0]["data"]) == {"password"}


def test_why_a_chart_was_not_rendered_is_recorded_without_the_values_that_it_quotes(tmp_path: Path) -> None:
    session = Session(tmp_path / "record", [CONTROLLER], render=lambda _chart: RenderError("chart", f"no {CANARY}"))
    session.put(DEPLOYMENT)
    session.work()

    assert CANARY not in session.end()
    assert parts_of(session.path)[1].reply.cause == "chart"
