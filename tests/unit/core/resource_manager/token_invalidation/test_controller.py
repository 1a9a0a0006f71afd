"""The examples of webhooks-and-tokens §11.3 that concern the controller, and what else can befall it."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.api.kubernetes import PODS, SECRETS, SERVICE_ACCOUNTS
from hedgerow.api.managed_resources import ClassFilter
from hedgerow.machinery.controller import Change, Context, concerned_keys
from hedgerow.machinery.objects import ObjectKey, Resource
from hedgerow.machinery.plan import ApiError, MergePatch, Plan
from hedgerow.machinery.questions import ListQuestion
from hedgerow.machinery.steps import Step
from hedgerow.resource_manager.managed_resources.secret_finalizers import secret_controller
from hedgerow.resource_manager.token_invalidation import token_invalidator
from tests.executions import executed, performed
from tests.unit.core.resource_manager.token_invalidation.accounts import (
    CONSIDER,
    CONSIDERED,
    KEY,
    MARKED,
    PURPOSE,
    SKIP,
    labels,
    mounting_pod,
    service_account,
    shop,
    token_secret,
)
from tests.unit.core.resource_manager.turns import NOW, Clusters, Course, take_turn

CONTROLLER = token_invalidator()
FOREIGN = {PURPOSE: "other"}
LABELLED_FALSE = {**MARKED, CONSIDER: "false"}


def turn(clusters: Clusters) -> Course:
    return take_turn(clusters, CONTROLLER, KEY)


@pytest.mark.parametrize(
    ("before", "account", "after"),
    [
        pytest.param({}, service_account(), MARKED, id="I02 absent"),
        pytest.param({}, service_account(automount=True), MARKED, id="I02 true"),
        pytest.param({}, service_account(automount=False), CONSIDERED, id="I03"),
        pytest.param({"a": "b"}, service_account(automount=False), {"a": "b", **CONSIDERED}, id="I03 others stay"),
        pytest.param(CONSIDERED, service_account(automount=False, labels={SKIP: "no"}), MARKED, id="I05 skip"),
        pytest.param(CONSIDERED, service_account(automount=True), MARKED, id="I05 true"),
        pytest.param({CONSIDER: "x"}, service_account(), MARKED, id="I05 whatever its value"),
        pytest.param({}, service_account(automount=False, labels={SKIP: ""}), MARKED, id="I06"),
        pytest.param(FOREIGN, service_account(automount=False), {**FOREIGN, CONSIDER: "true"}, id="I09"),
        pytest.param(CONSIDERED, service_account(automount=False), CONSIDERED, id="I10"),
        pytest.param(LABELLED_FALSE, service_account(automount=False), LABELLED_FALSE, id="I10 whatever its value"),
        pytest.param({CONSIDER: "true"}, service_account(automount=False), CONSIDERED, id="purpose alone"),
    ],
)
def test_a_secret_has_the_labels_that_its_service_account_asks_for(
    before: dict[str, str], account: dict[str, Any], after: dict[str, str]
) -> None:
    clusters = shop(token_secret(before), account)

    course = turn(clusters)

    assert labels(clusters) == after
    assert len(course.actions) == (before != after), "one write at most, and none where nothing changes"
    assert not turn(clusters).actions
    assert course.end.requeue_after is None


def test_a_patch_is_for_the_version_that_was_seen() -> None:
    (action,) = turn(shop(token_secret(), service_account(automount=False))).actions

    assert isinstance(action, MergePatch)
    assert action.resource_version == "7"
    assert action.patch == {"metadata": {"labels": CONSIDERED}}


@pytest.mark.parametrize(
    ("secret", "account"),
    [
        pytest.param(token_secret(account=""), service_account(automount=False), id="I01"),
        pytest.param(None, service_account(automount=False), id="I11"),
        pytest.param(token_secret(), None, id="I-16"),
        pytest.param(token_secret(account="No such/name"), None, id="a name that none can have"),
    ],
)
def test_what_holds_no_token_or_that_of_nobody_is_left_alone(secret: Any, account: Any) -> None:
    course = turn(shop(secret, account))

    assert course.actions == []
    assert course.end == Plan()


@pytest.mark.parametrize("projected", [pytest.param(False, id="I07"), pytest.param(True, id="I08 projected")])
@pytest.mark.parametrize("phase", ["Running", "Succeeded", "Failed"])
def test_the_token_that_a_pod_mounts_stays_until_the_pod_is_gone(phase: str, *, projected: bool) -> None:
    clusters = shop(token_secret(), service_account(automount=False), mounting_pod(phase=phase, projected=projected))

    course = turn(clusters)
    assert labels(clusters) == MARKED
    assert not course.end.failures, "which would be told as an error"
    assert course.end.requeue_after == 1.0

    clusters.target[PODS].clear()
    turn(clusters)
    assert labels(clusters) == CONSIDERED


def answering(clusters: Clusters, now: datetime) -> Callable[[Step[Any]], Any]:
    return lambda step: performed(step, clusters, lambda: now)


def test_as_long_as_a_pod_mounts_a_token_it_is_looked_for_more_and_more_rarely() -> None:
    clusters = shop(token_secret(MARKED), service_account(automount=False), mounting_pod())
    snapshot = clusters.snapshot(CONTROLLER)

    now, memory, waits = NOW, None, []
    for _ in range(14):
        decision = CONTROLLER.reconcile(KEY, snapshot, Context(now, None, state=memory))
        plan, _ = executed(decision, answering(clusters, now))
        assert plan.requeue_after is not None
        waits.append(plan.requeue_after)
        now, memory = now + timedelta(seconds=plan.requeue_after), plan.state

    assert waits == [1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000, 1000]


@pytest.mark.parametrize("projected", [False, True])
def test_a_pod_of_another_namespace_mounts_another_secret_of_that_name(*, projected: bool) -> None:
    clusters = shop(token_secret(), service_account(automount=False), mounting_pod("web", projected=projected))

    turn(clusters)

    assert labels(clusters) == CONSIDERED


def test_pods_are_asked_for_only_where_it_depends_on_them_and_in_one_namespace() -> None:
    def asked(before: dict[str, str], *, automount: bool) -> list[object]:
        return list(turn(shop(token_secret(before), service_account(automount=automount))).questions)

    (question,) = asked(MARKED, automount=False)
    assert isinstance(question, ListQuestion)
    assert (question.resource, question.namespace, question.metadata_only) == (PODS, "shop", False)
    assert (
        asked(MARKED, automount=True) == asked(CONSIDERED, automount=False) == asked(CONSIDERED, automount=True) == []
    )


def test_a_service_account_that_no_cache_shows_yet_is_asked_for() -> None:
    clusters = shop(token_secret(), service_account(automount=False))
    clusters.unseen = {ObjectKey("shop", "robot")}

    turn(clusters)

    assert labels(clusters) == CONSIDERED


@pytest.mark.parametrize(
    ("resource", "problem"),
    [
        pytest.param(SERVICE_ACCOUNTS, "could not fetch ServiceAccount: the server is on fire", id="account"),
        pytest.param(PODS, "could not list Pods: the server is on fire", id="pods"),
    ],
)
def test_what_cannot_be_found_out_is_tried_again(resource: Resource, problem: str) -> None:
    clusters = shop(token_secret(), service_account(automount=False))
    clusters.unseen = {ObjectKey("shop", "robot")}
    clusters.broken = lambda question: question.resource == resource

    course = turn(clusters)

    assert course.problems == [problem]
    assert course.end.failures[0].retryable
    assert course.actions == []


def test_a_patch_that_comes_too_late_is_made_again() -> None:
    clusters = shop(token_secret(), service_account(automount=False))
    clusters.refused = {KEY: ApiError(409, "Conflict", "the object has been modified")}

    assert turn(clusters).end.actions, "so that the refusal counts"
    clusters.refused = {}
    turn(clusters)

    assert labels(clusters) == CONSIDERED


def keys_of(resource: Resource, old: Any, new: Any) -> frozenset[ObjectKey]:
    """The Secrets that a change concerns."""
    (watch,) = [watch for watch in CONTROLLER.watches if watch.resource == resource]
    change = Change(old and watch.transform(old), new and watch.transform(new))
    return concerned_keys(watch, change, shop(None, None).snapshot(CONTROLLER))


MOUNTING = service_account("s1", "s2", automount=True)
SILENT = service_account("s1", "s2", automount=False)
SKIPPED = service_account("s1", automount=False, labels={SKIP: "a"})


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        pytest.param(MOUNTING, service_account("s1", "s2", automount=False), {"s1", "s2"}, id="I16"),
        pytest.param(SILENT, service_account("s3"), {"s1", "s2", "s3"}, id="I16 listed before or after"),
        pytest.param(SILENT, {**SILENT, "metadata": SKIPPED["metadata"]}, {"s1", "s2"}, id="I16 skip"),
        pytest.param(SKIPPED, service_account("s1", automount=False, labels={SKIP: "b"}), {"s1"}, id="I16 value"),
        pytest.param(None, SILENT, set(), id="I17 created"),
        pytest.param(SILENT, None, set(), id="I17 deleted"),
        pytest.param(SILENT, service_account("s3", automount=False, labels={"a": "b"}), set(), id="I17 other fields"),
        pytest.param(service_account(automount=True), service_account(automount=False), set(), id="no Secrets"),
    ],
)
def test_a_service_account_that_changes_its_mind_concerns_its_secrets(old: Any, new: Any, names: set[str]) -> None:
    assert keys_of(SERVICE_ACCOUNTS, old, new) == {ObjectKey("shop", name) for name in names}


@pytest.mark.parametrize(
    ("old", "new", "concerned"),
    [
        pytest.param(None, token_secret(), True, id="created"),
        pytest.param(token_secret(), token_secret(MARKED), True, id="updated"),
        pytest.param(token_secret(), token_secret(account=""), False, id="no longer a token"),
        pytest.param(None, token_secret(account=""), False, id="I01"),
        pytest.param(token_secret(), None, False, id="deleted"),
    ],
)
def test_a_secret_that_holds_a_token_concerns_itself(old: Any, new: Any, *, concerned: bool) -> None:
    assert keys_of(SECRETS, old, new) == ({KEY} if concerned else set())


def test_secrets_are_read_as_others_of_the_process_read_them_and_without_their_data() -> None:
    (watch,) = [watch for watch in CONTROLLER.watches if watch.resource == SECRETS]
    (other,) = [watch for watch in secret_controller(ClassFilter("c")).watches if watch.resource == SECRETS]

    assert watch.transform is other.transform
    assert watch.metadata_only is other.metadata_only is True
    assert "data" not in watch.transform(token_secret())


@pytest.mark.parametrize(
    ("account", "pods", "problem"),
    [
        pytest.param(
            {**service_account(), "automountServiceAccountToken": "no"},
            [],
            "ServiceAccount shop/robot: automountServiceAccountToken: expected a boolean, got a string",
            id="account",
        ),
        pytest.param(
            service_account(automount=False),
            [{"metadata": {"namespace": "shop", "name": "p"}, "spec": {"volumes": {}}}],
            "Pod shop/p: spec.volumes: expected a list, got an object",
            id="pod",
        ),
    ],
)
def test_an_object_of_another_shape_is_told(account: Any, pods: list[Any], problem: str) -> None:
    [failure] = turn(shop(token_secret(), account, *pods)).end.failures

    assert str(failure) == problem
    assert failure.retryable == bool(pods), "pods are not watched"


LABELS = st.dictionaries(
    st.sampled_from((PURPOSE, CONSIDER, "other")), st.sampled_from(("", "token-invalidator", "true"))
)
ACCOUNTS = st.builds(
    service_account,
    automount=st.sampled_from((None, True, False)),
    labels=st.dictionaries(st.sampled_from((SKIP, "other")), st.just("true")),
)


@given(before=LABELS, account=ACCOUNTS, is_mounted=st.booleans())
def test_only_the_two_labels_of_the_secret_ever_change_and_only_once(
    before: dict[str, str], account: dict[str, Any], *, is_mounted: bool
) -> None:
    clusters = shop(token_secret(before), account, *([mounting_pod()] if is_mounted else []))
    others = {resource: dict(clusters.target[resource]) for resource in (SERVICE_ACCOUNTS, PODS)}

    turn(clusters)

    after = labels(clusters)
    wanted = account.get("automountServiceAccountToken") is False and SKIP not in account["metadata"]["labels"]
    assert after[PURPOSE] == before.get(PURPOSE, "token-invalidator")
    assert (CONSIDER in after) is (wanted and (CONSIDER in before or not is_mounted))
    assert after.get("other") == before.get("other")
    assert clusters.target[SECRETS][KEY]["data"] == token_secret()["data"]
    assert {resource: dict(clusters.target[resource]) for resource in others} == others
    assert not turn(clusters).actions


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(None, id="gone"),
        pytest.param(token_secret(uid="another", resourceVersion="8"), id="created anew"),
        pytest.param(token_secret(account="another", resourceVersion="8"), id="of another account"),
    ],
)
@pytest.mark.parametrize("step", [0, 1])
def test_a_secret_that_changes_meanwhile_is_left_to_the_turn_of_that_change(
    step: int, other: dict[str, Any] | None
) -> None:
    clusters = shop(token_secret(), service_account(automount=False))

    def meanwhile(performed: int) -> None:
        if performed == step:
            clusters.target[SECRETS] = {} if other is None else {KEY: other}

    assert take_turn(clusters, CONTROLLER, KEY, meanwhile=meanwhile).actions == []


def test_an_account_that_wants_its_token_mounted_by_now_keeps_it() -> None:
    clusters = shop(token_secret(), service_account(automount=False))

    def meanwhile(_performed: int) -> None:
        clusters.put(SERVICE_ACCOUNTS, service_account(automount=True))

    take_turn(clusters, CONTROLLER, KEY, meanwhile=meanwhile)

    assert labels(clusters) == MARKED


def test_an_account_that_gets_another_shape_meanwhile_is_told() -> None:
    clusters = shop(token_secret(), service_account(automount=False))

    def meanwhile(_performed: int) -> None:
        clusters.put(SERVICE_ACCOUNTS, {**service_account(), "automountServiceAccountToken": "no"})

    course = take_turn(clusters, CONTROLLER, KEY, meanwhile=meanwhile)

    assert course.problems == ["expected a boolean, got a string"]
    assert course.actions == []
