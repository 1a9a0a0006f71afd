"""The work queue on virtual time."""

import asyncio
import contextvars
import gc
import weakref

import pytest

from hedgerow.machinery.objects import ObjectKey
from hedgerow_adapters.runtime.observer import ControllerObserver
from hedgerow_adapters.runtime.queue import WorkQueue
from tests.virtual_clock import run, virtual_time


def key(name: str | int) -> ObjectKey:
    return ObjectKey("shop", str(name))


A, B, C = key("a"), key("b"), key("c")


def now() -> float:
    return asyncio.get_running_loop().time()


def new_queue() -> WorkQueue:
    return WorkQueue(ControllerObserver())


async def all_waiting(queue: WorkQueue) -> list[str]:
    """The names of those that wait, in the order in which a worker gets them."""
    names = []
    while len(queue):
        taken = await queue.take()
        queue.done(taken)
        names.append(taken.name)
    return names


@virtual_time
async def test_a_key_that_fails_again_and_again_waits_no_longer_than_is_allowed() -> None:
    queue = WorkQueue(ControllerObserver(), longest_wait=1.0)

    assert [queue.retry(A) for _ in range(11)][-4:] == [0.64, 1.0, 1.0, 1.0]


@virtual_time
async def test_a_queue_is_as_old_as_its_oldest_key() -> None:
    queue = new_queue()
    assert queue.age() == 0

    queue.add(A, low_priority=True)
    await asyncio.sleep(3)
    queue.add(B)
    await asyncio.sleep(4)
    assert queue.age() == 7

    queue.add(A)  # it keeps its place in time, behind B
    assert queue.age() == 7
    queue.done(await queue.take())
    queue.done(await queue.take())
    assert queue.age() == 0


@virtual_time
async def test_a_key_has_its_next_turn_no_sooner_than_is_allowed() -> None:
    queue = WorkQueue(ControllerObserver(), shortest_wait=1.0)
    queue.add(A)
    queue.add(B)
    assert await queue.take() == A
    queue.add(A)
    queue.done(A)
    assert await all_waiting(queue) == ["b"]

    queue.add(B)
    queue.add_after(B, 30)
    assert len(queue) == 0
    began = now()
    assert [await queue.take(), await queue.take()] == [A, B]
    assert now() == began + 1.0


@virtual_time
async def test_keys_are_taken_in_the_order_in_which_they_came_each_once() -> None:
    queue = new_queue()
    for each in (B, A, B, C, A):
        queue.add(each)

    assert len(queue) == 3
    assert await all_waiting(queue) == ["b", "a", "c"]
    assert queue.idle


@virtual_time
async def test_a_key_that_is_worked_on_comes_back_only_when_it_is_done() -> None:
    queue = new_queue()
    queue.add(A)
    assert await queue.take() == A
    queue.add(A)
    queue.add(A)
    assert (len(queue), queue.idle) == (0, False)

    queue.done(A)

    assert len(queue) == 1
    assert await queue.take() == A
    queue.done(A)
    assert queue.idle


@virtual_time
async def test_workers_that_wait_are_woken_one_for_each_key() -> None:
    queue = new_queue()
    taken: list[ObjectKey] = []

    async def work() -> None:
        taken.append(await queue.take())

    workers = [asyncio.create_task(work()) for _ in range(3)]
    await asyncio.sleep(1)
    queue.add(A)
    queue.add(B)
    await asyncio.sleep(1)

    assert taken == [A, B]
    assert [worker.done() for worker in workers] == [True, True, False]
    queue.add(C)
    await asyncio.wait(workers)
    assert taken == [A, B, C]


@pytest.mark.parametrize("turns", range(4))
@virtual_time
async def test_a_key_is_not_lost_with_a_worker_that_is_cancelled_as_it_comes(turns: int) -> None:
    queue = new_queue()
    leaving, staying = asyncio.create_task(queue.take()), asyncio.create_task(queue.take())
    await asyncio.sleep(1)
    queue.add(A)
    for _ in range(turns):
        await asyncio.sleep(0)
    if leaving.cancel():
        assert await staying == A
    else:
        assert await leaving == A
        staying.cancel()


@virtual_time
async def test_live_changes_pass_those_who_are_patient_and_a_key_may_become_one() -> None:
    queue = new_queue()
    for number in range(3):
        queue.add(key(number), low_priority=True)
    queue.add(A)
    queue.add(key(2))
    queue.add(A, low_priority=True)

    assert len(queue) == 4
    assert await all_waiting(queue) == ["a", "2", "0", "1"]


