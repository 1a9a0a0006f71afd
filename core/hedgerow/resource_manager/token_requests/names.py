"""The names by which Secrets ask for tokens, and the resources that are concerned.

Source: webhooks-and-tokens §1.1, §10.
"""

from typing import Final

TOKEN: Final = "token"  # noqa: S105 -- the name of a subresource, of a data key and of a kubeconfig's field
"""The subresource of a ServiceAccount that makes tokens, and the data key that holds one."""
KUBECONFIG: Final = "kubeconfig"
"""The data key of a kubeconfig that holds the token of its current user."""

TOKEN_REQUESTOR: Final = "token-requestor"  # noqa: S105 -- a value of a label
"""Purpose, as its label has it, of every Secret that wants a token."""
CLASS: Final = "resources.gardener.cloud/class"
"""Label that says whose token requestor is to see to the Secret."""

_ACCOUNT: Final = "serviceaccount.resources.gardener.cloud/"
ACCOUNT_NAME: Final = f"{_ACCOUNT}name"
ACCOUNT_NAMESPACE: Final = f"{_ACCOUNT}namespace"
"""Annotations: whose token is wanted."""
EXPIRATION: Final = f"{_ACCOUNT}token-expiration-duration"
"""Annotation: for how long a token is to be valid."""
RENEW_AT: Final = f"{_ACCOUNT}token-renew-timestamp"
"""Annotation that the token requestor writes: when the token is to be renewed."""

_REQUESTOR: Final = "token-requestor.resources.gardener.cloud/"
TARGET_NAME: Final = f"{_REQUESTOR}target-secret-name"
TARGET_NAMESPACE: Final = f"{_REQUESTOR}target-secret-namespace"
"""Annotations: the Secret of the target cluster that the token is put into, in place of this one."""

ANNOTATIONS: Final = (ACCOUNT_NAME, ACCOUNT_NAMESPACE, EXPIRATION, RENEW_AT, TARGET_NAME, TARGET_NAMESPACE)


def annotation(name: str) -> str:
    """The path of an annotation, as failures name it."""
    return f"metadata.annotations[{name}]"
