from collections.abc import Callable, Coroutine, Generator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.machinery.steps import MOST_STEPS, AtOnce, EndlessDecisionError, Execution, Pause, Step, concurrently


@dataclass(frozen=True, slots=True)
class Ask(Step[int]):
    name: str


Script = str | list["Script"]
"""What a made-up decision does: asks, or has parts that go on side by side."""
SCRIPTS: st.SearchStrategy[list[Script]] = st.recursive(
    st.lists(st.text("abc", min_size=1, max_size=2), max_size=4),
    lambda inner: st.lists(st.one_of(st.text("abc", min_size=1, max_size=2), inner), max_size=4),
    max_leaves=12,
)


async def followed(script: Script, closed: list[str]) -> tuple[Any, ...]:
    told: list[Any] = []
    try:
        for each in [script] if isinstance(script, str) else script:
            if isinstance(each, str):
                told.append((each, await Ask(each)))
            else:
                told.append(await concurrently(followed(part, closed) for part in each))
    finally:
        closed.append("closed")
    return tuple(told)


def answering(asked: list[str]) -> Callable[[Step[Any]], Any]:
    return lambda step: reply(step, asked)


def reply(step: Step[Any], asked: list[str]) -> Any:
    match step:
        case AtOnce(steps):
            return tuple(reply(each, asked) for each in steps)
        case Ask(name):
            asked.append(name)
            return len(name) + len(asked)
        case _:
            raise AssertionError(step)


def driven(
    decision: Any | Coroutine[Any, Any, Any], perform: Callable[[Step[Any]], Any], most: int | None = None
) -> tuple[Any, list[Step[Any]]]:
    """The end of a decision and its steps; the step that waits where only so many are performed."""
    steps: list[Step[Any]] = []
    with Execution(decision, "a wish") as execution:
        state = execution.begin()
        while isinstance(state, Step) and (most is None or len(steps) < most):
            steps.append(state)
            state = execution.go_on(perform(state))
    return state, steps


def sequential(script: Sequence[Script]) -> list[str]:
    return [name for each in script for name in ([each] if isinstance(each, str) else sequential(each))]


@given(SCRIPTS)
def test_a_decision_that_is_told_the_same_asks_and_decides_the_same(script: list[Script]) -> None:
    first = driven(followed(script, []), answering([]))
    second = driven(followed(script, []), answering([]))

    assert first == second


@given(SCRIPTS)
def test_every_question_is_asked_once_whatever_goes_on_beside_it(script: list[Script]) -> None:
    asked: list[str] = []

    driven(followed(script, []), answering(asked))

    assert sorted(asked) == sorted(sequential(script))


@given(SCRIPTS, st.data())
def test_a_decision_that_is_closed_at_any_step_stops_there_with_all_its_parts(
    script: list[Script], data: st.DataObject
) -> None:
    whole: list[str] = []
    closed: list[str] = []
    _, steps = driven(followed(script, whole), answering([]))
    most = data.draw(st.integers(0, len(steps)))

    state, done = driven(followed(script, closed), answering([]), most)

    assert done == steps[:most]
    assert isinstance(state, Step) == (most < len(steps))
    assert len(closed) <= len(whole)
    assert (most < len(steps)) or closed == whole


def test_parts_go_on_side_by_side_and_their_results_have_the_order_of_the_parts() -> None:
    async def part(*names: str) -> str:
        return "".join([f"{await Ask(name)}" for name in names])

    def names_in(step: Step[Any]) -> list[str]:
        assert isinstance(step, AtOnce)
        return [each.name for each in step.steps if isinstance(each, Ask)]

    end, steps = driven(concurrently([part("a", "b"), part(), part("c")]), names_in)

    assert end == ("ab", "", "c")
    assert steps == [AtOnce((Ask("a"), Ask("c"))), AtOnce((Ask("b"),))]


