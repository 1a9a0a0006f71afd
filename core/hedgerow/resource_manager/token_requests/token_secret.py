"""A Secret that wants a token, as its labels, annotations and data say, and when that token is to be renewed.

Renewed at 80 % of its life, which counts as a day at most, or up to 5 % of that later. Knows neither clock nor chance.

Source: webhooks-and-tokens §10, §10.2, §10.3, §10.5; decision D-8.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from returns import result
from returns.result import Result, Success

from hedgerow.api.kubernetes import SECRETS
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
from hedgerow.machinery.controller import Change
from hedgerow.machinery.failures import Failure, Problem, annotation_path
from hedgerow.machinery.objects import (
    Manifest,
    ObjectKey,
    annotations_of,
    key_of,
    labels_of,
    resource_version_of,
    uid_of,
)
from hedgerow.machinery.scalars import parse_timestamp
from hedgerow.resource_manager.token_requests.kubeconfig import Data, TokenData

_METADATA: Final = ("name", "namespace", "uid", "resourceVersion")
_LABELS: Final = (PURPOSE, CLASS)
_VALUES: Final = (TOKEN, KUBECONFIG)
DUE: Final = 0.0
LONGEST_LIFE: Final = timedelta(hours=24)
"""What is valid for longer is renewed as if it were not: a token that leaked is replaced within a day."""
SHORTEST_LIFE: Final = timedelta(minutes=1)
"""What is valid for less by our clock is not used: API servers make no such tokens, so that the clocks differ."""
_SHARE: Final = 80
"""Percent of its life for which a token is used."""
_SPREAD: Final = 0.05
"""By how much of that it may be used longer, so that not all tokens of one time are renewed at one time."""


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
        """What a manifest says."""
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


def transform_token_secret(secret: Manifest) -> Manifest:
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


def seconds_until_due(secret: TokenSecret, data: TokenData | None, now: datetime) -> Result[float, Failure]:
    """For how many seconds the token need not be renewed; 0: it is due. Or why nobody can say."""
    if not secret.renew_at or data is None:
        return Success(DUE)
    present = data.has_token
    if isinstance(present, result.Failure):
        return result.Failure(_undecidable(secret, present.failure()))
    if not present.unwrap():
        return Success(DUE)
    renew_at = parse_timestamp(secret.renew_at)
    if renew_at is None:
        problem = "could not parse renew timestamp: must be a time such as 2026-01-31T12:00:00Z"
        return result.Failure(Failure(SECRETS, secret.key, Problem(annotation_path(RENEW_AT), problem)))
    return Success(max((renew_at - now).total_seconds(), DUE))


def is_mere_renewal(change: Change) -> bool:
    """Whether a Secret has got a token of its own that is renewed later, and asks for the same as before.

    It needs no look: until now it was due earlier, so that it is looked at by then anyway; unless it asks for what
    cannot be, which it still does. What is in a kubeconfig, or in another Secret, may matter in other ways.
    """
    old, new = change.old, change.new
    if old is None or new is None or uid_of(old) != uid_of(new) or labels_of(old) != labels_of(new):
        return False
    asked = _asked(new)
    if asked != _asked(old) or TARGET_NAME in asked:
        return False
    if TOKEN not in data_of(new) or KUBECONFIG in data_of(old) or KUBECONFIG in data_of(new):
        return False
    return _is_later(annotations_of(new).get(RENEW_AT), annotations_of(old).get(RENEW_AT))


def _asked(secret: Manifest) -> dict[str, str]:
    """What a Secret asks for: all that it says but when its token is renewed."""
    return {name: value for name, value in annotations_of(secret).items() if name != RENEW_AT}


def _is_later(new: str | None, old: str | None) -> bool:
    """Whether one time comes after another, or after none: what says none is due at once."""
    time = parse_timestamp(new)
    if time is None or not old:
        return time is not None
    before = parse_timestamp(old)
    return before is not None and before < time


def _undecidable(secret: TokenSecret, problem: str) -> Failure:
    """The Secret of the target cluster is looked at anew: nobody watches it, so that no event tells of a correction."""
    what = f"could not check whether token exists in secret data: {problem}"
    key, retryable = secret.target or secret.key, secret.target is not None
    return Failure(SECRETS, key, Problem(f"data[{KUBECONFIG}]", what), retryable)


class Schedule(NamedTuple):
    """When a token is renewed, as a span and as a moment."""

    renew_after: timedelta
    renew_at: datetime


def renewal(expiration: datetime, now: datetime, jitter: float) -> Schedule:
    """When a token is to be renewed; in the past or now if it is not valid any more.

    Args:
        expiration: until when it is valid.
        now: the time.
        jitter: from 0 to less than 1: where in the spread.
    """
    lifetime = min(expiration - now, LONGEST_LIFE)
    base = lifetime * _SHARE // 100
    renew_after = base + base * _SPREAD * jitter
    return Schedule(renew_after, now + renew_after)
