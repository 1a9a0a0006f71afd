"""The labels and annotations of Secrets and ServiceAccounts about tokens, and the transforms of both.

Source: webhooks-and-tokens §1.1, §6.2, §10, §11.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from hedgerow.api.kubernetes import SERVICE_ACCOUNT_NAME
from hedgerow.machinery.objects import Manifest, annotations_of, key_of, labels_of

PURPOSE: Final = "resources.gardener.cloud/purpose"
"""Label of a Secret: one of the next two values."""
TOKEN_INVALIDATOR: Final = "token-invalidator"  # noqa: S105 -- a value of a label
"""Purpose of every Secret whose token may be invalidated; name of the webhook and of the controller for it."""
TOKEN_REQUESTOR: Final = "token-requestor"  # noqa: S105 -- a value of a label
"""Purpose of every Secret that wants a token."""
SKIP: Final = "token-invalidator.resources.gardener.cloud/skip"
"""Label of a ServiceAccount whose tokens are not invalidated, whatever its value."""
CONSIDER: Final = "token-invalidator.resources.gardener.cloud/consider"
"""Label of a Secret whose token is to be invalidated, whatever its value."""
INVALIDATED: Final = "AAAA"
"""The value of an invalidated token: three zero bytes in base64."""

TOKEN: Final = "token"  # noqa: S105 -- the name of a subresource, of a data key and of a kubeconfig's field
"""The subresource of a ServiceAccount that issues tokens, and the data key of a token."""
KUBECONFIG: Final = "kubeconfig"
"""The data key of a kubeconfig that holds the token of its current user."""
CLASS: Final = "resources.gardener.cloud/class"
"""Label of a Secret: the class of the responsible token requestor."""

_ACCOUNT: Final = "serviceaccount.resources.gardener.cloud/"
ACCOUNT_NAME: Final = f"{_ACCOUNT}name"
ACCOUNT_NAMESPACE: Final = f"{_ACCOUNT}namespace"
"""Annotations: the ServiceAccount of the token."""
EXPIRATION: Final = f"{_ACCOUNT}token-expiration-duration"
"""Annotation: the validity of the token."""
RENEW_AT: Final = f"{_ACCOUNT}token-renew-timestamp"
"""Annotation that the token requestor writes: when to renew the token."""
MOUNT_EXPIRATION: Final = "projected-token-mount.resources.gardener.cloud/expiration-seconds"
"""Annotation of a pod: the validity of the token that is mounted into it."""
_REQUESTOR: Final = "token-requestor.resources.gardener.cloud/"
TARGET_NAME: Final = f"{_REQUESTOR}target-secret-name"
TARGET_NAMESPACE: Final = f"{_REQUESTOR}target-secret-namespace"
"""Annotations: the Secret of the target cluster that gets the token instead of this one."""
ANNOTATIONS: Final = (ACCOUNT_NAME, ACCOUNT_NAMESPACE, EXPIRATION, RENEW_AT, TARGET_NAME, TARGET_NAMESPACE)
_SECRET_METADATA: Final = ("name", "namespace", "uid", "resourceVersion", "finalizers", "deletionTimestamp")


def transform_secret(secret: Manifest) -> Manifest:
    """Identity, version, finalizers, and the ServiceAccount of its token."""
    metadata = secret.get("metadata") or {}
    kept = {name: metadata[name] for name in _SECRET_METADATA if name in metadata}
    if labels := _some(labels_of(secret), (PURPOSE, CONSIDER)):
        kept["labels"] = labels
    if annotations := _some(annotations_of(secret), (SERVICE_ACCOUNT_NAME,)):
        kept["annotations"] = annotations
    return {"metadata": kept}


def transform_service_account(service_account: Manifest) -> Manifest:
    """Its key, whether pods mount its token, whether its tokens are not invalidated, and the Secrets that hold them."""
    key = key_of(service_account)
    metadata: dict[str, Any] = {"namespace": key.namespace, "name": key.name}
    if labels := _some(labels_of(service_account), (SKIP,)):
        metadata["labels"] = labels
    kept = {"metadata": metadata, "automountServiceAccountToken": service_account.get("automountServiceAccountToken")}
    secrets = service_account.get("secrets")
    return {**kept, "secrets": secrets} if secrets else kept


def _some(texts: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    return {name: texts[name] for name in names if name in texts}
