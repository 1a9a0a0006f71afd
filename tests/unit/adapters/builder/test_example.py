"""The example of the library does what it says."""

import asyncio
from functools import partial
from textwrap import dedent
from typing import Any

import pytest
from returns.result import Failure, Success

from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow_adapters import builder
from hedgerow_adapters.protocol.transport import Transport
from tests.unit.adapters.builder.garden import Garden, Wire
from tests.virtual_clock import virtual_time

DASHBOARDS = ObjectKey("garden", "dashboards")
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "garden", "name": "home"}}
WELL = dict.fromkeys(("Applied", "Healthy"), ("True", "Reason", ""))


def example() -> Any:
    """The function that stands in the documentation of the package."""
    code = dedent((builder.__doc__ or "").partition("Example:\n")[2])
    known: dict[str, Any] = {
        **{name: getattr(builder, name) for name in builder.__all__},
        **{each.__name__: each for each in (asyncio, ObjectKey, Transport, Failure, Success)},
        "Manifest": Manifest,
    }
    exec(compile(code, "the example", "exec"), known)  # noqa: S102 -- the project's own code
    return known["hand_over"]


@pytest.mark.parametrize(
    ("objects", "said"),
    [
        ([CONFIG_MAP], "garden/dashboards is healthy"),
        ([CONFIG_MAP, CONFIG_MAP], 'duplicate filename in registry: "configmap__garden__home.yaml"'),
    ],
)
@virtual_time
async def test_objects_are_handed_over_and_waited_for(objects: list[Manifest], said: str) -> None:
    garden = Garden("garden")
    if len(objects) == 1:
        asyncio.get_running_loop().call_later(5, partial(garden.report, DASHBOARDS, WELL))

    assert await example()(Wire(garden), objects) == said


@virtual_time
async def test_what_keeps_objects_from_being_handed_over_or_healthy_is_told() -> None:
    told = [await example()(Wire(garden), [CONFIG_MAP]) for garden in (Garden(), Garden("garden"))]

    assert told == [
        'not handed over: could not create or update secret of managed resources: namespaces "garden" not found',
        "managed resource garden/dashboards is not healthy",
    ]