@virtual_time
async def test_patient_keys_get_every_fifth_turn_however_much_changes() -> None:
    queue = new_queue()
    for number in range(3):
        queue.add(key(f"patient-{number}"), low_priority=True)
    taken = []
    for number in range(15):
        queue.add(key(f"live-{2 * number}"))
        queue.add(key(f"live-{2 * number + 1}"))
        taken.append(await queue.take())
        queue.done(taken[-1])

    assert [each.name for each in taken if "patient" in each.name] == ["patient-0", "patient-1", "patient-2"]
    assert [position for position, each in enumerate(taken) if "patient" in each.name] == [4, 9, 14]


@virtual_time
async def test_a_key_comes_back_patient_only_if_nobody_was_in_a_hurry_meanwhile() -> None:
    queue = new_queue()
    queue.add(A)
    queue.add(B)
    await queue.take()
    await queue.take()
    queue.add(A)
    queue.add(A, low_priority=True)
    queue.add(B, low_priority=True)
    queue.done(B)
    queue.done(A)

    assert await all_waiting(queue) == ["a", "b"]


@virtual_time
async def test_of_several_later_times_the_earliest_counts() -> None:
    queue = new_queue()
    queue.add_after(A, 50)
    queue.add_after(A, 20)
    queue.add_after(A, 30)

    await asyncio.sleep(19.9)
    assert len(queue) == 0
    await asyncio.sleep(0.2)
    assert await all_waiting(queue) == ["a"]
    await asyncio.sleep(100)
    assert len(queue) == 0


@virtual_time
async def test_a_later_time_does_not_keep_a_key_from_being_added_now() -> None:
    queue = new_queue()
    queue.add_after(A, 50)
    queue.add(A)

    assert await all_waiting(queue) == ["a"]
    await asyncio.sleep(51)
    assert await all_waiting(queue) == ["a"]


@virtual_time
async def test_a_key_that_keeps_failing_waits_twice_as_long_each_time_until_it_is_forgotten() -> None:
    queue = new_queue()

    assert [queue.retry(A) for _ in range(3)] == [0.005, 0.01, 0.02]
    assert queue.retry(B) == 0.005
    queue.forget(A)
    assert queue.retry(A) == 0.005
    await asyncio.sleep(0.006)
    assert await all_waiting(queue) == ["a", "b"]


@virtual_time
async def test_many_failures_at_once_come_back_ten_a_second() -> None:
    queue = new_queue()
    for number in range(150):
        queue.retry(key(number))

    counts = []
    for _ in range(6):
        await asyncio.sleep(1.0)
        counts.append(len(await all_waiting(queue)))

    assert counts == [110, 10, 10, 10, 10, 0]


@virtual_time
async def test_after_failures_are_forgiven_the_next_one_need_not_wait_behind_them() -> None:
    queue = new_queue()
    for number in range(2000):
        queue.retry(key(number))

    queue.retry_now()

    assert len(await all_waiting(queue)) == 2000
    assert queue.retry(A) == 0.005


@virtual_time
async def test_a_hold_may_be_ended_early_and_nobody_is_lost_or_doubled() -> None:
    queue = new_queue()
    queue.release(A)
    queue.add(A)
    queue.hold(await queue.take(), 30)
    queue.release(A)
    queue.add(A)
    assert len(queue) == 0, "a worker is still at it"
    queue.done(A)
    assert await all_waiting(queue) == ["a"]

    queue.hold(A, 30)
    queue.add(A, low_priority=True)
    queue.release(A)
    assert await all_waiting(queue) == ["a"]

    queue.hold(A, 100)
    queue.add(A)
    await asyncio.sleep(60)
    assert len(queue) == 0, "the end of an earlier hold is not that of a later one"
    await asyncio.sleep(60)
    assert await all_waiting(queue) == ["a"]


@virtual_time
async def test_a_hold_is_shortened_and_never_made_longer() -> None:
    queue = new_queue()
    queue.shorten(A, 10)
    queue.hold(A, 100)
    queue.add(A)
    queue.shorten(A, 50)
    await asyncio.sleep(30)
    queue.shorten(A, 50)
    assert len(queue) == 0

    await asyncio.sleep(21)

    assert await all_waiting(queue) == ["a"]