def test_a_part_that_raises_closes_the_others() -> None:
    closed: list[str] = []

    async def broken() -> tuple[Any, ...]:
        await Ask("a")
        raise ValueError("a defect")

    with pytest.raises(ValueError, match="a defect"):
        driven(concurrently([followed("b", closed), broken(), followed("c", closed)]), lambda _step: (1, 2, 3))

    assert closed == ["closed"] * 2


def test_an_end_that_is_there_at_once_needs_no_step() -> None:
    assert driven("the end", answering([])) == ("the end", [])


def test_a_decision_that_has_not_begun_can_be_closed() -> None:
    closed: list[str] = []

    with Execution(followed("a", closed)):
        pass

    assert closed == []


def test_closing_twice_does_nothing_more() -> None:
    closed: list[str] = []
    execution = Execution(followed("a", closed))
    execution.begin()

    execution.close()
    execution.close()

    assert closed == ["closed"]


def test_an_execution_begins_once() -> None:
    with Execution(followed("a", [])) as execution:
        execution.begin()

        with pytest.raises(RuntimeError, match="has begun already"):
            execution.begin()


def test_no_reply_is_taken_before_the_first_step() -> None:
    with Execution(followed("a", [])) as execution, pytest.raises(RuntimeError, match="has not begun, or has ended"):
        execution.go_on(1)


@pytest.mark.parametrize("decision", [lambda: "the end", lambda: followed([], [])])
def test_nothing_goes_on_after_the_end(decision: Callable[[], Any]) -> None:
    execution = Execution(decision())
    execution.begin()

    with pytest.raises(RuntimeError, match="has not begun, or has ended"):
        execution.go_on(None)
    with pytest.raises(RuntimeError, match="has ended, or is closed"):
        execution.begin()


def test_nothing_goes_on_after_a_defect() -> None:
    async def broken() -> None:
        await Pause()
        raise ValueError("a defect")

    execution = Execution(broken())
    execution.begin()

    with pytest.raises(ValueError, match="a defect"):
        execution.go_on(None)
    with pytest.raises(RuntimeError, match="has ended"):
        execution.go_on(None)


def test_awaiting_what_is_no_step_is_a_defect_that_says_what_it_was() -> None:
    class Future:
        def __await__(self) -> Generator[Any, Any, None]:
            yield self

    async def waits_for_an_event_loop() -> None:
        await Future()

    with (
        Execution(waits_for_an_event_loop()) as execution,
        pytest.raises(TypeError, match="awaits Future, which is not a Step"),
    ):
        execution.begin()


def test_a_decision_that_never_ends_is_stopped() -> None:
    async def endless() -> None:
        while True:
            await Pause()

    with pytest.raises(EndlessDecisionError, match=f"about a wish has not ended after {MOST_STEPS} steps.*endless"):
        driven(endless(), lambda _step: None)


def test_a_decision_may_take_just_as_many_steps_as_it_is_given() -> None:
    async def pauses(times: int) -> str:
        for _ in range(times):
            await Pause()
        return "end"

    def ended(times: int) -> object:
        execution = Execution(pauses(times), "a wish", most_steps=3)
        state = execution.begin()
        while isinstance(state, Step):
            state = execution.go_on(None)
        return state

    assert ended(3) == "end"
    with pytest.raises(EndlessDecisionError, match=r"^the decision about a wish has not ended after 3 steps; it waits"):
        ended(4)


def test_a_decision_may_not_refuse_to_be_closed() -> None:
    async def stubborn() -> None:
        try:
            await Pause()
        finally:
            await Pause()

    execution = Execution(stubborn())
    execution.begin()

    with pytest.raises(RuntimeError, match="ignored GeneratorExit"):
        execution.close()


def test_the_position_names_the_functions_that_wait() -> None:
    async def inner() -> None:
        await Pause()

    async def outer() -> None:
        await inner()

    with Execution(outer()) as execution:
        execution.begin()
        outermost, innermost, *_ = execution.position.split(" > ")

    assert "outer:" in outermost
    assert "inner:" in innermost
    assert execution.position == ""
