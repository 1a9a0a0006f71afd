"""The steps by which the token of one Secret is renewed, read top to bottom.

Whatever a Secret says wrongly is found out before a token is asked for: no token is burnt on a Secret that cannot hold
it. What is said of a Secret repeats no value of it.

Source: webhooks-and-tokens §10.1.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from returns.result import Failure

from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.names import dns_label_problem, dns_subdomain_problem
from hedgerow.machinery.objects import Manifest, ObjectKey
from hedgerow.machinery.plan import Create, Outcome, Plan
from hedgerow.machinery.questions import Answers, Found, NotAnswered, ObjectQuestion
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.resource_manager.managed_resources.names import SECRETS
from hedgerow.resource_manager.token_requests.due import seconds_until_due
from hedgerow.resource_manager.token_requests.names import (
    ACCOUNT_NAME,
    ACCOUNT_NAMESPACE,
    KUBECONFIG,
    SERVICE_ACCOUNTS,
    TARGET_NAME,
    TARGET_NAMESPACE,
    annotation,
)
from hedgerow.resource_manager.token_requests.schedule import renewal
from hedgerow.resource_manager.token_requests.service_account import missing_account
from hedgerow.resource_manager.token_requests.token_data import Data, unusable
from hedgerow.resource_manager.token_requests.token_request import Token, granted, lifetime, token_request
from hedgerow.resource_manager.token_requests.token_secret import TokenSecret, data_of, is_concerned
from hedgerow.resource_manager.token_requests.writing import writes


@dataclass(frozen=True, slots=True)
class TokenRequestorConfig:
    """Which Secrets get tokens, and what tokens these are."""

    class_name: str | None = None
    """The class of Secrets that are looked after; none: all are, whatever class they are of."""
    audiences: tuple[str, ...] = ()
    """Who is to believe the tokens; none: the API server that makes them."""
    target_namespace: str = ""
    """Where all ServiceAccounts are; empty: where each Secret says."""


def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[TokenRequestorConfig]) -> Plan:
    """Renew the token of one Secret if that is due."""
    manifest = snapshot.get(SECRETS, key, Cluster.SOURCE)
    if manifest is None or not is_concerned(manifest, context.config.class_name):
        return Plan()
    secret = TokenSecret.of(manifest, context.config.target_namespace)
    place = _place(secret, context.answers)
    if isinstance(place, Plan):
        return place
    wait = seconds_until_due(secret, place.data, context.now)
    if isinstance(wait, Failure):
        return Plan(failures=(wait.failure(),))
    if seconds := wait.unwrap():
        return Plan(requeue_after=seconds)
    return _renewed(secret, place, snapshot, context)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the token of a Secret is."""

    target: Manifest | None
    """The Secret of the target cluster; none if there is none."""
    data: Data | None
    """The data that hold the token; none: those of a Secret that does not exist."""


def _place(secret: TokenSecret, answers: Answers) -> _Place | Plan:
    """Where the token of a Secret is, or the plan without which nobody can say."""
    if secret.target is None:
        return _Place(None, secret.data)
    if failure := next(_misnamed_target(secret, secret.target), None):
        return Plan(failures=(failure,))
    question = ObjectQuestion(SECRETS, secret.target, Cluster.TARGET)
    match answers.get(question):
        case None:
            return Plan(questions=(question,))
        case NotAnswered() as answer if not answer.is_not_found:
            problem = f"could not read target secret: {answer.message}"
            return Plan(failures=(DomainFailure(SECRETS, secret.target, "", problem, retryable=True),))
        case Found((target,)):
            return _Place(target, data_of(target))
        case _:
            return _Place(None, None)


