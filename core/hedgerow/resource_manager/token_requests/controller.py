"""The controller that keeps the tokens in Secrets fresh.

It watches the Secrets that ask for a token, and ServiceAccounts, so that one that is as it should be costs no request.
All problems of a Secret are found before a token is requested, so that none is wasted. Messages repeat no value of it.

Source: webhooks-and-tokens §10.
"""

from dataclasses import dataclass
from typing import Final

from returns import result

from hedgerow.api.kubernetes import NAMESPACES, SECRETS, SERVICE_ACCOUNTS
from hedgerow.api.tokens import (
    ACCOUNT_NAME,
    ACCOUNT_NAMESPACE,
    PURPOSE,
    TOKEN,
    TOKEN_REQUESTOR,
    transform_service_account,
)
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import Change, Context, Controller, Watch, no_key, own_key
from hedgerow.machinery.failures import Failure, retryable_failure
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.plan import InOrder, Plan, failed
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import Now
from hedgerow.resource_manager.token_requests.kubeconfig import TokenData
from hedgerow.resource_manager.token_requests.service_account import (
    SHORTEST_LIFE,
    Token,
    prepare_account,
    renewal,
    token_of,
    token_request,
)
from hedgerow.resource_manager.token_requests.token_secret import (
    TokenSecret,
    TokenTarget,
    frozen,
    is_concerned,
    is_mere_renewal,
    lifetime,
    misnamed,
    seconds_until_due,
    token_target_of,
    transform_token_secret,
    unusable,
    writes,
)

DEFAULT_CONCURRENCY: Final = 5


@dataclass(frozen=True, slots=True)
class TokenRequestorConfig:
    """Which Secrets get which tokens."""

    class_name: str | None = None
    """The class of the Secrets; none: any."""
    audiences: tuple[str, ...] = ()
    """The audiences of the tokens; none: the API server that issues them."""
    target_namespace: str = ""
    """The namespace of all ServiceAccounts; empty: where each Secret says."""
    source_namespaces: tuple[str, ...] = ()
    """The only namespaces whose Secrets may ask; none: all that the process reads."""

    def concerns(self, secret: Manifest) -> bool:
        """True if a Secret may ask this token requestor, by its labels and its namespace."""
        is_let = not self.source_namespaces or key_of(secret).namespace in self.source_namespaces
        return is_let and is_concerned(secret, self.class_name)


def token_requestor(
    config: TokenRequestorConfig = TokenRequestorConfig(), concurrency: int = DEFAULT_CONCURRENCY
) -> Controller[TokenRequestorConfig]:
    """The controller for a configuration."""

    def matters(change: Change) -> bool:
        is_or_was_concerned = any(
            config.concerns(version) for version in (change.old, change.new) if version is not None
        )
        return is_or_was_concerned and not is_mere_renewal(change)

    namespace = config.target_namespace

    return Controller(
        name=TOKEN_REQUESTOR,
        primary=SECRETS,
        watches=(
            Watch(
                SECRETS,
                transform_token_secret,
                own_key,
                matters,
                cluster=Cluster.SOURCE,
                label_selector=f"{PURPOSE}={TOKEN_REQUESTOR}",
                is_desired_state=True,
            ),
            Watch(SERVICE_ACCOUNTS, transform_service_account, no_key, namespace=namespace),
        ),
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        primary_cluster=Cluster.SOURCE,
        permissions=(
            # Secrets say where their tokens are wanted, wherever the ServiceAccounts are.
            Permission.of(SECRETS, "patch", cluster=Cluster.SOURCE),
            Permission.of(SECRETS, "get", "create", "patch"),
            Permission.of(NAMESPACES, "get"),
            Permission.of(SERVICE_ACCOUNTS, "get", "create", "patch", namespace=namespace),
            Permission.of(SERVICE_ACCOUNTS, "create", subresource=TOKEN, namespace=namespace),
        ),
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
    """The Secret, if it wants a token of this token requestor."""
    manifest = snapshot.get(SECRETS, key, Cluster.SOURCE)
    return TokenSecret.of(manifest, config.target_namespace) if manifest and config.concerns(manifest) else None


async def _token(
    secret: TokenSecret, token_target: TokenTarget, snapshot: Snapshot, config: TokenRequestorConfig
) -> Token | Failure:
    """A new token for a Secret, or why it gets none."""
    wrong_name = misnamed(secret, secret.account, ACCOUNT_NAME, ACCOUNT_NAMESPACE)
    if failure := wrong_name or frozen(secret, token_target.target):
        return failure
    if failure := await prepare_account(secret.account, snapshot):
        return failure
    life = lifetime(secret)
    if isinstance(life, result.Failure):
        invalid: Failure = life.failure()
        return invalid
    if token_target.data is not None and (problem := token_target.data.problem):
        return unusable(secret, problem)
    return await token_of(secret.account, token_request(secret.account, life.unwrap(), config.audiences))


async def _written(secret: TokenSecret, token_target: TokenTarget, token: Token, jitter: float) -> Plan:
    """Put a token where it is wanted, unless it has nearly expired by our clock: it would be renewed for ever."""
    now = await Now()
    if token.expiration - now < SHORTEST_LIFE:
        problem = (
            f"gets a token that expires at {token.expiration:%FT%TZ}, though it is {now:%FT%TZ}: the clocks differ"
        )
        return failed(retryable_failure(SERVICE_ACCOUNTS, secret.account, problem))
    schedule = renewal(token.expiration, now, jitter)
    actions = writes(secret, token_target, token.value, schedule.renew_at)
    if isinstance(actions, result.Failure):
        return failed(unusable(secret, actions.failure()))
    for written in await InOrder(actions.unwrap()):
        if written.error is not None:
            problem = f"could not update Secret with token: {written.error.message}"
            return failed(retryable_failure(SECRETS, written.action.key, problem))
    return Plan(requeue_after=schedule.renew_after.total_seconds())
