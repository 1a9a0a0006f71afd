"""The controller that keeps the tokens in Secrets fresh, declared.

Of Secrets it sees those alone that ask for a token; of ServiceAccounts whether pods get tokens of them, so that one
that is as it should be costs no request. That one of these changes is no reason to do anything before the next renewal,
and neither is a renewal itself.

Source: webhooks-and-tokens §10.
"""

from typing import Final

from hedgerow.api.kubernetes import NAMESPACES, SECRETS, SERVICE_ACCOUNTS
from hedgerow.api.tokens import PURPOSE, TOKEN, TOKEN_REQUESTOR, kept_of_service_account
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change, Controller, Watch
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.permissions import Permission
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.resource_manager.token_requests.due import is_mere_renewal
from hedgerow.resource_manager.token_requests.reconcile import TokenRequestorConfig, reconcile
from hedgerow.resource_manager.token_requests.token_secret import kept_of_token_secret

NAME: Final = "token-requestor"
DEFAULT_CONCURRENCY: Final = 5
_EVERY_SECRET: Final = TokenRequestorConfig()

_PERMISSIONS: Final = (
    Permission.of(SECRETS, "patch", cluster=Cluster.SOURCE),
    Permission.of(SECRETS, "get", "create", "patch"),
    Permission.of(NAMESPACES, "get"),
)
"""Wherever the ServiceAccounts are: Secrets say themselves where their tokens are wanted."""


def token_requestor(
    config: TokenRequestorConfig = _EVERY_SECRET, concurrency: int = DEFAULT_CONCURRENCY
) -> Controller[TokenRequestorConfig]:
    """The controller for a configuration.

    Args:
        config: which Secrets get tokens, and what tokens these are.
        concurrency: how many Secrets are reconciled at once.
    """

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
                kept_of_token_secret,
                _own_key,
                is_worth_a_look,
                cluster=Cluster.SOURCE,
                label_selector=f"{PURPOSE}={TOKEN_REQUESTOR}",
                is_desired_state=True,
            ),
            Watch(SERVICE_ACCOUNTS, kept_of_service_account, _nothing, namespace=config.target_namespace),
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


def _own_key(secret: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
    return (key_of(secret),)


def _nothing(_account: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
    return ()
