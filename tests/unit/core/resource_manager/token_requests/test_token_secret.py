"""Which changes of a Secret are a reason to look at it."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.machinery.controller import Change, concerned_keys
from hedgerow.resource_manager.token_requests import renewal, token_requestor
from hedgerow_adapters.cache import StoreSnapshot
from tests.unit.core.resource_manager.token_requests.harness import (
    KEY,
    NOW,
    PURPOSE,
    TO_TARGET,
    kubeconfig,
    token_secret,
)

RENEWAL = "token-renew-timestamp"
EARLY = {RENEWAL: "2021-10-04T19:36:00Z"}
LATE = {RENEWAL: "2021-10-05T05:12:00Z"}
OLD, NEW = {"token": "old"}, {"token": "new"}


def of_uid(uid: str, secret: dict[str, Any]) -> dict[str, Any]:
    return {**secret, "metadata": {**secret["metadata"], "uid": uid}}


def keys_after(old: dict[str, Any], new: dict[str, Any]) -> list[Any]:
    secrets, _ = token_requestor().watches
    return [*concerned_keys(secrets, Change(secrets.transform(old), secrets.transform(new)), StoreSnapshot({}))]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(token_secret(), token_secret(NEW, LATE), id="the-first-token"),
        pytest.param(token_secret(OLD, EARLY), token_secret(NEW, LATE), id="another-token"),
        pytest.param(token_secret({}, EARLY), token_secret(NEW, LATE), id="a-token-that-was-missing"),
    ],
)
def test_a_renewal_is_no_reason_to_look(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert keys_after(old, new) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(token_secret(OLD, LATE), token_secret(NEW, EARLY), id="due-earlier"),
        pytest.param(token_secret(OLD, EARLY), token_secret(OLD), id="due-at-once"),
        pytest.param(token_secret(OLD), token_secret(OLD), id="still-due"),
        pytest.param(token_secret(OLD, EARLY), token_secret({}, LATE), id="without-its-token"),
        pytest.param(token_secret(OLD, EARLY), token_secret(NEW, {RENEWAL: "soon"}), id="due-nobody-knows-when"),
        pytest.param(token_secret(OLD, {RENEWAL: "soon"}), token_secret(NEW, LATE), id="due-nobody-knew-when"),
        pytest.param(
            token_secret(OLD, EARLY), token_secret(NEW, {**LATE, "token-expiration-duration": "1h"}), id="for-less-long"
        ),
        pytest.param(token_secret(OLD, EARLY), token_secret(NEW, {**LATE, "name": "other"}), id="of-somebody-else"),
        pytest.param(
            token_secret(OLD, {**EARLY, **TO_TARGET}), token_secret(NEW, {**LATE, **TO_TARGET}), id="in-another-secret"
        ),
        pytest.param(
            token_secret(OLD, EARLY), token_secret({**NEW, "kubeconfig": kubeconfig("new")}, LATE), id="in-a-kubeconfig"
        ),
        pytest.param(
            token_secret({**OLD, "kubeconfig": kubeconfig()}, EARLY), token_secret(NEW, LATE), id="out-of-a-kubeconfig"
        ),
        pytest.param(
            token_secret(OLD, EARLY),
            token_secret(NEW, LATE, labels={**PURPOSE, "resources.gardener.cloud/class": "garden"}),
            id="from-another-class",
        ),
        pytest.param(
            of_uid("1", token_secret(OLD, EARLY)), of_uid("2", token_secret(NEW, LATE)), id="another-secret-of-the-name"
        ),
    ],
)
def test_everything_else_that_changes_is(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert keys_after(old, new) == [KEY]


HOUR = timedelta(hours=1)
DAY = 24 * HOUR


@pytest.mark.parametrize(
    ("life", "jitter", "after"),
    [
        (12 * HOUR, 0.0, timedelta(hours=9, minutes=36)),
        (timedelta(minutes=10), 0.0, timedelta(minutes=8)),
        (DAY, 0.0, timedelta(hours=19, minutes=12)),
        (100 * HOUR, 0.0, timedelta(hours=19, minutes=12)),
        (12 * HOUR, 0.5, timedelta(hours=9, minutes=50, seconds=24)),
    ],
)
def test_a_token_is_renewed_after_four_fifths_of_a_life_of_a_day_at_most(
    life: timedelta, jitter: float, after: timedelta
) -> None:
    assert renewal(NOW + life, NOW, jitter) == (after, NOW + after)


@given(
    life=st.timedeltas(min_value=timedelta(minutes=10), max_value=timedelta(days=365)),
    jitter=st.floats(min_value=0, max_value=1, exclude_max=True),
)
def test_renewals_are_spread_over_a_twenty_fifth_of_the_life(life: timedelta, jitter: float) -> None:
    counted, microsecond = min(life, DAY), timedelta(microseconds=1)

    after = renewal(NOW + life, NOW, jitter).renew_after

    assert counted * 0.8 - microsecond <= after <= counted * 0.84
    assert after < counted * 0.84 or jitter > 0.999


def test_a_token_that_is_not_valid_any_more_would_be_renewed_at_once() -> None:
    assert renewal(NOW - HOUR, NOW, 0.5).renew_at <= NOW
