"""The controller that keeps the tokens in Secrets fresh, declared.

Of Secrets it sees those alone that ask for a token; of ServiceAccounts whether pods get tokens of them, so that one
that is as it should be costs no request. That one of these changes is no reason to do anything before the next renewal.

Source: webhooks-and-tokens §10.
"""

from typing import Final

from hedgerow.admission.projected_token_mount import kept_of_service_account
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change, Controller, Watch
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.permissions import Permission
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.resource_manager.managed_resources.names import SECRETS
from hedgerow.resource_manager.token_requests.names import PURPOSE, SERVICE_ACCOUNTS, TOKEN, TOKEN_REQUESTOR
from hedgerow.resource_manager.token_requests.reconcile import TokenRequestorConfig, reconcile
from hedgerow.resource_manager.token_requests.token_secret import is_concerned, kept_of_token_secret

NAME: Final = "token-requestor"
DEFAULT_CONCURRENCY: Final = 5
_EVERY_SECRET: Final = TokenRequestorConfig()

PERMISSIONS: Final = (
    Permission.of(SECRETS, "patch", cluster=Cluster.SOURCE),
    Permission.of(SECRETS, "get", "create", "patch"),
    Permission.of(SERVICE_ACCOUNTS, "get", "create", "patch"),
    Permission.of(SERVICE_ACCOUNTS, "create", subresource=TOKEN),
)


def token_requestor(
    config: TokenRequestorConfig = _EVERY_SECRET, concurrency: int = DEFAULT_CONCURRENCY
) -> Controller[TokenRequestorConfig]:
    """The controller for a configuration.

    Args:
        config: which Secrets get tokens, and what tokens these are.
        concurrency: how many Secrets are reconciled at once.
    """

    def is_or_was_concerned(change: Change) -> bool:
        versions = (change.old, change.new)
        return any(version is not None and is_concerned(version, config.class_name) for version in versions)

    return Controller(
        name=NAME,
        primary=SECRETS,
        watches=(
            Watch(
                SECRETS,
                kept_of_token_secret,
                _own_key,
                is_or_was_concerned,
                cluster=Cluster.SOURCE,
                label_selector=f"{PURPOSE}={TOKEN_REQUESTOR}",
                asks=True,
            ),
            Watch(SERVICE_ACCOUNTS, kept_of_service_account, _nothing),
        ),
        indexes=(),
        owned=None,
        concurrency=concurrency,
        config=config,
        reconcile=reconcile,
        primary_cluster=Cluster.SOURCE,
        permissions=PERMISSIONS,
    )


def _own_key(secret: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
    return (key_of(secret),)


def _nothing(_account: Manifest, _snapshot: Snapshot) -> tuple[ObjectKey, ...]:
    return ()
