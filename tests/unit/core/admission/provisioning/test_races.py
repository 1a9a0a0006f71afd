"""Replicas race, crash after any step and lose their Secret, while time passes: what they serve is always trusted."""

from datetime import timedelta
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.admission.provisioning import MARK
from hedgerow.admission.provisioning.registrations import with_trust
from tests.unit.core.admission.provisioning.replicas import (
    FOREIGN,
    Landscape,
    Process,
    empty_secret,
    encoded,
)

INDEX = st.integers(0, 2)
CLOCKS: Final = [timedelta(0), timedelta(hours=3), timedelta(hours=-2), timedelta(days=30)]
MOST_LOSSES: Final = 2
"""Between two moments at which all replicas have read the Secret: more authorities than that are forgotten."""
WORK = (
    st.tuples(st.just("step"), INDEX),
    st.tuples(st.just("step"), INDEX),
    st.tuples(st.just("step"), INDEX),
    st.tuples(st.just("turn"), INDEX),
    st.tuples(st.just("crash"), INDEX),
    st.tuples(st.just("lead"), INDEX),
    st.tuples(st.just("pass"), st.integers(1, 3)),
    st.tuples(st.just("blind"), INDEX),
    st.tuples(st.just("see"), INDEX),
    st.tuples(st.just("foreign"), st.just(0)),
    st.tuples(st.just("unmark"), st.just(0)),
    st.tuples(st.just("mark"), st.just(0)),
)
LOSSES = (
    st.tuples(st.just("delete"), st.just(0)),
    st.tuples(st.just("spoil"), st.sampled_from(["ca.crt", "ca.key", "tls.crt", "tls.key", "next-ca.key"])),
)
WIPED = st.tuples(st.just("wipe"), st.just(0))
COURSES = st.one_of(st.lists(st.one_of(*WORK, *LOSSES), max_size=40), st.lists(st.one_of(*WORK, WIPED), max_size=40))
"""Who loses the Secret and the webhooks of the registration at once has nothing left that tells whom others serve."""


def happen(world: Landscape, what: str, value: int | str) -> None:  # noqa: C901 -- a table
    match what, value:
        case "step", int(index):
            world.step(index)
        case "turn", int(index):
            world.turn(index)
        case "crash", int(index):
            world.crash(index)
        case "lead", int(index):
            world.leader = index
        case "pass", int(days):
            # A replica takes a turn every few seconds: whole ones lie between two days. Whoever cannot read for a day
            # may miss that an authority is dropped.
            for process in world.processes:
                process.is_blind = False
            world.settle(2)
            world.now += timedelta(days=days)
        case "delete", _:
            world.secret = empty_secret()  # and the installation is applied again
        case "blind" | "see", int(index):
            world.processes[index].is_blind = what == "blind"
        case "foreign", _ if world.registration is not None and "webhooks" in world.registration:
            world.store({**world.registration, "webhooks": with_trust(world.registration, [FOREIGN])})
        case "mark" | "unmark", _ if world.registration is not None:
            marks = MARK if what == "mark" else {}
            world.store({**world.registration, "metadata": {**world.registration["metadata"], "annotations": marks}})
        case "spoil", str(name) if world.secret is not None:
            world.store({**world.secret, "data": {**world.data(), name: encoded(b"rubbish")}})
        case "wipe", _ if world.registration is not None:
            world.store({**world.registration, "webhooks": []})


@settings(max_examples=50, deadline=None)
@given(COURSES, st.sampled_from(CLOCKS))
def test_what_is_served_is_trusted_at_every_moment(actions: list[tuple[str, int | str]], ahead: timedelta) -> None:
    world = Landscape(processes=[Process(), Process(clock=ahead), Process()])
    losses = 0
    for what, value in actions:
        losses = 0 if what == "pass" else losses + (what in {"delete", "spoil"})
        if losses > MOST_LOSSES:
            world.settle(1)
            losses = 1
        happen(world, what, value)
        assert world.distrusted() == [], (what, value)
    for index in range(3):
        happen(world, "see", index)
    happen(world, "mark", 0)
    world.settle()

    assert world.distrusted() == []
    assert len({each.served for each in world.processes}) == 1
    assert all(each.plan is not None and each.plan.failures == () for each in world.processes)


@settings(max_examples=5, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 9), INDEX, st.integers(0, 12)), min_size=60, max_size=90))
def test_so_it_is_through_renewals_and_rotations(days: list[tuple[int, int, int]]) -> None:
    world = Landscape()
    world.settle()
    for passed, crashing, steps in days:
        world.now += timedelta(days=passed)
        for _ in range(steps):
            world.step(crashing)
            assert world.distrusted() == []
        world.crash(crashing)
        for _ in range(3):
            for index in range(3):
                while world.step(index):
                    assert world.distrusted() == []
        assert world.distrusted() == []