@virtual_time
async def test_what_is_added_to_a_held_key_comes_in_line_when_the_hold_ends_and_others_do_not_wait() -> None:
    queue = new_queue()
    for each in (A, B):
        queue.add(each, low_priority=True)
        queue.hold(await queue.take(), 30)
        queue.done(each)
    queue.add(A)
    queue.add(A)
    queue.add_after(A, 10)
    queue.retry(A)
    queue.add(C)
    assert await all_waiting(queue) == ["c"]

    await asyncio.sleep(29.9)
    assert len(queue) == 0
    await asyncio.sleep(0.2)
    assert await all_waiting(queue) == ["a"], "nobody has asked for the other one"


@virtual_time
async def test_a_key_that_was_added_while_it_was_worked_on_is_held_all_the_same_until_the_later_hold_ends() -> None:
    queue = new_queue()
    queue.add(A)
    await queue.take()
    queue.add(A)
    queue.hold(A, 10)
    queue.hold(A, 30)
    queue.done(A)

    await asyncio.sleep(29)
    assert len(queue) == 0
    await asyncio.sleep(2)
    assert await all_waiting(queue) == ["a"]


@virtual_time
async def test_a_hold_that_ends_while_its_key_is_worked_on_does_not_give_it_to_a_second_worker() -> None:
    queue = new_queue()
    queue.add(A)
    await queue.take()
    queue.hold(A, 10)
    queue.add(A)
    await asyncio.sleep(20)
    assert len(queue) == 0

    queue.done(A)
    assert await all_waiting(queue) == ["a"]


@virtual_time
async def test_after_it_is_closed_nothing_comes_back() -> None:
    queue = new_queue()
    queue.add(C)
    queue.hold(await queue.take(), 5)
    queue.add(C)
    queue.done(C)
    queue.add_after(A, 5)
    queue.retry(B)
    queue.close()
    await asyncio.sleep(10)

    assert queue.idle


@virtual_time
async def test_metrics_hear_of_depth_waits_and_work() -> None:
    heard: list[tuple[object, ...]] = []

    class Ears(ControllerObserver):
        def added(self, depth: int) -> None:
            heard.append(("added", depth))

        def taken(self, depth: int, waited: float) -> None:
            heard.append(("taken", depth, waited))

        def finished(self, worked: float) -> None:
            heard.append(("finished", worked))

        def retried(self) -> None:
            heard.append(("retried",))

        def slowed(self, keys: int) -> None:
            heard.append(("slowed", keys))

    queue = WorkQueue(Ears())
    queue.add(A, low_priority=True)
    queue.add(B)
    await asyncio.sleep(1)
    queue.add(A)
    assert await queue.take() == B
    await asyncio.sleep(2)
    queue.retry(B)
    queue.done(B)
    assert await queue.take() == A
    queue.hold(A, 1)
    queue.hold(A, 2)
    await asyncio.sleep(3)

    assert heard[:6] == [
        ("added", 1), ("added", 2), ("taken", 1, 1.0), ("retried",), ("finished", 2.0), ("taken", 0, 3.0),
    ]  # fmt: skip
    assert [told for told in heard if told[0] == "slowed"] == [("slowed", 1), ("slowed", 1), ("slowed", 0)]


def test_a_long_line_does_not_slow_the_queue_down() -> None:
    """Both ends of a long line are equally near: a queue that searches would not end in a test's time."""

    async def scenario() -> None:
        queue = new_queue()
        for number in range(20_000):
            queue.add(key(number), low_priority=bool(number % 2))
        for _ in range(2):
            for number in range(20_000):
                queue.add(key(number))
        assert len(await all_waiting(queue)) == 20_000

    run(scenario())


@virtual_time
async def test_a_key_that_waits_keeps_nothing_of_the_turn_that_asked_for_the_next() -> None:
    class Turn:
        """What the log lines of a turn have in common."""

    queue, current = new_queue(), contextvars.ContextVar[Turn]("current")

    def turn() -> weakref.ref[Turn]:
        current.set(Turn())
        queue.add_after(A, 60)
        return weakref.ref(current.get())

    ended = contextvars.copy_context().run(turn)
    gc.collect()

    assert ended() is None
    await asyncio.sleep(61)
    assert await all_waiting(queue) == ["a"]
