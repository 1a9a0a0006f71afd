"""The work queue in random use against a model that is as simple as possible."""

import asyncio
from collections import Counter

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from hedgerow.machinery.objects import ObjectKey
from hedgerow_adapters.runtime.observer import ControllerObserver
from hedgerow_adapters.runtime.queue import LOW_PRIORITY_TURN, WorkQueue, failure_delay
from tests.virtual_clock import VirtualClockLoop

KEYS = [ObjectKey("shop", name) for name in "abcdef"]
keys = st.sampled_from(KEYS)
MOST_WORKERS = 3


class QueueInUse(RuleBasedStateMachine):
    """Workers take and finish keys, keys are added at any time, time goes by."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = VirtualClockLoop()
        self.queue = self.loop.run_until_complete(self.new_queue())
        self.line: list[ObjectKey] = []
        self.low_priority: list[ObjectKey] = []
        self.in_work: list[ObjectKey] = []
        self.again: dict[ObjectKey, bool] = {}
        self.due: dict[ObjectKey, float] = {}
        self.held_until: dict[ObjectKey, float] = {}
        self.failures: Counter[ObjectKey] = Counter()
        self.passed = 0
        self.moments = 0
        self.workers: list[asyncio.Task[ObjectKey]] = []

    async def new_queue(self) -> WorkQueue:
        return WorkQueue(ControllerObserver())

    def teardown(self) -> None:
        for worker in self.workers:
            worker.cancel()
        self.turn()
        self.loop.close()

    def turn(self, seconds: float = 0.0) -> None:
        """Let everything happen that can."""
        self.loop.run_until_complete(asyncio.sleep(seconds))
        self.loop.run_until_complete(asyncio.sleep(0))

    def let_a_moment_pass(self) -> bool:
        """So that no two keys are due at the very same time; false where one is due too soon for that."""
        self.moments += 1
        after = self.loop.time() + 1e-5 * (1 + self.moments * 2**0.5 % 1)
        if any(due <= after for due in (*self.due.values(), *self.held_until.values())):
            return False
        self.loop.jump_to(after)
        return True

    def arrive(self, key: ObjectKey, *, low_priority: bool) -> None:
        """The model's idea of adding a key."""
        if key in self.in_work or key in self.held_until:
            self.again[key] = low_priority and self.again.get(key, True)
        elif key in self.line or (low_priority and key in self.low_priority):
            pass
        elif low_priority:
            self.low_priority.append(key)
        else:
            self.low_priority = [other for other in self.low_priority if other != key]
            self.line.append(key)

    def next_key(self) -> ObjectKey:
        """The model's idea of whose turn it is."""
        if self.low_priority and (not self.line or self.passed == LOW_PRIORITY_TURN - 1):
            self.passed = 0
            return self.low_priority.pop(0)
        self.passed += bool(self.low_priority)
        return self.line.pop(0)

    def hand_out(self) -> None:
        """Workers that wait get what there is, in the model and in truth."""
        self.turn()
        expected: list[ObjectKey] = []
        while (self.line or self.low_priority) and len(expected) < len(self.workers):
            expected.append(self.next_key())
        taken = [worker.result() for worker in self.workers if worker.done()]
        assert sorted(taken) == sorted(expected)
        self.workers = [worker for worker in self.workers if not worker.done()]
        self.in_work += expected

    @rule(key=keys, low_priority=st.booleans())
    def add(self, key: ObjectKey, low_priority: bool) -> None:  # noqa: FBT001 -- a rule's arguments come by name
        self.queue.add(key, low_priority=low_priority)
        self.arrive(key, low_priority=low_priority)
        self.hand_out()

    @precondition(lambda self: len(self.workers) + len(self.in_work) < MOST_WORKERS)
    @rule()
    def a_worker_comes(self) -> None:
        self.workers.append(self.loop.create_task(self.queue.take()))
        self.hand_out()

    @precondition(lambda self: self.workers)
    @rule(key=keys, adds=st.booleans())
    def a_worker_leaves(self, key: ObjectKey, adds: bool) -> None:  # noqa: FBT001 -- as above
        """Perhaps in the moment in which a key comes."""
        leaving = self.workers.pop(0)
        if adds:
            self.queue.add(key)
            self.arrive(key, low_priority=False)
        leaving.cancel()
        self.turn()
        assert leaving.cancelled()
        self.hand_out()

    @precondition(lambda self: self.in_work)
    @rule(data=st.data(), outcome=st.sampled_from(["settled", "failed", "later", "fought"]), delay=st.integers(1, 20))
    def a_key_is_done(self, data: st.DataObject, outcome: str, delay: int) -> None:
        key = data.draw(st.sampled_from(self.in_work))
        if not self.let_a_moment_pass():
            outcome = "settled"
        now = self.loop.time()
        if outcome == "failed":
            self.failures[key] += 1
            wait = self.queue.retry(key)
            assert wait >= failure_delay(self.failures[key])
            self.due[key] = min(self.due.get(key, now + wait), now + wait)
        else:
            self.queue.forget(key)
            self.failures[key] = 0
        if outcome == "fought":
            self.queue.hold(key, delay)
            self.held_until[key] = now + delay
        if outcome == "later":
            self.queue.add_after(key, delay)
            self.due[key] = min(self.due.get(key, now + delay), now + delay)
        self.queue.done(key)
        self.in_work.remove(key)
        self.come_back(key)
        self.hand_out()

    @rule(key=keys)
    def a_hold_ends_early(self, key: ObjectKey) -> None:
        self.queue.release(key)
        if self.held_until.pop(key, None) is not None:
            self.come_back(key)
        self.hand_out()

    def come_back(self, key: ObjectKey) -> None:
        """The model's idea of what becomes of a key that was added while it could not be."""
        if key in self.again and key not in self.in_work and key not in self.held_until:
            self.arrive(key, low_priority=self.again.pop(key))

    @precondition(lambda self: self.due or self.held_until)
    @rule()
    def time_goes_by(self) -> None:
        """Until the next key is due, or the next hold ends."""
        moment = min((*self.due.values(), *self.held_until.values()))
        self.turn(max(0.0, moment - self.loop.time()))
        for key in [key for key, end in self.held_until.items() if end == moment]:
            del self.held_until[key]
            self.come_back(key)
        for key in [key for key, due in self.due.items() if due == moment]:
            del self.due[key]
            self.arrive(key, low_priority=False)
        self.hand_out()

    @invariant()
    def it_holds_what_the_model_holds(self) -> None:
        assert len(self.queue) == len(self.line) + len(self.low_priority)
        assert self.queue.idle == (not self.line and not self.low_priority and not self.in_work)
        assert len(set(self.in_work)) == len(self.in_work)


QueueInUse.TestCase.settings = settings(max_examples=80, stateful_step_count=40, deadline=None)
test_in_any_use_the_queue_does_what_its_model_does = QueueInUse.TestCase
