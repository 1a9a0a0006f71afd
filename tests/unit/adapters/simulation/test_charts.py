"""Charts are rendered in another thread, while the virtual time of a simulation stands still."""

import threading
from datetime import timedelta

from hedgerow.machinery.charts import RenderChart, RenderedChart, RenderedFile, RenderError
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller, Watch
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of
from hedgerow.machinery.plan import Create, Plan
from hedgerow.machinery.snapshot import Snapshot
from hedgerow_adapters.charts.renderer import ChartRenderer
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.simulation.clusters import in_memory
from hedgerow_adapters.simulation.planning import Planner, TimedSimulation, settle
from hedgerow_adapters.simulation.virtual_time import CalendarLoop

SECRETS = Resource("", "v1", "secrets", "Secret")
CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
ONE, TWO = (ObjectKey("default", name) for name in ("one", "two"))


async def reconcile(key: ObjectKey, _snapshot: Snapshot, context: Context[None]) -> Plan:
    """Store what a chart of the name of a Secret renders to, and when."""
    rendered = await RenderChart(b"chart", key.name, key.namespace, {}, "v1.29.4")
    text = rendered.message if isinstance(rendered, RenderError) else rendered[0].path
    metadata = {"name": key.name, "namespace": key.namespace}
    manifest = {"metadata": metadata, "data": {"rendered": text, "at": context.now.isoformat()}}
    return Plan((Create(CONFIG_MAPS, manifest, "rendered"),))


def own_key(manifest: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey]:
    return (key_of(manifest),)


CONTROLLER = Controller(
    name="rendering",
    primary=SECRETS,
    watches=(Watch(SECRETS, dict, own_key),),
    owned=None,
    concurrency=1,
    config=None,
    reconcile=reconcile,
)


def world() -> InMemoryCluster:
    cluster = InMemoryCluster()
    for key in (ONE, TWO):
        cluster.handle(requests.create(SECRETS, {"metadata": {"name": key.name}}, key.namespace))
    return cluster


def run(chart: RenderChart, _stop: threading.Event) -> RenderedChart:
    return (RenderedFile(f"{chart.release}.yaml", ()),)


def texts(cluster: InMemoryCluster) -> list[str]:
    return sorted(each["data"]["rendered"] for each in cluster.objects(CONFIG_MAPS))


def test_controllers_settle_with_charts() -> None:
    cluster = world()
    with ChartRenderer(run) as renderer:
        settle(cluster, [CONTROLLER], charts=renderer.submit)

    assert texts(cluster) == ["one.yaml", "two.yaml"]


def test_without_a_renderer_the_reply_says_so() -> None:
    cluster = world()
    settle(cluster, [CONTROLLER])

    assert texts(cluster) == ["this process renders no charts"] * 2


def test_a_plan_shows_what_charts_render_to() -> None:
    cluster = world()
    with (
        ChartRenderer(run) as renderer,
        Planner(CONTROLLER, in_memory(cluster), cluster.now(), renderer.submit) as planner,
    ):
        (step,) = planner.plan(ONE).steps

    assert isinstance(step.action, Create)
    assert step.action.manifest["data"]["rendered"] == "one.yaml"


def test_no_time_passes_while_a_chart_is_rendered() -> None:
    cluster = world()
    loop = CalendarLoop(cluster.now())
    with ChartRenderer(run) as renderer:
        [
            *TimedSimulation(
                loop, dict.fromkeys(Cluster, cluster), [CONTROLLER], timedelta(days=1), charts=renderer.submit
            )
        ]

    assert {each["data"]["at"] for each in cluster.objects(CONFIG_MAPS)} == {cluster.now().isoformat()}