def _renewed(secret: TokenSecret, place: _Place, snapshot: Snapshot, context: Context[TokenRequestorConfig]) -> Plan:
    """What gets a Secret a new token, step by step."""
    if failure := next(_misnamed_account(secret), None):
        return Plan(failures=(failure,))
    if plan := missing_account(secret.account, snapshot, context.answers, context.outcomes):
        return plan
    life = lifetime(secret)
    if isinstance(life, Failure):
        return Plan(failures=(life.failure(),))
    if problem := unusable(place.data or {}):
        return Plan(failures=(_unusable(secret, problem),))
    request = token_request(secret.account, life.unwrap(), context.config.audiences)
    outcome = _outcome(request, context.outcomes)
    if outcome is None:
        return Plan((request,), goes_on=True)
    token = _token(outcome)
    return Plan(failures=(token,)) if isinstance(token, DomainFailure) else _written(secret, place, token, context)


def _written(secret: TokenSecret, place: _Place, token: Token, context: Context[TokenRequestorConfig]) -> Plan:
    """What puts a token where it is wanted, unless it is worth nothing by our clock."""
    schedule = renewal(token.expiration, context.now, context.jitter)
    if schedule.renew_at <= context.now:
        return Plan(failures=(_skewed(secret.account, token.expiration, context.now),))
    actions = writes(secret, place.target, token.value, schedule.renew_at)
    if isinstance(actions, Failure):
        return Plan(failures=(_unusable(secret, actions.failure()),))
    return Plan(actions.unwrap(), in_order=True, requeue_after=schedule.renew_after.total_seconds())


def _outcome(request: Create, outcomes: Sequence[Outcome]) -> Outcome | None:
    """What became of the request for a token, if nothing was done since: it may be granted once there is an account."""
    made = [index for index, each in enumerate(outcomes) if each.action != request and each.refusal is None]
    since = outcomes[made[-1] + 1 :] if made else outcomes
    return next((each for each in reversed(since) if each.action == request), None)


def _token(outcome: Outcome) -> Token | DomainFailure:
    key = outcome.action.key
    if outcome.refusal is not None:
        problem = f"gets no token: {outcome.refusal.message}"
        return DomainFailure(SERVICE_ACCOUNTS, key, "", problem, retryable=True)
    token = granted(outcome.stored)
    if token is None:
        return DomainFailure(SERVICE_ACCOUNTS, key, "", "gets no token: the answer holds none", retryable=True)
    return token


def _misnamed_account(secret: TokenSecret) -> Iterator[DomainFailure]:
    """What is wrong with the annotations that name the ServiceAccount."""
    if problem := dns_subdomain_problem(secret.account.name):
        yield DomainFailure(SECRETS, secret.key, annotation(ACCOUNT_NAME), problem)
    if problem := dns_label_problem(secret.account.namespace):
        yield DomainFailure(SECRETS, secret.key, annotation(ACCOUNT_NAMESPACE), problem)


def _misnamed_target(secret: TokenSecret, target: ObjectKey) -> Iterator[DomainFailure]:
    """What is wrong with the annotations that name the Secret of the target cluster."""
    if problem := dns_subdomain_problem(target.name):
        yield DomainFailure(SECRETS, secret.key, annotation(TARGET_NAME), problem)
    if problem := dns_label_problem(target.namespace):
        yield DomainFailure(SECRETS, secret.key, annotation(TARGET_NAMESPACE), problem)


def _unusable(secret: TokenSecret, problem: str) -> DomainFailure:
    """The Secret of the target cluster is looked at anew: nobody watches it, so that no event tells of a correction."""
    key, retryable = secret.target or secret.key, secret.target is not None
    return DomainFailure(SECRETS, key, f"data[{KUBECONFIG}]", problem, retryable)


def _skewed(account: ObjectKey, expiration: datetime, now: datetime) -> DomainFailure:
    """Clocks that differ by more than the life of a token: it would be renewed again and again."""
    problem = f"gets a token that expired at {expiration:%FT%TZ}, which is before {now:%FT%TZ}: the clocks differ"
    return DomainFailure(SERVICE_ACCOUNTS, account, "", problem, retryable=True)
