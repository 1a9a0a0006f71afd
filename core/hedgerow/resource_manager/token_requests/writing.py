"""How a token gets into the Secrets, and when it is renewed into the one that asks for it.

The Secret of the target cluster is written first and the one that asks for the token last: what breaks off between them
costs one more token, and loses none.

Source: webhooks-and-tokens §10.4.
"""

from datetime import datetime
from typing import Final

from returns.result import Result

from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.tokens import KUBECONFIG, RENEW_AT, TOKEN
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, resource_version_of
from hedgerow.machinery.plan import Action, Create, MergePatch
from hedgerow.machinery.timestamps import format_timestamp
from hedgerow.resource_manager.token_requests.place import Place
from hedgerow.resource_manager.token_requests.token_data import Data, TokenData
from hedgerow.resource_manager.token_requests.token_secret import TokenSecret

REASON: Final = "renewal-due"


def writes(secret: TokenSecret, place: Place, token: str, renew_at: datetime) -> Result[tuple[Action, ...], str]:
    """The writes, in order, that put a token where a Secret wants it; or why it cannot be put there.

    Args:
        secret: what asks for the token.
        place: where it is to be.
        token: what is to be put there.
        renew_at: when it is to be renewed.
    """
    changed = (place.data or TokenData.of({})).with_token(token)
    if secret.target is None:
        return changed.map(lambda data: (_source_patch(secret, data, renew_at),))
    moved = {name: None for name in (TOKEN, KUBECONFIG) if name in secret.data}
    source, key = _source_patch(secret, moved, renew_at), secret.target
    return changed.map(lambda data: (_target_write(key, place.target, data), source))


def _source_patch(secret: TokenSecret, data: Data | dict[str, None], renew_at: datetime) -> MergePatch:
    """The one patch of the Secret that asks; others write to it too, so that it names the version which it is for."""
    patch: dict[str, object] = {"metadata": {"annotations": {RENEW_AT: format_timestamp(renew_at)}}}
    if data:
        patch["data"] = data
    return MergePatch(
        SECRETS, secret.key, patch, REASON, resource_version=secret.resource_version, cluster=Cluster.SOURCE
    )


def _target_write(key: ObjectKey, target: Manifest | None, data: Data) -> Action:
    if target is not None:
        return MergePatch(SECRETS, key, {"data": data}, REASON, resource_version=resource_version_of(target))
    manifest = {
        "apiVersion": SECRETS.api_version,
        "kind": SECRETS.kind,
        "metadata": {"namespace": key.namespace, "name": key.name},
        "type": "Opaque",
        "data": data,
    }
    return Create(SECRETS, manifest, REASON)
