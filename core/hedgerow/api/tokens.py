"""The labels and annotations of Secrets and ServiceAccounts about tokens, and the transforms of both.

Source: webhooks-and-tokens §1.1, §6.2, §10, §11.
"""

from typing import Final

from hedgerow.api.kubernetes import SERVICE_ACCOUNT_NAME
from hedgerow.machinery.reading import keeping

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

transform_secret: Final = keeping(
    *(
        f"metadata.{name}"
        for name in ("name", "namespace", "uid", "resourceVersion", "finalizers", "deletionTimestamp")
    ),
    labels=(PURPOSE, CONSIDER),
    annotations=(SERVICE_ACCOUNT_NAME,),
)
"""Identity, version, finalizers, and the ServiceAccount of its token."""
transform_service_account: Final = keeping(
    "metadata.namespace", "metadata.name", "automountServiceAccountToken", "secrets", labels=(SKIP,)
)
"""Its key, whether pods mount its token, whether its tokens are not invalidated, and the Secrets that hold them."""
