"""How the token of one Secret is renewed, from top to bottom.

Whatever a Secret says wrongly is found out before a token is asked for: no token is burnt on a Secret that cannot hold
it. What is said of a Secret repeats no value of it.

Source: webhooks-and-tokens §10.1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from returns.result import Failure

from hedgerow.api.kubernetes import SECRETS, SERVICE_ACCOUNTS
from hedgerow.api.tokens import ACCOUNT_NAME, ACCOUNT_NAMESPACE, KUBECONFIG, annotation
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Context
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.names import dns_label_problem, dns_subdomain_problem
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.plan import InOrder, Plan, failed
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import Now
from hedgerow.resource_manager.token_requests.due import seconds_until_due
from hedgerow.resource_manager.token_requests.place import Place, frozen, place_of_token
from hedgerow.resource_manager.token_requests.schedule import SHORTEST_LIFE, renewal
from hedgerow.resource_manager.token_requests.service_account import prepare_account, token_of
from hedgerow.resource_manager.token_requests.token_data import TokenData
from hedgerow.resource_manager.token_requests.token_request import Token, lifetime, token_request
from hedgerow.resource_manager.token_requests.token_secret import TokenSecret, is_concerned
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
    source_namespaces: tuple[str, ...] = ()
    """Where the Secrets are that may ask; none: anywhere in sight."""

    def concerns(self, secret: Manifest) -> bool:
        """True if a Secret may ask this token requestor, by its labels and its namespace."""
        is_let = not self.source_namespaces or key_of(secret).namespace in self.source_namespaces
        return is_let and is_concerned(secret, self.class_name)


async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[TokenRequestorConfig]) -> Plan:
    """Renew the token of one Secret if that is due."""
    secret = _token_secret(key, snapshot, context.config)
    if secret is None:
        return Plan()
    place = await place_of_token(secret)
    if isinstance(place, DomainFailure):
        return failed(place)
    wait = seconds_until_due(secret, place.data, await Now())
    if isinstance(wait, Failure):
        return failed(wait.failure())
    seconds = wait.unwrap()
    return Plan(requeue_after=seconds) if seconds else await _renewed(secret, place, snapshot, context)


async def _renewed(
    secret: TokenSecret, place: Place, snapshot: Snapshot, context: Context[TokenRequestorConfig]
) -> Plan:
    """Get a new token for a Secret, and write it into the Secret as it is by then."""
    token = await _token(secret, place, snapshot, context.config)
    if isinstance(token, DomainFailure):
        return failed(token)
    latest = _token_secret(secret.key, snapshot, context.config)
    if latest is None or not latest.asks_for_the_same(secret):
        # The change gives the key another turn.
        return Plan()
    if latest.target is None and latest.data != secret.data:
        place = Place(None, TokenData.of(latest.data))
    return await _written(latest, place, token, context.jitter)


def _token_secret(key: ObjectKey, snapshot: Snapshot, config: TokenRequestorConfig) -> TokenSecret | None:
    """The Secret; none if it wants no token of this token requestor."""
    manifest = snapshot.get(SECRETS, key, Cluster.SOURCE)
    return TokenSecret.of(manifest, config.target_namespace) if manifest and config.concerns(manifest) else None


async def _token(
    secret: TokenSecret, place: Place, snapshot: Snapshot, config: TokenRequestorConfig
) -> Token | DomainFailure:
    """A new token for a Secret, or why it gets none."""
    if failure := next(_misnamed_account(secret), None) or frozen(secret, place.target):
        return failure
    if failure := await prepare_account(secret.account, snapshot):
        return failure
    life = lifetime(secret)
    if isinstance(life, Failure):
        invalid: DomainFailure = life.failure()
        return invalid
    if place.data is not None and (problem := place.data.problem):
        return _unusable(secret, problem)
    return await token_of(secret.account, token_request(secret.account, life.unwrap(), config.audiences))


async def _written(secret: TokenSecret, place: Place, token: Token, jitter: float) -> Plan:
    """Put a token where it is wanted, unless it is worth nothing by our clock."""
    now = await Now()
    if token.expiration - now < SHORTEST_LIFE:
        return failed(_skewed(secret.account, token.expiration, now))
    schedule = renewal(token.expiration, now, jitter)
    actions = writes(secret, place, token.value, schedule.renew_at)
    if isinstance(actions, Failure):
        return failed(_unusable(secret, actions.failure()))
    for outcome in await InOrder(actions.unwrap()):
        if outcome.refusal is not None:
            problem = f"could not update Secret with token: {outcome.refusal.message}"
            return failed(DomainFailure(SECRETS, outcome.action.key, "", problem, retryable=True))
    return Plan(requeue_after=schedule.renew_after.total_seconds())


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
