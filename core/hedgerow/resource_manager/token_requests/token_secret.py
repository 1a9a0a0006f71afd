"""A Secret that wants a token, as its labels, annotations and data say.

Source: webhooks-and-tokens §10, §10.5.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from hedgerow.api.tokens import (
    ACCOUNT_NAME,
    ACCOUNT_NAMESPACE,
    ANNOTATIONS,
    CLASS,
    EXPIRATION,
    KUBECONFIG,
    PURPOSE,
    RENEW_AT,
    TARGET_NAME,
    TARGET_NAMESPACE,
    TOKEN,
    TOKEN_REQUESTOR,
)
from hedgerow.machinery.objects import (
    Manifest,
    ObjectKey,
    annotations_of,
    key_of,
    labels_of,
    resource_version_of,
    uid_of,
)
from hedgerow.resource_manager.token_requests.token_data import Data

_METADATA: Final = ("name", "namespace", "uid", "resourceVersion")
_LABELS: Final = (PURPOSE, CLASS)
_VALUES: Final = (TOKEN, KUBECONFIG)


@dataclass(frozen=True, slots=True)
class TokenSecret:
    """What a Secret says of the token that it wants."""

    key: ObjectKey
    uid: str | None
    resource_version: str | None
    account: ObjectKey
    """Whose token it is; parts that nothing says are empty."""
    expiration: str | None
    """For how long it is to be valid, as written; none: as long as tokens usually are."""
    renew_at: str
    """When it is to be renewed, as written; empty: as soon as possible."""
    target: ObjectKey | None
    """The Secret of the target cluster that the token is put into; none: this one."""
    data: Data
    is_immutable: bool
    """Whether its data can never change."""

    @classmethod
    def of(cls, manifest: Manifest, target_namespace: str) -> "TokenSecret":
        """What a manifest says.

        Args:
            manifest: the Secret.
            target_namespace: where the ServiceAccounts are, whatever the Secret says; empty: where it says.
        """
        said = annotations_of(manifest)
        return cls(
            key=key_of(manifest),
            uid=uid_of(manifest),
            resource_version=resource_version_of(manifest),
            account=ObjectKey(target_namespace or said.get(ACCOUNT_NAMESPACE) or "", said.get(ACCOUNT_NAME) or ""),
            expiration=said.get(EXPIRATION),
            renew_at=said.get(RENEW_AT) or "",
            target=_target(said),
            data=data_of(manifest),
            is_immutable=is_immutable(manifest),
        )

    def asks_for_the_same(self, other: "TokenSecret") -> bool:
        """True if the two differ in nothing but version and data."""
        return replace(self, resource_version=other.resource_version, data=other.data) == other


def is_concerned(secret: Manifest, class_name: str | None) -> bool:
    """Whether a Secret wants a token from the token requestor of a class; from one without a class every one may."""
    labels = labels_of(secret)
    return labels.get(PURPOSE) == TOKEN_REQUESTOR and (not class_name or labels.get(CLASS) == class_name)


def hands_its_token_on(secret: Manifest) -> bool:
    """Whether a Secret wants a token, from whomever, that is to be put into another Secret."""
    return is_concerned(secret, None) and _target(annotations_of(secret)) is not None


def is_immutable(secret: Manifest) -> bool:
    """Whether the data of a Secret can never change."""
    return secret.get("immutable") is True


def data_of(secret: Manifest) -> Data:
    """The values of a Secret in which a token may be."""
    return _texts(secret.get("data"), _VALUES)


def kept_of_token_secret(secret: Manifest) -> Manifest:
    """What is read of a Secret that may want a token: nothing that has nothing to do with tokens."""
    metadata: dict[str, Any] = secret.get("metadata") or {}
    kept: dict[str, Any] = {name: metadata[name] for name in _METADATA if name in metadata}
    kept["labels"] = _texts(metadata.get("labels"), _LABELS)
    kept["annotations"] = _texts(metadata.get("annotations"), ANNOTATIONS)
    frozen = {"immutable": True} if is_immutable(secret) else {}
    return {"metadata": kept, "data": data_of(secret), **frozen}


def _target(said: Mapping[str, str]) -> ObjectKey | None:
    """The Secret that both annotations name; half a name is none."""
    target = ObjectKey(said.get(TARGET_NAMESPACE) or "", said.get(TARGET_NAME) or "")
    return target if all(target) else None


def _texts(members: Mapping[str, Any] | None, names: tuple[str, ...]) -> dict[str, str]:
    """Some of the texts by name; null is the empty one, as API servers read it."""
    values = {name: members[name] or "" for name in names if name in members} if isinstance(members, Mapping) else {}
    return {name: value for name, value in values.items() if isinstance(value, str)}
