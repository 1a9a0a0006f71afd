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
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Create, Outcome, Plan
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.resource_manager.managed_resources.names import SECRETS
from hedgerow.resource_manager.token_requests.due import seconds_until_due
from hedgerow.resource_manager.token_requests.names import (
    ACCOUNT_NAME,
    ACCOUNT_NAMESPACE,
    KUBECONFIG,
    SERVICE_ACCOUNTS,
    annotation,
)
from hedgerow.resource_manager.token_requests.place import Place, frozen, place_of_token
from hedgerow.resource_manager.token_requests.schedule import SHORTEST_LIFE, renewal
from hedgerow.resource_manager.token_requests.service_account import missing_account
from hedgerow.resource_manager.token_requests.token_data import unusable
from hedgerow.resource_manager.token_requests.token_request import Token, granted, lifetime, token_request
from hedgerow.resource_manager.token_requests.token_secret import TokenSecret, is_concerned
from hedgerow.resource_manager.token_requests.writing import writes, written


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
    if end := _end(context):
        return end
    target_namespace = context.config.target_namespace
    secret = context.notes.once(
        "secret", (manifest, target_namespace), lambda: TokenSecret.of(manifest, target_namespace)
    )
    place = place_of_token(secret, context.answers)
    if isinstance(place, Plan):
        return place
    wait = seconds_until_due(secret, place.data, context.now, context.notes)
    if isinstance(wait, Failure):
        return Plan(failures=(wait.failure(),))
    if seconds := wait.unwrap():
        return Plan(requeue_after=seconds)
    return _renewed(secret, place, snapshot, context)


def _renewed(secret: TokenSecret, place: Place, snapshot: Snapshot, context: Context[TokenRequestorConfig]) -> Plan:
    """What gets a Secret a new token, step by step."""
    if failure := next(_misnamed_account(secret), None) or frozen(secret, place.target):
        return Plan(failures=(failure,))
    if plan := missing_account(secret.account, snapshot, context.answers, context.outcomes):
        return plan
    life = lifetime(secret)
    if isinstance(life, Failure):
        return Plan(failures=(life.failure(),))
    if problem := unusable(place.data or {}, context.notes):
        return Plan(failures=(_unusable(secret, problem),))
    request = token_request(secret.account, life.unwrap(), context.config.audiences)
    outcome = _outcome(request, context.outcomes)
    if outcome is None:
        return Plan((request,), goes_on=True)
    token = _token(outcome)
    return Plan(failures=(token,)) if isinstance(token, DomainFailure) else _written(secret, place, token, context)


def _written(secret: TokenSecret, place: Place, token: Token, context: Context[TokenRequestorConfig]) -> Plan:
    """What puts a token where it is wanted, unless it is worth nothing by our clock."""
    if token.expiration - context.now < SHORTEST_LIFE:
        return Plan(failures=(_skewed(secret.account, token.expiration, context.now),))
    schedule = renewal(token.expiration, context.now, context.jitter)
    actions = writes(secret, place.target, token.value, schedule.renew_at, context.notes)
    if isinstance(actions, Failure):
        return Plan(failures=(_unusable(secret, actions.failure()),))
    return Plan(actions.unwrap(), in_order=True, goes_on=True)


def _end(context: Context[TokenRequestorConfig]) -> Plan | None:
    """The end of a turn that has put a token where it is wanted, or could not; none where there is none yet."""
    end = written(context.outcomes)
    if isinstance(end, DomainFailure):
        return Plan(failures=(end,))
    if not end:
        return None
    expirations = [token.expiration for each in context.outcomes if (token := granted(each.stored))]
    schedule = renewal(expirations[-1], context.now, context.jitter)
    return Plan(requeue_after=schedule.renew_after.total_seconds())


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


def _unusable(secret: TokenSecret, problem: str) -> DomainFailure:
    """The Secret of the target cluster is looked at anew: nobody watches it, so that no event tells of a correction."""
    key, retryable = secret.target or secret.key, secret.target is not None
    return DomainFailure(SECRETS, key, f"data[{KUBECONFIG}]", problem, retryable)


def _skewed(account: ObjectKey, expiration: datetime, now: datetime) -> DomainFailure:
    """Clocks that differ by nearly the life of a token: it would be renewed again and again."""
    problem = f"gets a token that expires at {expiration:%FT%TZ}, though it is {now:%FT%TZ}: the clocks differ"
    return DomainFailure(SERVICE_ACCOUNTS, account, "", problem, retryable=True)
