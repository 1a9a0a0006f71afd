"""Electors against one store of Leases, on virtual time."""

import asyncio
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.machinery.objects import ObjectKey
from hedgerow_adapters.leader_election.elector import ElectionEvent, EventKind, LeaderElector, LeadershipLostError
from tests.unit.adapters.leader_election.lease_store import LATENCY, Connection, Fate, LeaseStore
from tests.virtual_clock import virtual_time, wall_clock

KEY = ObjectKey("garden", "hedgerow")


class Candidate:
    """One process: its elector, its connection, its task, and what it was told, with true times."""

    def __init__(
        self,
        identity: str,
        store: LeaseStore,
        fates: Iterable[Fate] = (),
        *,
        rate: float = 1.0,
        jitter: float = 0.5,
    ) -> None:
        loop = asyncio.get_running_loop()
        self.told: list[tuple[float, ElectionEvent]] = []
        self.connection = Connection(store, fates, rate=rate)
        self.elector = LeaderElector(
            self.connection,
            KEY,
            identity,
            clock=lambda: loop.time() * rate,
            wall_clock=wall_clock,
            jitter=lambda: jitter,
            on_event=lambda event: self.told.append((loop.time(), event)),
        )
        self.task = asyncio.create_task(self.elector.run())

    def time_of(self, kind: EventKind) -> float:
        return next(time for time, event in self.told if event.kind is kind)

    @property
    def kinds(self) -> list[EventKind]:
        return [event.kind for _, event in self.told]

    def crash(self) -> None:
        self.task.cancel()


@virtual_time
async def test_the_first_candidate_leads_and_keeps_leading() -> None:
    store = LeaseStore()
    first = Candidate("first", store)
    assert not first.elector.may_write()

    assert await first.elector.wait_until_leading()
    assert first.elector.may_write()
    second = Candidate("second", store)
    await asyncio.sleep(600)

    assert first.elector.may_write()
    assert not second.elector.may_write()
    assert [event for _, event in first.told] == [ElectionEvent(EventKind.LEADING, "first")]
    assert [event for _, event in second.told] == [ElectionEvent(EventKind.NEW_LEADER, "first")]
    assert store.leases["hedgerow"]["spec"]["leaseTransitions"] == 0
    assert store.leases["hedgerow"]["spec"]["acquireTime"] == "2024-01-01T00:00:00.100000Z"


@virtual_time
async def test_a_release_hands_over_at_the_next_look() -> None:
    store = LeaseStore()
    first = Candidate("first", store)
    await first.elector.wait_until_leading()
    second = Candidate("second", store, jitter=0.0)
    await asyncio.sleep(60)

    assert await first.elector.release()
    released_at = asyncio.get_running_loop().time()
    await first.task
    assert await second.elector.wait_until_leading()

    assert released_at == pytest.approx(60.2, abs=0.2)
    assert second.time_of(EventKind.LEADING) - released_at < 2 + 4 * LATENCY
    assert store.leases["hedgerow"]["spec"]["leaseTransitions"] == 1
    assert first.kinds == [EventKind.LEADING, EventKind.RELEASED]


@virtual_time
async def test_the_gate_closes_before_the_lease_is_given_back() -> None:
    store = LeaseStore()
    leader = Candidate("leader", store)
    await leader.elector.wait_until_leading()

    release = asyncio.create_task(leader.elector.release())
    await asyncio.sleep(0)

    assert not leader.elector.may_write()
    assert store.leases["hedgerow"]["spec"]["holderIdentity"] == "leader"
    assert await release


@pytest.mark.parametrize("jitter", [0.0, 0.5, 1.0])
@virtual_time
async def test_a_crashed_leader_is_succeeded_within_the_lease_duration_and_a_retry_period(jitter: float) -> None:
    store = LeaseStore()
    first = Candidate("first", store)
    await first.elector.wait_until_leading()
    second = Candidate("second", store, jitter=jitter)
    await asyncio.sleep(61)

    first.crash()
    crashed_at = asyncio.get_running_loop().time()
    await second.elector.wait_until_leading()

    assert not first.elector.may_write()
    assert 15 - 2.1 <= second.time_of(EventKind.LEADING) - crashed_at <= 15 + 2 + 4 * LATENCY


@pytest.mark.parametrize("fate", [Fate.REQUEST_LOST, Fate.ANSWER_LOST, Fate.UNAVAILABLE, Fate.CONFLICT, Fate.FORBIDDEN])
@virtual_time
async def test_a_leader_that_cannot_renew_loses_no_later_than_the_renew_deadline(fate: Fate) -> None:
    leader = Candidate("leader", LeaseStore(), [Fate.ANSWERED] * 10 + [fate] * 1000)
    await leader.elector.wait_until_leading()
    await leader.elector.lost.wait()
    last_success = 2 * LATENCY + 8 * 2

    assert asyncio.get_running_loop().time() == pytest.approx(last_success + 10, abs=0.01)
    assert not leader.elector.may_write()
    with pytest.raises(
        LeadershipLostError, match=r"^lost the lease garden/hedgerow: it could not be renewed for 10 s$"
    ):
        await leader.task


