"""Secrets that can never take a token, or would pass it on for ever: no token is asked for."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.questions import NotAnswered
from hedgerow.resource_manager.token_requests import token_requestor
from hedgerow.resource_manager.token_requests.kubeconfig import TokenData, decoded_kubeconfig
from hedgerow_adapters.simulation.planning import TimedSimulation
from hedgerow_adapters.simulation.virtual_time import CalendarLoop
from tests.in_memory import InMemory
from tests.unit.core.resource_manager.token_requests.harness import (
    KEY,
    PURPOSE,
    TARGET,
    TO_TARGET,
    Course,
    Harness,
    at,
    kubeconfig,
    token_secret,
)

TARGET_NAME = "metadata.annotations[token-requestor.resources.gardener.cloud/target-secret-name]"
BACK = {"target-secret-name": KEY.name, "target-secret-namespace": KEY.namespace}
IN_ORDER = {"automountServiceAccountToken": False}
A_BYTE_TOO_MUCH = "current-context: x # ".ljust(128 * 1024 + 1, "x")


def one_cluster() -> Harness:
    """A harness whose target cluster is the source cluster."""
    harness = Harness()
    harness.target = harness.source
    return harness


def refused(course: Course) -> str:
    """What the one problem is of a turn that wrote nothing."""
    (problem,) = course.problems
    assert course.actions == []
    return problem


def test_a_secret_that_is_its_own_target_is_told_and_costs_no_token() -> None:
    course = one_cluster().given(token_secret({"token": "old"}, BACK)).turn()

    assert refused(course) == f"Secret bar/source: {TARGET_NAME}: names the Secret itself"
    assert not course.end.failures[0].retryable


def test_a_secret_of_the_same_name_in_another_cluster_is_a_target() -> None:
    harness = Harness().given_target({}, key=TARGET).given_target({}, key=KEY).given(token_secret(said=BACK))

    assert harness.turn().tokens == 1


def test_secrets_that_are_each_others_targets_are_told_and_cost_no_tokens() -> None:
    harness = one_cluster().given(token_secret(said=TO_TARGET)).given(token_secret(said=BACK, key=TARGET))

    for key in (KEY, TARGET):
        course = harness.turn(key=key)
        problem = f"{TARGET_NAME}: names a Secret that wants a token itself and hands it on to another"
        assert refused(course) == f"Secret {key}: {problem}"
        assert course.end.failures[0].retryable, "nobody tells of a change of the target"


def test_secrets_that_would_write_to_each_other_are_left_in_peace() -> None:
    harness = one_cluster().given(token_secret(said=TO_TARGET)).given(token_secret(said=BACK, key=TARGET))
    clusters = dict.fromkeys(Cluster, harness.source)

    length, loop = timedelta(seconds=2), CalendarLoop(harness.clock())

    happenings = [*TimedSimulation(loop, clusters, [token_requestor()], length)]

    assert [step for happening in happenings for step in happening.steps] == []
    assert len(happenings) < 2 * 12, "each wait is twice as long as the last"


@pytest.mark.parametrize("other", [{"labels": PURPOSE}, {"said": BACK, "labels": {}}], ids=["keeps", "wants none"])
def test_a_target_that_hands_no_token_of_its_own_on_may_take_another(other: Mapping[str, Any]) -> None:
    harness = one_cluster().given(token_secret(said=TO_TARGET)).given(token_secret(key=TARGET, **other))

    assert harness.turn().tokens == 1


@pytest.mark.parametrize("data", [{}, {"token": "old"}])
def test_an_immutable_target_is_told_and_costs_no_token(data: Mapping[str, Any]) -> None:
    harness = Harness().given(token_secret(said=TO_TARGET)).given_target(data, immutable=True)

    course = harness.turn()

    assert refused(course) == "Secret bar/foo: immutable: is set, so that no token can be written"
    assert course.end.failures[0].retryable


@pytest.mark.parametrize(("data", "said"), [({}, {}), ({"token": "old"}, TO_TARGET)])
def test_an_immutable_secret_is_told_and_costs_no_token(data: Mapping[str, Any], said: Mapping[str, str]) -> None:
    course = Harness().given({**token_secret(data, said), "immutable": True}).turn()

    assert refused(course) == "Secret bar/source: immutable: is set, so that no token can be written"
    assert not course.end.failures[0].retryable


def test_an_immutable_secret_that_holds_nothing_may_have_its_token_elsewhere() -> None:
    harness = Harness().given({**token_secret(said=TO_TARGET), "immutable": True})

    assert harness.turn().problems == []
    assert set(harness.target_values or {}) == {"token"}


def test_a_target_in_a_namespace_that_does_not_exist_is_looked_for_again_and_costs_no_token() -> None:
    nowhere = {**TO_TARGET, "target-secret-namespace": "nowhere"}

    course = Harness().given(token_secret(said=nowhere)).turn()

    assert refused(course) == 'Secret nowhere/foo: cannot be created: namespaces "nowhere" not found'
    assert course.end.failures[0].retryable


@pytest.mark.parametrize("said", [{}, {"token-renew-timestamp": at(timedelta(hours=1))}])
def test_a_kubeconfig_that_is_too_large_to_be_read_is_told_and_costs_no_token(said: Mapping[str, str]) -> None:
    course = Harness().given(token_secret({"kubeconfig": A_BYTE_TOO_MUCH}, said), account=IN_ORDER).turn()

    assert refused(course).startswith("Secret bar/source: data[kubeconfig]: ")
    assert refused(course).endswith("is larger than 128 KiB")
    assert not course.end.failures[0].retryable


def test_a_kubeconfig_that_would_be_too_large_to_be_read_again_is_told_and_costs_no_token() -> None:
    compact = json.dumps({**kubeconfig(), "extra": ["x" * 30] * 3_500})
    assert len(compact) < 128 * 1024

    course = Harness().given(token_secret({"kubeconfig": compact}), account=IN_ORDER).turn()

    assert refused(course) == "Secret bar/source: data[kubeconfig]: would be larger than 128 KiB with a new token"


def test_a_kubeconfig_is_read_once_in_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    read = Mock(wraps=decoded_kubeconfig)
    monkeypatch.setattr(f"{decoded_kubeconfig.__module__}.decoded_kubeconfig", read)
    due = {"token-renew-timestamp": at(-timedelta(hours=1))}

    assert Harness().given(token_secret({"kubeconfig": kubeconfig()}, due)).turn().tokens == 1

    assert read.call_count == 1


@pytest.mark.parametrize(
    ("field", "name", "problem"),
    [
        ("target-secret-name", "No_Name", "must consist of a-z, 0-9"),
        ("target-secret-namespace", "no.label", "must not contain dots"),
    ],
)
def test_a_target_that_no_secret_can_be_is_told_and_costs_no_token(field: str, name: str, problem: str) -> None:
    course = Harness().given(token_secret(said={**TO_TARGET, field: name})).turn()

    path = f"metadata.annotations[token-requestor.resources.gardener.cloud/{field}]"
    assert refused(course).startswith(f"Secret bar/source: {path}: {problem}")
    assert not course.end.failures[0].retryable


def test_a_target_that_cannot_be_read_is_tried_again_and_costs_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InMemory, "answer", Mock(return_value=NotAnswered(403, "Forbidden", "that is forbidden")))

    course = Harness().given(token_secret(said=TO_TARGET)).turn()

    assert refused(course) == "Secret bar/foo: could not read target secret: that is forbidden"
    assert course.end.failures[0].retryable


def test_a_kubeconfig_that_is_not_encoded_in_base64_is_told() -> None:
    assert TokenData.of({"kubeconfig": "***"}).problem == "is not encoded in base64"
