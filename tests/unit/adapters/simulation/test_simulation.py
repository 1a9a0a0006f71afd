"""Controllers at work in in-memory clusters, turn by turn."""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context, Controller, Watch
from hedgerow.machinery.objects import ObjectKey, Resource, key_of, labels_of
from hedgerow.machinery.plan import MergePatch, Plan
from hedgerow.machinery.snapshot import Snapshot
from hedgerow_adapters.memory import InMemoryCluster
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.simulation.clusters import CrashedMappingError, CrashedTurnError, ReadingError, in_memory
from hedgerow_adapters.simulation.planning import settle
from hedgerow_adapters.simulation.simulation import Simulation
from hedgerow_adapters.simulation.virtual_time import CalendarLoop

SECRETS = Resource("", "v1", "secrets", "Secret")
WATCH = Watch(SECRETS, dict, lambda manifest, _snapshot: (key_of(manifest),), namespace="shop")
WATCHING: Controller[Any] = Controller(
    name="watching",
    primary=SECRETS,
    watches=(WATCH,),
    concurrency=1,
    config=None,
    reconcile=lambda _key, _snapshot, _context: Plan(),
)


def turns(simulation: Simulation) -> Iterator[ObjectKey]:
    """Take all turns of the moment; whose they are."""
    return (turn.key for turn in simulation.work())


@pytest.mark.parametrize(
    ("cluster", "seen", "shown"),
    [
        pytest.param(Cluster.TARGET, (), ["shop"], id="where all is in sight"),
        pytest.param(Cluster.TARGET, ("default", "shop"), ["shop"], id="where more is in sight"),
        pytest.param(Cluster.TARGET, ("default",), [], id="out of sight"),
        pytest.param(Cluster.SOURCE, ("default",), ["shop"], id="in another cluster"),
    ],
)
def test_of_a_watch_within_a_namespace_nothing_else_is_seen(
    cluster: Cluster, seen: tuple[str, ...], shown: list[str]
) -> None:
    memory = InMemoryCluster(namespaces=("default", "shop"))
    within = replace(WATCHING, watches=(replace(WATCH, cluster=cluster),), primary_cluster=cluster)
    keys = [ObjectKey(namespace, "till") for namespace in shown]
    loop = CalendarLoop(datetime(2026, 1, 1, tzinfo=UTC))

    with Simulation(loop, in_memory(memory, namespaces=seen), [within]) as simulation:
        for namespace in ("default", "shop"):
            memory.handle(requests.create(SECRETS, {"metadata": {"name": "till"}}, namespace))
        woken = list(turns(simulation))
        simulation.look_at_everything()
        looked_at = list(turns(simulation))

    assert woken == looked_at == keys


@pytest.mark.parametrize("required", [True, False])
def test_an_object_that_no_watch_can_read_ends_the_simulation(*, required: bool) -> None:
    memory = InMemoryCluster(namespaces=("shop",))
    memory.handle(requests.create(SECRETS, {"metadata": {"name": "till"}}, "shop"))
    demanding = replace(WATCH, transform=lambda manifest: {"data": manifest["data"]}, required_for_sync=required)

    with pytest.raises(ReadingError, match="Secret shop/till cannot be read: KeyError: 'data'"):
        settle(memory, [replace(WATCHING, watches=(demanding,))])


class BrokenError(Exception):
    """What a test raises."""


@pytest.mark.parametrize("error", [BrokenError("x"), TimeoutError("the turn did not end within 180 s")])
def test_a_turn_that_crashes_ends_the_simulation_and_is_named(error: Exception) -> None:
    def broken(*_: Any) -> Any:
        raise error

    with (
        simulated(replace(WATCHING, reconcile=broken)) as simulation,
        pytest.raises(CrashedTurnError, match=f"turn of watching about shop/till crashed: .*Error: {error}$") as crash,
    ):
        list(turns(simulation))

    assert crash.value.__cause__ is error


def test_a_defect_of_a_mapping_ends_the_simulation_and_is_named() -> None:
    def broken(*_: Any) -> Any:
        raise BrokenError("x")

    watches = (replace(WATCH, enqueue=broken),)
    sentence = f"^watching could not map {SECRETS} to keys: BrokenError: x$"
    with (
        simulated(replace(WATCHING, watches=watches)) as simulation,
        pytest.raises(CrashedMappingError, match=sentence) as crash,
    ):
        list(turns(simulation))

    assert isinstance(crash.value.__cause__, BrokenError)


@contextlib.contextmanager
def simulated(controller: Controller[Any]) -> Iterator[Simulation]:
    """A controller at work where a Secret has just been made."""
    memory = InMemoryCluster(namespaces=("shop",))
    loop = CalendarLoop(datetime(2026, 1, 1, tzinfo=UTC))
    with Simulation(loop, in_memory(memory), [controller]) as simulation:
        memory.handle(requests.create(SECRETS, {"metadata": {"name": "till"}}, "shop"))
        yield simulation


def test_who_gives_way_goes_when_the_others_have_nothing_to_do() -> None:
    memory = InMemoryCluster(namespaces=("shop",))
    memory.handle(requests.create(SECRETS, {"metadata": {"name": "till"}}, "shop"))
    polite = replace(WATCHING, name="polite", yields_to=("watching",))
    loop = CalendarLoop(datetime(2026, 1, 1, tzinfo=UTC))

    with Simulation(loop, in_memory(memory), [polite, WATCHING]) as simulation:
        simulation.look_at_everything()
        first, second = simulation.work()

    assert (first.controller, second.controller) == ("watching", "polite")
    assert loop.time() == 0


def test_controllers_that_undo_each_others_work_do_not_come_to_rest() -> None:
    def wants(colour: str) -> Controller[Any]:
        def reconcile(key: ObjectKey, snapshot: Snapshot, _context: Context[None]) -> Plan:
            live = snapshot.get(SECRETS, key)
            patch = MergePatch(SECRETS, key, {"metadata": {"labels": {"colour": colour}}}, "not-my-colour")
            return Plan((patch,) if live and labels_of(live).get("colour") != colour else ())

        return replace(WATCHING, name=colour, reconcile=reconcile)

    memory = InMemoryCluster(namespaces=("shop",))
    memory.handle(requests.create(SECRETS, {"metadata": {"name": "till"}}, "shop"))

    (unrest,) = settle(memory, [wants("red"), wants("blue")]).problems()

    assert re.fullmatch(r"red did not come to rest: Secret shop/till was corrected \d+ times .*", unrest)


def test_who_undoes_its_own_work_is_named() -> None:
    def count(key: ObjectKey, snapshot: Snapshot, _context: Context[None]) -> Plan:
        live = snapshot.get(SECRETS, key)
        number = int(labels_of(live).get("turn", "0")) + 1 if live else 0
        return Plan((MergePatch(SECRETS, key, {"metadata": {"labels": {"turn": str(number)}}}, "again"),))

    memory = InMemoryCluster(namespaces=("shop",))
    memory.handle(requests.create(SECRETS, {"metadata": {"name": "till"}}, "shop"))

    settlement = settle(memory, [replace(WATCHING, reconcile=count)])

    assert settlement.problems() == ["watching did not come to rest about shop/till within 200 turns"]
