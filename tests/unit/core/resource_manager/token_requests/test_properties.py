"""What holds of the token requestor whatever Secrets say, and wherever it is interrupted."""

from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hedgerow.machinery.plan import Action
from tests.unit.core.resource_manager.token_requests.harness import (
    TO_TARGET,
    CrashedError,
    Harness,
    at,
    encoded,
    is_token_request,
    kubeconfig,
    token_secret,
)

CANARY = "canary-7f3a"
TOKENS = st.sampled_from(["", CANARY])
DATA = st.one_of(
    st.just({}),
    st.builds(lambda token: {"token": token}, TOKENS),
    st.builds(lambda token, current: {"kubeconfig": kubeconfig(token, current=current)}, TOKENS, st.just("x")),
)
BROKEN = st.one_of(
    st.sampled_from(["gone", ""]).map(lambda current: {"kubeconfig": kubeconfig(CANARY, current=current)}),
    st.sampled_from(
        [f"{CANARY}: [", f"---{CANARY}", f"users: {CANARY}", f"users: [{{token: {CANARY}, name: [a]}}]"]
    ).map(lambda text: {"kubeconfig": text}),
)
PLACES = st.sampled_from([{}, TO_TARGET])
MOMENTS = st.sampled_from([timedelta(hours=1), timedelta(seconds=1), timedelta(0), timedelta(hours=-1)])
RENEWALS = st.sampled_from(["", "bad"]) | MOMENTS.map(at)
LIVES = st.sampled_from(["10m", "12h", "100h"])
BAD_LIVES = st.sampled_from(["5m", "bad", "-1h", "0"])
ACCOUNTS = st.sampled_from([None, {}, {"automountServiceAccountToken": True}, {"automountServiceAccountToken": False}])


@st.composite
def harnesses(draw: Any, data: st.SearchStrategy[Any] = DATA, lives: st.SearchStrategy[str] = LIVES) -> Harness:
    said = {"token-renew-timestamp": draw(RENEWALS), "token-expiration-duration": draw(lives), **draw(PLACES)}
    harness = Harness().given(token_secret(draw(data), said), account=draw(ACCOUNTS))
    if in_target := draw(st.none() | data):
        harness.given_target(in_target)
    return harness


def is_valid(harness: Harness) -> bool:
    """Whether there is a token where it is wanted that need not be renewed yet."""
    to_target = any(name.endswith("target-secret-name") for name in harness.secret["metadata"]["annotations"])
    values = (harness.target_values or {}) if to_target else harness.values
    has_token = CANARY in values["kubeconfig"] if "kubeconfig" in values else "token" in values
    return has_token and (harness.renew_at or "") > at(timedelta(0)) and harness.renew_at != "bad"


@given(harness=harnesses())
def test_no_token_is_asked_for_while_there_is_a_valid_one(harness: Harness) -> None:
    valid, course = is_valid(harness), harness.turn()

    assert not (valid and course.actions)
    assert not valid or course.end.requeue_after
    assert course.tokens <= 1


@given(harness=harnesses(), jitter=st.floats(0, 1, exclude_max=True))
def test_after_a_turn_that_was_completed_nothing_is_left_to_do(harness: Harness, jitter: float) -> None:
    done = harness.turn(jitter=jitter)

    again = harness.turn()

    assert again.actions == []
    if not done.problems:
        assert again.end.requeue_after is not None
        assert abs(again.end.requeue_after - (done.end.requeue_after or 0)) <= 1  # of which less than one is cut off


@given(harness=harnesses(), crash_after=st.integers(0, 4))
def test_whatever_a_crash_leaves_behind_the_next_turn_completes(harness: Harness, crash_after: int) -> None:
    try:
        harness.turn(crash_after=crash_after)
    except CrashedError:
        course = harness.turn()
        assert course.refusals == []
        assert course.problems == [] or course.actions == []
    assert harness.turn().actions == []


@given(harness=harnesses(), times=st.integers(1, 3))
def test_what_others_write_meanwhile_is_never_overwritten(harness: Harness, times: int) -> None:
    written: list[str] = []

    def meddle(action: Action) -> None:
        if len(written) < times and not is_token_request(action):
            written.append(f"authority {len(written)}")
            harness.change({"data": {"ca": encoded(written[-1])}})

    for _ in range(times):
        harness.turn(meanwhile=meddle)
    harness.turn()

    assert harness.turn().actions == []
    assert harness.values.get("ca") == (written[-1] if written else None)


@given(harness=harnesses(data=BROKEN | DATA, lives=BAD_LIVES | LIVES))
def test_failures_repeat_no_value_of_a_secret(harness: Harness) -> None:
    course = harness.turn()

    assert CANARY not in " ".join(course.problems)
    assert not course.problems or not course.tokens
    assert not any(CANARY in action.reason for action in course.actions)
