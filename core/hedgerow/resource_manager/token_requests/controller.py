"""The controller that keeps the tokens in Secrets fresh, from top to bottom.

Of Secrets it sees those alone that ask for a token; of ServiceAccounts whether pods get tokens of them, so that one
that is as it should be costs no request. Whatever a Secret says wrongly is found out before a token is asked for: no
token is burnt on a Secret that cannot hold it. What is said of a Secret repeats no value of it.

Source: webhooks-and-tokens §10.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from returns import result

from hedgerow.api.kubernetes import NAMESPACES, SECRETS, SERVICE_ACCOUNTS
from hedgerow.api.tokens import (
    ACCOUNT_NAME,
    ACCOUNT_NAMESPACE,
    KUBECONFIG,
    PURPOSE,
    TOKEN,
    TOKEN_REQUESTOR,
    transform_service_account,
)
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import Change, Context, Controller, Watch, no_key, own_key
from hedgerow.machinery.failures import Failure, Problem, annotation_path
from hedgerow.machinery.names import dns_label_problem, dns_subdomain_problem
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.plan import InOrder, Plan, failed
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import Now
from hedgerow.resource_manager.token_requests.kubeconfig import TokenData
from hedgerow.resource_manager.token_requests.service_account import (
    Token,
    lifetime,
    prepare_account,
    token_of,
    token_request,
)
from hedgerow.resource_manager.token_requests.token_secret import (
    SHORTEST_LIFE,
    TokenSecret,
    is_concerned,
    is_mere_renewal,
    renewal,
    seconds_until_due,
    transform_token_secret,
)
from hedgerow.resource_manager.token_requests.token_target import TokenTarget, frozen, token_target_of, writes

NAME: Final = "token-requestor"
DEFAULT_CONCURRENCY: Final = 5
_PERMISSIONS: Final = (
    Permission.of(SECRETS, "patch", cluster=Cluster.SOURCE),
    Permission.of(SECRETS, "get", "create", "patch"),
    Permission.of(NAMESPACES, "get"),
)
"""Wherever the ServiceAccounts are: Secrets say themselves where their tokens are wanted."""


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


_EVERY_SECRET: Final = TokenRequestorConfig()


def token_requestor(
    config: TokenRequestorConfig = _EVERY_SECRET, concurrency: int = DEFAULT_CONCURRENCY
) -> Controller[TokenRequestorConfig]:
    """The controller for a configuration."""

    def is_worth_a_look(change: Change) -> bool:
        versions = (change.old, change.new)
        is_or_was_concerned = any(each is not None and config.concerns(each) for each in versions)
        return is_or_was_concerned and not is_mere_renewal(change)

    return Controller(
        name=NAME,
        primary=SECRETS,
        watches=(
            Watch(
                SECRETS,
                transform_token_secret,
                own_key,
                is_worth_a_look,
                cluster=Cluster.SOURCE,
                label_selector=f"{PURPOSE}={TOKEN_REQUESTOR}",
                is_desired_state=True,
            ),
            Watch(SERVICE_ACCOUNTS, transform_service_account, no_key, namespace=config.target_namespace),
        ),
        indexes=(),
        owned=None,
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        primary_cluster=Cluster.SOURCE,
        permissions=(*_PERMISSIONS, *_of_accounts(config.target_namespace)),
    )


def _of_accounts(namespace: str) -> tuple[Permission, ...]:
    """What may be done with the ServiceAccounts of a namespace; empty: of all."""
    return (
        Permission.of(SERVICE_ACCOUNTS, "get", "create", "patch", namespace=namespace),
        Permission.of(SERVICE_ACCOUNTS, "create", subresource=TOKEN, namespace=namespace),
    )


async def reconcile(key: ObjectKey, snapshot: Snapshot, context: Context[TokenRequestorConfig]) -> Plan:
    """Renew the token of one Secret if that is due."""
    secret = _token_secret(key, snapshot, context.config)
    if secret is None:
        return Plan()
    token_target = await token_target_of(secret)
    if isinstance(token_target, Failure):
        return failed(token_target)
    wait = seconds_until_due(secret, token_target.data, await Now())
    if isinstance(wait, result.Failure):
        return failed(wait.failure())
    seconds = wait.unwrap()
    return Plan(requeue_after=seconds) if seconds else await _renewed(secret, token_target, snapshot, context)


async def _renewed(
    secret: TokenSecret, token_target: TokenTarget, snapshot: Snapshot, context: Context[TokenRequestorConfig]
) -> Plan:
    """Get a new token for a Secret, and write it into the Secret as it is by then."""
    token = await _token(secret, token_target, snapshot, context.config)
    if isinstance(token, Failure):
        return failed(token)
    latest = _token_secret(secret.key, snapshot, context.config)
    if latest is None or not latest.asks_for_the_same(secret):
        # The change gives the key another turn.
        return Plan()
    if latest.target is None and latest.data != secret.data:
        token_target = TokenTarget(None, TokenData.of(latest.data))
    return await _written(latest, token_target, token, context.jitter)


def _token_secret(key: ObjectKey, snapshot: Snapshot, config: TokenRequestorConfig) -> TokenSecret | None:
    """The Secret; none if it wants no token of this token requestor."""
    manifest = snapshot.get(SECRETS, key, Cluster.SOURCE)
    return TokenSecret.of(manifest, config.target_namespace) if manifest and config.concerns(manifest) else None


async def _token(
    secret: TokenSecret, token_target: TokenTarget, snapshot: Snapshot, config: TokenRequestorConfig
) -> Token | Failure:
    """A new token for a Secret, or why it gets none."""
    if failure := next(_misnamed_account(secret), None) or frozen(secret, token_target.target):
        return failure
    if failure := await prepare_account(secret.account, snapshot):
        return failure
    life = lifetime(secret)
    if isinstance(life, result.Failure):
        invalid: Failure = life.failure()
        return invalid
    if token_target.data is not None and (problem := token_target.data.problem):
        return _unusable(secret, problem)
    return await token_of(secret.account, token_request(secret.account, life.unwrap(), config.audiences))


async def _written(secret: TokenSecret, token_target: TokenTarget, token: Token, jitter: float) -> Plan:
    """Put a token where it is wanted, unless it is worth nothing by our clock."""
    now = await Now()
    if token.expiration - now < SHORTEST_LIFE:
        return failed(_skewed(secret.account, token.expiration, now))
    schedule = renewal(token.expiration, now, jitter)
    actions = writes(secret, token_target, token.value, schedule.renew_at)
    if isinstance(actions, result.Failure):
        return failed(_unusable(secret, actions.failure()))
    for written in await InOrder(actions.unwrap()):
        if written.error is not None:
            problem = f"could not update Secret with token: {written.error.message}"
            return failed(Failure(SECRETS, written.action.key, Problem("", problem), retryable=True))
    return Plan(requeue_after=schedule.renew_after.total_seconds())


def _misnamed_account(secret: TokenSecret) -> Iterator[Failure]:
    """What is wrong with the annotations that name the ServiceAccount."""
    if problem := dns_subdomain_problem(secret.account.name):
        yield Failure(SECRETS, secret.key, Problem(annotation_path(ACCOUNT_NAME), problem))
    if problem := dns_label_problem(secret.account.namespace):
        yield Failure(SECRETS, secret.key, Problem(annotation_path(ACCOUNT_NAMESPACE), problem))


def _unusable(secret: TokenSecret, problem: str) -> Failure:
    """The Secret of the target cluster is looked at anew: nobody watches it, so that no event tells of a correction."""
    key, retryable = secret.target or secret.key, secret.target is not None
    return Failure(SECRETS, key, Problem(f"data[{KUBECONFIG}]", problem), retryable)


def _skewed(account: ObjectKey, expiration: datetime, now: datetime) -> Failure:
    """Clocks that differ by nearly the life of a token: it would be renewed again and again."""
    problem = f"gets a token that expires at {expiration:%FT%TZ}, though it is {now:%FT%TZ}: the clocks differ"
    return Failure(SERVICE_ACCOUNTS, account, Problem("", problem), retryable=True)
