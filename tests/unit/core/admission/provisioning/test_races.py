"""Replicas race, crash after any step and lose their Secret, while time passes: what they serve is always trusted."""

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.core.admission.provisioning.replicas import Landscape, encoded

INDEX = st.integers(0, 2)
WORK = (
    st.tuples(st.just("step"), INDEX),
    st.tuples(st.just("step"), INDEX),
    st.tuples(st.just("step"), INDEX),
    st.tuples(st.just("turn"), INDEX),
    st.tuples(st.just("crash"), INDEX),
    st.tuples(st.just("lead"), INDEX),
    st.tuples(st.just("pass"), st.integers(1, 3)),
)
LOSSES = (
    st.tuples(st.just("delete"), st.just(0)),
    st.tuples(st.just("spoil"), st.sampled_from(["ca.crt", "ca.key", "tls.crt", "tls.key", "next-ca.key"])),
)
WIPED = st.tuples(st.just("wipe"), st.just(0))
COURSES = st.one_of(st.lists(st.one_of(*WORK, *LOSSES), max_size=40), st.lists(st.one_of(*WORK, WIPED), max_size=40))
"""Who loses the Secret and the webhooks of the registration at once has nothing left that tells whom others serve."""


def happen(world: Landscape, what: str, value: int | str) -> None:
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
            # A replica takes a turn every few seconds: whole ones lie between two days.
            world.settle(2)
            world.now += timedelta(days=days)
        case "delete", _:
            world.secret = None
        case "spoil", str(name) if world.secret is not None:
            world.store({**world.secret, "data": {**world.data(), name: encoded(b"rubbish")}})
        case "wipe", _ if world.registration is not None:
            world.store({**world.registration, "webhooks": []})


@settings(max_examples=50, deadline=None)
@given(COURSES)
def test_what_is_served_is_trusted_at_every_moment(actions: list[tuple[str, int | str]]) -> None:
    world = Landscape()
    for what, value in actions:
        happen(world, what, value)
        assert world.distrusted() == [], (what, value)
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
