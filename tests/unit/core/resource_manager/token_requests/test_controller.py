"""The worked examples of the token requestor, in a source and a target cluster."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
import yaml

from hedgerow.api.kubernetes import SECRETS, SERVICE_ACCOUNTS
from hedgerow.machinery.controller import Change, concerned_keys
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Action, Create, MergePatch
from hedgerow.machinery.questions import NotAnswered
from hedgerow.resource_manager.token_requests import TokenRequestorConfig, token_requestor
from hedgerow.resource_manager.token_requests.service_account import granted
from hedgerow_adapters.cache import StoreSnapshot
from hedgerow_adapters.protocol import requests
from tests.in_memory import InMemory
from tests.unit.core.resource_manager.token_requests.harness import (
    ACCOUNT,
    KEY,
    PURPOSE,
    TARGET,
    TO_TARGET,
    Harness,
    at,
    is_token_request,
    kubeconfig,
    lifetime,
    token_secret,
)

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
ACCOUNT_IN_ORDER = {"automountServiceAccountToken": False}
NOTHING = StoreSnapshot({})
CLASS = "resources.gardener.cloud/class"
EXPIRATION = "token-expiration-duration"
RENEWAL = "token-renew-timestamp"
NO_CONTEXT = 'contexts: there is none named "gone", which is the current context'
NO_USER = 'users: there is none named "gone", which is the user of the current context'


def kinds(actions: list[Action]) -> list[str]:
    return [
        f"{type(action).__name__} {action.resource.kind} {getattr(action, 'subresource', '')}".strip()
        for action in actions
    ]


def test_q01_a_secret_gets_a_token_of_a_service_account_that_is_made_for_it() -> None:
    harness = Harness().given(token_secret())

    course = harness.turn()

    assert lifetime(harness.values["token"]) == 12 * 3600
    assert harness.renew_at == "2021-10-04T19:36:00Z"
    assert course.end.requeue_after == timedelta(hours=9, minutes=36).total_seconds()
    assert harness.account is not None
    assert harness.account["automountServiceAccountToken"] is False
    assert kinds(course.actions) == ["Create ServiceAccount", "Create ServiceAccount token", "MergePatch Secret"]


def test_q02_a_service_account_whose_token_pods_get_is_changed_and_otherwise_left() -> None:
    harness = Harness().given(
        token_secret(), account={"automountServiceAccountToken": True, "imagePullSecrets": [{"name": "mine"}]}
    )

    harness.turn()

    assert harness.account is not None
    assert harness.account["automountServiceAccountToken"] is False
    assert harness.account["imagePullSecrets"] == [{"name": "mine"}]
    assert lifetime(harness.values["token"]) == 12 * 3600


def test_a_service_account_that_is_in_order_costs_no_request() -> None:
    harness = Harness().given(token_secret(), account=ACCOUNT_IN_ORDER)

    assert kinds(harness.turn().actions) == ["Create ServiceAccount token", "MergePatch Secret"]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param({"kubeconfig": kubeconfig()}, id="Q03"),
        pytest.param({"kubeconfig": kubeconfig(), "token": "old"}, id="Q04"),
        pytest.param(
            {
                "kubeconfig": '{"current-context": "x", "contexts": [{"name": "x", "context": {"user": "u"}}],'
                ' "users": [{"name": "u"}]}'
            },
            id="Q21",
        ),
    ],
)
def test_the_current_user_of_a_kubeconfig_gets_the_token(data: Mapping[str, Any]) -> None:
    harness = Harness().given(token_secret(data))

    harness.turn()

    text = harness.values["kubeconfig"]
    user, *others = yaml.safe_load(text)["users"]
    assert lifetime(user["user"]["token"]) == 12 * 3600
    assert others in ([], [{"name": "other", "user": {"token": "untouched"}}])
    assert not text.startswith("{")
    assert harness.values.get("token") == data.get("token")


def test_q05_a_secret_of_the_target_cluster_gets_the_token_where_one_is_named() -> None:
    harness = Harness().given(token_secret({"extra": "stays"}, TO_TARGET))

    course = harness.turn()

    assert harness.target_values is not None
    assert lifetime(harness.target_values["token"]) == 12 * 3600
    assert (harness.target.get(SECRETS, TARGET) or {})["type"] == "Opaque"
    assert harness.values == {"extra": "stays"}
    assert harness.renew_at == "2021-10-04T19:36:00Z"
    assert course.end.requeue_after == timedelta(hours=9, minutes=36).total_seconds()


def test_q06_a_token_moves_when_a_secret_of_the_target_cluster_is_named_later() -> None:
    harness = Harness().given(token_secret())
    harness.turn()
    before = harness.values["token"]
    harness.annotate(TO_TARGET)

    harness.turn()

    assert harness.target_values is not None
    assert harness.target_values["token"] != before
    assert harness.values == {}


def test_q07_a_kubeconfig_in_the_source_is_lost_to_a_secret_of_the_target_cluster() -> None:
    harness = Harness().given(token_secret({"kubeconfig": kubeconfig()}, TO_TARGET))

    harness.turn()

    assert set(harness.target_values or {}) == {"token"}
    assert harness.values == {}


def test_a_secret_of_the_target_cluster_keeps_what_else_it_holds() -> None:
    harness = Harness().given(token_secret(said=TO_TARGET)).given_target({"kubeconfig": kubeconfig(), "ca": "stays"})

    harness.turn()

    assert harness.target_values is not None
    assert harness.target_values["ca"] == "stays"
    user, other = yaml.safe_load(harness.target_values["kubeconfig"])["users"]
    assert lifetime(user["user"]["token"]) == 12 * 3600
    assert other["user"] == {"token": "untouched"}


@pytest.mark.parametrize("name", ["target-secret-name", "target-secret-namespace"])
def test_q08_half_a_target_is_none(name: str) -> None:
    harness = Harness().given(token_secret(said={name: "bar"}))

    harness.turn()

    assert set(harness.values) == {"token"}


@pytest.mark.parametrize(
    ("data", "renew_at"),
    [
        pytest.param({}, at(HOUR), id="Q09"),
        pytest.param({"kubeconfig": kubeconfig()}, at(HOUR), id="Q09-kubeconfig"),
        pytest.param({"token": "old"}, at(-MINUTE), id="Q12"),
        pytest.param({"kubeconfig": kubeconfig("old")}, at(-MINUTE), id="Q12-kubeconfig"),
        pytest.param({}, "invalid-format", id="Q18"),
    ],
)
def test_a_token_is_renewed_that_is_missing_or_due(data: Mapping[str, Any], renew_at: str) -> None:
    harness = Harness().given(token_secret(data, {RENEWAL: renew_at}))

    assert harness.turn().tokens == 1
    assert harness.renew_at == "2021-10-04T19:36:00Z"


@pytest.mark.parametrize(
    "data",
    [{"token": "valid"}, {"token": ""}, {"kubeconfig": kubeconfig("valid")}],
    ids=["plain", "empty", "kubeconfig"],
)
def test_q10_a_token_that_is_not_due_is_waited_for(data: Mapping[str, Any]) -> None:
    harness = Harness().given(token_secret(data, {RENEWAL: at(MINUTE)}))

    course = harness.turn()

    assert course.actions == []
    assert course.end.requeue_after == 60
    assert harness.account is None


def test_q11_a_token_in_the_target_cluster_is_waited_for_as_well() -> None:
    harness = Harness().given(token_secret(said={**TO_TARGET, RENEWAL: at(HOUR)}))

    course = harness.given_target({"token": "valid"}).turn()

    assert course.actions == []
    assert course.end.requeue_after == 3600


@pytest.mark.parametrize(
    ("duration", "renewed_after"),
    [
        pytest.param("10m", timedelta(minutes=8), id="Q13"),
        pytest.param("100h", timedelta(hours=19, minutes=12), id="Q14"),
        pytest.param("601s900ms", timedelta(seconds=480.8), id="whole-seconds"),
    ],
)
def test_the_life_of_a_token_is_as_asked_for(duration: str, renewed_after: timedelta) -> None:
    harness = Harness().given(token_secret(said={EXPIRATION: duration}))

    assert harness.turn().end.requeue_after == renewed_after.total_seconds()


@pytest.mark.parametrize("duration", ["unparseable", "", "7d"])
def test_q15_a_duration_that_is_none_is_told_and_costs_no_token(duration: str) -> None:
    harness = Harness().given(token_secret(said={EXPIRATION: duration}))

    course = harness.turn()

    (problem,) = course.problems
    assert problem.startswith("Secret bar/source: metadata.annotations[")
    assert problem.endswith('token-expiration-duration]: must be a duration such as "1h30m0s", "15s" or "100ms"')
    assert course.tokens == 0
    assert harness.values == {}
    assert not course.end.failures[0].retryable


def test_q16_what_the_server_refuses_is_told_in_its_words_and_tried_again() -> None:
    harness = Harness().given(token_secret(said={EXPIRATION: "5m"}))

    course = harness.turn()

    assert course.refusals == [422]
    assert course.end.failures[0].retryable
    assert "may not specify a duration less than 10 minutes" in course.problems[0]
    assert course.problems[0].startswith("ServiceAccount accounts/baker: gets no token: ")
    assert harness.values == {}


def test_q17_a_time_that_is_none_is_told() -> None:
    harness = Harness().given(token_secret({"token": "old"}, {RENEWAL: "invalid-format"}))

    course = harness.turn()

    (problem,) = course.problems
    assert problem.startswith("Secret bar/source: metadata.annotations[")
    assert problem.endswith("could not parse renew timestamp: must be a time such as 2026-01-31T12:00:00Z")
    assert course.actions == []


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        pytest.param("not: [a kubeconfig", "is neither YAML nor JSON", id="Q19"),
        pytest.param("y: &a [*a", "is neither YAML nor JSON", id="Q19-endless"),
        pytest.param(kubeconfig(current="gone"), NO_CONTEXT, id="Q20"),
        pytest.param(kubeconfig(current=""), "current-context: is not set", id="Q20-empty"),
        pytest.param("", "current-context: is not set", id="Q20-nothing"),
        pytest.param(kubeconfig(user="gone"), NO_USER, id="Q20-user"),
    ],
)
def test_a_kubeconfig_that_cannot_be_used_is_told_and_costs_no_token(given: Any, problem: str) -> None:
    harness = Harness().given(token_secret({"kubeconfig": given}))
    before = harness.secret

    course = harness.turn()

    assert course.problems == [f"Secret bar/source: data[kubeconfig]: {problem}"]
    assert course.tokens == 0
    assert harness.secret == before


@pytest.mark.parametrize("due_in", [None, -timedelta(minutes=1), timedelta(hours=1)])
@pytest.mark.parametrize(
    ("given", "problem"),
    [
        pytest.param(kubeconfig("old", current=""), "current-context: is not set", id="no current context"),
        pytest.param(kubeconfig("old", current="gone"), NO_CONTEXT, id="an unknown context"),
        pytest.param(kubeconfig("old", user="gone"), NO_USER, id="an unknown user"),
    ],
)
def test_a_kubeconfig_without_a_current_user_has_no_token_so_that_its_service_account_is_made(
    given: Any, problem: str, due_in: timedelta | None
) -> None:
    said = {} if due_in is None else {RENEWAL: at(due_in)}
    harness = Harness().given(token_secret({"kubeconfig": given}, said))

    course = harness.turn()

    assert harness.account is not None
    assert harness.account["automountServiceAccountToken"] is False
    assert course.problems == [f"Secret bar/source: data[kubeconfig]: {problem}"]
    assert course.tokens == 0


def test_a_kubeconfig_in_the_target_cluster_that_cannot_be_used_is_looked_at_again() -> None:
    harness = Harness().given(token_secret(said=TO_TARGET)).given_target({"kubeconfig": "{}"})

    course = harness.turn()

    assert course.problems == ["Secret bar/foo: data[kubeconfig]: current-context: is not set"]
    assert course.end.failures[0].retryable
    assert course.tokens == 0


@pytest.mark.parametrize("labels", [{}, {"resources.gardener.cloud/purpose": "other"}])
def test_q22_a_secret_of_another_purpose_is_left_alone(labels: Mapping[str, str]) -> None:
    harness = Harness().given(token_secret(labels=labels))

    assert harness.turn().end.is_empty


@pytest.mark.parametrize(
    ("configured", "label", "handled"),
    [
        pytest.param("shoot", "garden", False, id="Q23"),
        pytest.param("shoot", None, False, id="Q23-none"),
        pytest.param("shoot", "shoot", True, id="Q23-same"),
        pytest.param(None, "garden", True, id="Q24"),
    ],
)
def test_the_class_says_which_secrets_are_handled(configured: str | None, label: str | None, *, handled: bool) -> None:
    labels = PURPOSE if label is None else {**PURPOSE, CLASS: label}
    harness = Harness(TokenRequestorConfig(class_name=configured)).given(token_secret(labels=labels))

    assert bool(harness.turn().tokens) is handled


def test_q25_all_service_accounts_are_in_the_namespace_that_is_configured() -> None:
    harness = Harness(TokenRequestorConfig(target_namespace="bar")).given(token_secret())

    harness.turn()

    assert harness.account is None
    assert harness.target.get(SERVICE_ACCOUNTS, ObjectKey("bar", ACCOUNT.name)) is not None


@pytest.mark.parametrize(("namespaces", "handled"), [((), True), (("bar",), True), (("foo", "baz"), False)])
def test_only_secrets_of_the_configured_source_namespaces_get_tokens(
    namespaces: tuple[str, ...], *, handled: bool
) -> None:
    config = TokenRequestorConfig(source_namespaces=namespaces)
    harness = Harness(config=config).given(token_secret())
    secrets, _ = token_requestor(config).watches

    course = harness.turn()

    assert course.tokens == handled
    assert (harness.account is not None) is handled
    change = Change(None, secrets.transform(token_secret()))
    assert set(concerned_keys(secrets, change, StoreSnapshot({}))) == ({KEY} if handled else set())


def test_audiences_are_asked_for_as_configured() -> None:
    harness = Harness(TokenRequestorConfig(audiences=("gardener", "me"))).given(token_secret())

    (request,) = filter(is_token_request, harness.turn().actions)

    assert isinstance(request, Create)
    assert request.manifest["spec"] == {"audiences": ["gardener", "me"], "expirationSeconds": 43200}


@pytest.mark.parametrize(
    ("said", "field"),
    [
        pytest.param({"name": ""}, "serviceaccount.resources.gardener.cloud/name", id="Q26"),
        pytest.param({"namespace": ""}, "serviceaccount.resources.gardener.cloud/namespace", id="Q26-namespace"),
    ],
)
def test_annotations_that_name_no_service_account_are_told(said: Mapping[str, str], field: str) -> None:
    harness = Harness().given(token_secret(said=said))

    course = harness.turn()

    assert course.problems == [f"Secret bar/source: metadata.annotations[{field}]: must not be empty"]
    assert course.actions == []


def test_q26_a_namespace_that_does_not_exist_is_told_and_looked_for_again() -> None:
    harness = Harness().given(token_secret(said={"namespace": "nowhere"}))

    course = harness.turn()

    assert course.problems == ['ServiceAccount nowhere/baker: cannot be created: namespaces "nowhere" not found']
    assert course.end.failures[0].retryable


def test_q27_what_has_left_leaves_the_service_account_and_everything_else_behind() -> None:
    harness = Harness().given(token_secret())
    harness.turn()
    harness.change({"metadata": {"labels": {"resources.gardener.cloud/purpose": None}}})
    unlabelled, account = harness.secret, harness.account

    assert harness.turn().end.is_empty

    assert (harness.secret, harness.account) == (unlabelled, account)
    assert harness.source.handle(requests.delete(SECRETS, KEY)).is_success
    assert harness.turn().end.is_empty
    assert harness.account == account


def test_q28_who_else_writes_to_the_secret_loses_nothing() -> None:
    harness = Harness().given(token_secret({"kubeconfig": kubeconfig()}))
    by_somebody_else = {"data": token_secret({"kubeconfig": {**kubeconfig(), "clusters": []}})["data"]}

    def change_the_authority(action: Action) -> None:
        if isinstance(action, MergePatch):
            harness.change(by_somebody_else)

    course = harness.turn(meanwhile=change_the_authority)

    assert course.refusals == [409]
    (problem,) = course.problems
    assert problem.startswith("Secret bar/source: could not update Secret with token: Operation cannot be fulfilled")
    assert course.end.failures[0].retryable
    assert harness.secret["data"] == by_somebody_else["data"]

    harness.turn()

    read = yaml.safe_load(harness.values["kubeconfig"])
    assert read["clusters"] == []
    assert lifetime(read["users"][0]["user"]["token"]) == 12 * 3600


def test_what_changes_while_the_token_is_made_is_written_with_it() -> None:
    harness = Harness().given(token_secret({"kubeconfig": kubeconfig()}))
    newer = {"data": token_secret({"kubeconfig": {**kubeconfig(), "clusters": []}})["data"]}

    course = harness.turn(meanwhile=lambda action: harness.change(newer) if is_token_request(action) else None)

    assert course.refusals == []
    assert yaml.safe_load(harness.values["kubeconfig"])["clusters"] == []


def test_a_token_is_not_given_to_a_secret_that_wants_one_of_somebody_else_by_now() -> None:
    harness = Harness().given(token_secret(), account=ACCOUNT_IN_ORDER)
    cook = {"metadata": {"name": "cook"}, **ACCOUNT_IN_ORDER}
    assert harness.target.handle(requests.create(SERVICE_ACCOUNTS, cook, ACCOUNT.namespace)).is_success
    told: list[Action] = []

    def change_once(action: Action) -> None:
        if is_token_request(action) and not told:
            told.append(action)
            harness.annotate({"name": "cook"})

    unused = harness.turn(meanwhile=change_once)
    assert [action.key.name for action in unused.actions] == ["baker"]
    assert harness.values == {}

    course = harness.turn()

    assert [action.key.name for action in course.actions if is_token_request(action)] == ["cook"]
    assert set(harness.values) == {"token"}


def test_a_service_account_that_the_cache_does_not_show_yet_is_asked_for() -> None:
    harness = Harness(unseen={ACCOUNT}).given(token_secret(), account={"automountServiceAccountToken": True})

    course = harness.turn()

    assert course.refusals == [409]
    assert harness.account is not None
    assert harness.account["automountServiceAccountToken"] is False
    assert set(harness.values) == {"token"}


def test_a_service_account_in_order_that_the_cache_does_not_show_yet_is_left() -> None:
    harness = Harness(unseen={ACCOUNT}).given(token_secret(), account=ACCOUNT_IN_ORDER)

    course = harness.turn()

    assert kinds(course.actions) == ["Create ServiceAccount", "Create ServiceAccount token", "MergePatch Secret"]
    assert course.refusals == [409]
    assert course.problems == []


def test_a_service_account_that_has_gone_before_the_cache_shows_it_is_made_again() -> None:
    still_seen = {"metadata": ACCOUNT._asdict(), **ACCOUNT_IN_ORDER}
    harness = Harness(still_seen=(still_seen,)).given(token_secret())

    course = harness.turn()

    assert course.refusals == [404]
    assert course.tokens == 1
    assert set(harness.values) == {"token"}


def test_q28_who_else_writes_to_the_secret_of_the_target_cluster_loses_nothing_either() -> None:
    harness = Harness().given(token_secret({"token": "old"}, TO_TARGET)).given_target({"kubeconfig": kubeconfig()})
    newer = {"data": token_secret({"kubeconfig": {**kubeconfig(), "clusters": []}})["data"]}

    def change_the_authority(action: Action) -> None:
        if isinstance(action, MergePatch) and action.key == TARGET:
            assert harness.target.handle(requests.merge_patch(SECRETS, TARGET, newer)).is_success

    course = harness.turn(meanwhile=change_the_authority)

    assert course.refusals == [409]
    assert course.problems[0].startswith("Secret bar/foo: could not update Secret with token: ")
    assert harness.values == {"token": "old"}, "the source is written last"

    harness.turn()

    assert yaml.safe_load((harness.target_values or {})["kubeconfig"])["clusters"] == []
    assert harness.values == {}


@pytest.mark.parametrize(
    ("behind", "expires"),
    [
        (timedelta(days=1), "2021-10-03T22:00:00Z"),
        (timedelta(hours=11, minutes=59, seconds=1), "2021-10-04T10:00:59Z"),
    ],
)
def test_a_token_that_is_worth_next_to_nothing_by_our_clock_is_told_and_not_written(
    behind: timedelta, expires: str
) -> None:
    harness = Harness().given(token_secret())
    harness.target = type(harness.target)(now=lambda: harness.clock() - behind, namespaces=["accounts"])

    course = harness.turn()

    (problem,) = course.problems
    assert problem.startswith(f"ServiceAccount accounts/baker: gets a token that expires at {expires}, ")
    assert problem.endswith("though it is 2021-10-04T10:00:00Z: the clocks differ")
    assert course.end.failures[0].retryable
    assert harness.values == {}


def test_a_token_that_is_worth_a_minute_by_our_clock_is_used() -> None:
    harness = Harness().given(token_secret())
    behind = timedelta(hours=11, minutes=59)
    harness.target = type(harness.target)(now=lambda: harness.clock() - behind, namespaces=["accounts"])

    assert harness.turn().end.requeue_after == 48


@pytest.mark.parametrize(
    ("old", "new", "concerned"),
    [
        ({}, {CLASS: "shoot"}, True),
        ({CLASS: "shoot"}, {}, True),
        ({CLASS: "garden"}, {CLASS: "garden"}, False),
    ],
)
def test_a_change_concerns_whom_it_concerned_or_concerns(
    old: Mapping[str, str], new: Mapping[str, str], *, concerned: bool
) -> None:
    controller = token_requestor(TokenRequestorConfig(class_name="shoot"))
    watch, accounts = controller.watches
    versions = (watch.transform(token_secret(labels={**PURPOSE, **labels})) for labels in (old, new))

    assert bool(concerned_keys(watch, Change(*versions), NOTHING)) is concerned
    assert list(accounts.enqueue({}, NOTHING)) == []


def test_only_secrets_that_ask_for_a_token_are_read_and_of_those_nothing_else() -> None:
    secrets, _ = token_requestor().watches
    manifest = token_secret({"token": "a", "ca.crt": "b"})
    manifest["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = "secret"

    assert secrets.reads(manifest)
    assert not secrets.reads(token_secret(labels={}))
    assert set(secrets.transform(manifest)["data"]) == {"token"}
    assert "secret" not in str(secrets.transform(manifest)["metadata"]["annotations"].values())


def test_a_kubeconfig_that_loses_its_user_while_the_token_is_made_is_told_and_not_written() -> None:
    harness = Harness().given(token_secret({"kubeconfig": kubeconfig()}))
    broken = {"data": token_secret({"kubeconfig": kubeconfig(user="gone")})["data"]}

    course = harness.turn(meanwhile=lambda action: harness.change(broken) if is_token_request(action) else None)

    assert course.problems == [f"Secret bar/source: data[kubeconfig]: {NO_USER}"]
    assert harness.secret["data"] == broken["data"]


@pytest.mark.parametrize("still_seen", [True, False], ids=["before the token", "before the ServiceAccount"])
def test_a_service_account_that_cannot_be_read_is_told_and_tried_again(
    monkeypatch: pytest.MonkeyPatch, *, still_seen: bool
) -> None:
    seen = ({"metadata": ACCOUNT._asdict(), **ACCOUNT_IN_ORDER},) if still_seen else ()
    harness = Harness(unseen=set() if still_seen else {ACCOUNT}, still_seen=seen)
    harness.given(token_secret(), account=None if still_seen else ACCOUNT_IN_ORDER)
    monkeypatch.setattr(InMemory, "answer", Mock(return_value=NotAnswered(403, "Forbidden", "that is forbidden")))

    course = harness.turn()

    assert course.problems == ["ServiceAccount accounts/baker: cannot be read: that is forbidden"]
    assert course.end.failures[0].retryable
    assert harness.values == {}


@pytest.mark.parametrize("status", [{"token": 7}, {"token": "a", "expirationTimestamp": "soon"}, {}], ids=str)
def test_an_answer_without_a_token_and_its_end_grants_none(status: Mapping[str, Any]) -> None:
    assert granted({"status": status}) is None
