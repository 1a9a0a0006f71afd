"""Whatever is named, defined and withdrawn, in whatever order: what is watched is what is named and served."""

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow_adapters.memory import Answered, Fault, Lost
from hedgerow_adapters.memory import requests as matching
from hedgerow_adapters.protocol.transport import Response
from tests.unit.adapters.runtime.dynamic_watchers import CRDS, GADGETS, SECRETS, SERVICES, WIDGETS, Stage, names_in
from tests.unit.adapters.runtime.mirrors import CONFIG_MAPS
from tests.virtual_clock import virtual_time

Step: TypeAlias = Callable[[Stage], None]
CUSTOM = (WIDGETS, GADGETS)
KINDS = (SECRETS, SERVICES, *CUSTOM, CRDS)
NAMES = ("a", "b", "c")
SETTLED = 1200.37
"""Seconds after which everything must have been noticed when nothing fails any more: a silent watch counts as dead
after less than eleven minutes. Servers end watches after whole seconds, and just then they are not open."""
PAUSES = (0.0, 0.1, 1.5, 30.0, 59.5, 61.0, 130.0)


def is_served(stage: Stage, resource: Resource) -> bool:
    return resource not in CUSTOM or stage.cluster.get(CRDS, ObjectKey("", str(resource))) is not None


def wanted_by(stage: Stage) -> set[Resource]:
    """What is named and served."""
    texts = {text for each in stage.cluster.objects(CONFIG_MAPS) for text in each["data"]["kinds"].split(",")}
    return {resource for resource in KINDS if " ".join(resource.object_kind) in texts and is_served(stage, resource)}


def naming(name: str, kinds: frozenset[Resource]) -> Step:
    return lambda stage: stage.name(name, *sorted(kinds))


def toggling(resource: Resource) -> Step:
    def toggle(stage: Stage) -> None:
        (stage.undefine if is_served(stage, resource) else stage.define)(resource)

    return toggle


def losing_watches(stage: Stage) -> None:
    stage.cluster.compact()
    stage.cluster.close_watches()


def failing(path: str, times: int) -> Step:
    outcomes = (Lost(), Answered(Response(503, "away")), Lost(hangs=True))
    return lambda stage: stage.cluster.faults.append(Fault(matching("GET", path), outcomes[times % 3], times=times))


STEPS = st.one_of(
    st.builds(naming, st.sampled_from(NAMES), st.frozensets(st.sampled_from(KINDS))),
    st.builds(toggling, st.sampled_from(CUSTOM)),
    st.just(losing_watches),
    st.builds(failing, st.sampled_from(["/secrets", "/widgets", "example.com/v1", ""]), st.integers(1, 3)),
)


@given(steps=st.lists(st.tuples(STEPS, st.sampled_from(PAUSES)), max_size=15), readers=st.integers(1, 3))
@settings(max_examples=30)
@virtual_time
async def test_what_is_watched_is_what_is_named_and_served(steps: list[tuple[Step, float]], readers: int) -> None:
    stage = Stage()
    views = [stage.view() for _ in range(readers)]

    async with stage.open():
        for step, pause in steps:
            step(stage)
            await asyncio.sleep(pause)
        stage.cluster.faults.clear()
        await asyncio.sleep(SETTLED)

        wanted = wanted_by(stage)
        assert stage.wire.open == dict.fromkeys((resource.plural for resource in wanted), 1)
        for view in views:
            assert {resource for resource in KINDS if names_in(view, resource) is not None} == wanted
            followed = {
                resource
                for resource in KINDS
                if view.informer_of(Cluster.TARGET, resource, ObjectKey("default", "x")) is not None
            }
            assert followed == wanted