@virtual_time
async def test_a_renewal_that_hangs_once_does_not_cost_the_lease() -> None:
    leader = Candidate("leader", LeaseStore(), [Fate.ANSWERED] * 2 + [Fate.REQUEST_LOST])

    await asyncio.sleep(60)

    assert leader.elector.may_write()
    assert leader.kinds == [EventKind.LEADING, EventKind.FAILED, EventKind.RECOVERED]


@virtual_time
async def test_a_claim_that_was_stored_without_an_answer_is_found_and_kept() -> None:
    store = LeaseStore()
    candidate = Candidate("us", store, [Fate.ANSWERED, Fate.ANSWER_LOST])

    assert await candidate.elector.wait_until_leading()

    assert store.leases["hedgerow"]["spec"]["leaseTransitions"] == 0
    assert asyncio.get_running_loop().time() < 15


@virtual_time
async def test_what_fails_before_leading_is_told_each_time_and_so_is_its_end() -> None:
    fates = [Fate.FORBIDDEN] * 5 + [Fate.UNAVAILABLE] * 2
    candidate = Candidate("us", LeaseStore(), fates)

    assert await candidate.elector.wait_until_leading()

    assert [event for _, event in candidate.told] == [
        *[ElectionEvent(EventKind.FORBIDDEN, 'leases "hedgerow" is forbidden (status code 403)')] * 5,
        *[ElectionEvent(EventKind.FAILED, "etcd has no leader (status code 503)")] * 2,
        ElectionEvent(EventKind.LEADING, "us"),
        ElectionEvent(EventKind.RECOVERED),
    ]


@virtual_time
async def test_a_look_that_succeeds_is_no_success_where_every_claim_is_refused() -> None:
    candidate = Candidate("us", LeaseStore(), [Fate.ANSWERED, Fate.FORBIDDEN] * 1000)

    await asyncio.sleep(60)

    assert set(candidate.kinds) == {EventKind.FORBIDDEN}


@virtual_time
async def test_a_release_that_nobody_answers_ends_at_the_deadline() -> None:
    leader = Candidate("leader", LeaseStore())
    await leader.elector.wait_until_leading()
    await asyncio.sleep(0.9)
    leader.connection.cut = True

    assert not await leader.elector.release()

    assert asyncio.get_running_loop().time() == pytest.approx(10 + 2 * LATENCY)
    await leader.task
    assert leader.kinds[-1] is EventKind.ABANDONED


@virtual_time
async def test_a_follower_that_is_released_stops_waiting_for_the_lease() -> None:
    store = LeaseStore()
    await Candidate("first", store).elector.wait_until_leading()
    second = Candidate("second", store)
    await asyncio.sleep(30)

    assert await second.elector.release()
    await second.task

    assert not await second.elector.wait_until_leading()
    assert store.leases["hedgerow"]["spec"]["holderIdentity"] == "first"


@virtual_time
async def test_clocks_ten_percent_apart_leave_writes_of_the_last_moment_two_and_a_half_seconds() -> None:
    store = LeaseStore()
    slow = Candidate("slow", store, rate=0.9)
    await slow.elector.wait_until_leading()
    fast = Candidate("fast", store, rate=1.1, jitter=0.0)
    await asyncio.sleep(60)

    slow.connection.cut = True
    await slow.elector.lost.wait()
    await fast.elector.wait_until_leading()

    assert fast.time_of(EventKind.LEADING) - slow.time_of(EventKind.LOST) > 2.5
    slow.task.exception()


RATES = st.floats(0.9, 1.1)
SPELLS = st.tuples(st.sampled_from([Fate.ANSWERED, *Fate]), st.integers(1, 8))
FATES = st.lists(SPELLS, max_size=8).map(lambda spells: [fate for fate, length in spells for _ in range(length)])
"""Failures come in spells, as partitions do."""


@given(
    candidates=st.lists(st.tuples(FATES, RATES, st.floats(0, 1), st.floats(0, 10)), min_size=2, max_size=3),
    interrupted_at=st.floats(0, 80),
    interruption=st.sampled_from(["crash", "release", "partition", "partition"]),
)
@settings(deadline=None)
@virtual_time
async def test_never_two_gates_are_open_at_once(
    candidates: list[tuple[list[Fate], float, float, float]], interrupted_at: float, interruption: str
) -> None:
    store, loop = LeaseStore(), asyncio.get_running_loop()
    running: list[Candidate] = []

    async def start(index: int, fates: list[Fate], rate: float, jitter: float, delay: float) -> None:
        await asyncio.sleep(delay)
        running.append(Candidate(str(index), store, fates, rate=rate, jitter=jitter))

    async def interrupt() -> None:
        await asyncio.sleep(interrupted_at)
        for candidate in [candidate for candidate in running if candidate.elector.may_write()]:
            match interruption:
                case "crash":
                    candidate.crash()
                case "release":
                    await candidate.elector.release()
                case "partition":
                    candidate.connection.cut = True

    async with asyncio.TaskGroup() as group:
        for index, (fates, rate, jitter, delay) in enumerate(candidates):
            group.create_task(start(index, fates, rate, jitter, delay))
        group.create_task(interrupt())
        while loop.time() < 120:
            assert sum(candidate.elector.may_write() for candidate in running) <= 1
            await asyncio.sleep(0.25)

    for candidate in running:
        candidate.task.cancel()
    await asyncio.gather(*(candidate.task for candidate in running), return_exceptions=True)
