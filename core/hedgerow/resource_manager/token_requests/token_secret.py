"""A Secret that wants a token: what it says, when the token is renewed, and the writes that put the token in place.

A token is renewed at 80 % of its life, which counts as a day at most, or up to 5 % of that later. The Secret of the
target cluster is written first and the one that asks for the token last: an interruption costs one more token, and
loses none. Two Secrets that handed each other their tokens would never end, so the one that gets the token of another
must not hand on its own.

Source: webhooks-and-tokens §10, §10.1 to §10.5; decision D-8.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from returns import result
from returns.result import Result, Success

from hedgerow.api.kubernetes import NAMESPACES, SECRETS
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
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Change
from hedgerow.machinery.failures import Failure, Problem, annotation_path, retryable_failure
from hedgerow.machinery.names import dns_label_problem, dns_subdomain_problem
from hedgerow.machinery.objects import (
    Manifest,
    ObjectKey,
    annotations_of,
    key_of,
    labels_of,
    resource_version_of,
    uid_of,
)
from hedgerow.machinery.plan import Action, Create, MergePatch
from hedgerow.machinery.questions import Found, NotAnswered, ObjectQuestion
from hedgerow.machinery.scalars import format_timestamp, parse_duration, parse_timestamp
from hedgerow.resource_manager.token_requests.kubeconfig import Data, TokenData

_METADATA: Final = ("name", "namespace", "uid", "resourceVersion")
_LABELS: Final = (PURPOSE, CLASS)
_VALUES: Final = (TOKEN, KUBECONFIG)
USUAL_LIFE: Final = timedelta(hours=12)
_REASON: Final = "renewal-due"
_FROZEN: Final = Problem("immutable", "is set, so that no token can be written")


@dataclass(frozen=True, slots=True)
class TokenSecret:
    """What a Secret says of the token that it wants."""

    key: ObjectKey
    uid: str | None
    resource_version: str | None
    account: ObjectKey
    """The ServiceAccount of the token; absent parts are empty."""
    expiration: str | None
    """The validity, as written; none: the usual one."""
    renew_at: str
    """The time of renewal, as written; empty: at once."""
    target: ObjectKey | None
    """The Secret of the target cluster that gets the token; none: this one."""
    data: Data
    is_immutable: bool

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
        """True if the two differ only in version and data."""
        return replace(self, resource_version=other.resource_version, data=other.data) == other


def is_concerned(secret: Manifest, class_name: str | None) -> bool:
    """True if a Secret wants a token from the token requestor of a class; one without a class serves all."""
    labels = labels_of(secret)
    return labels.get(PURPOSE) == TOKEN_REQUESTOR and (not class_name or labels.get(CLASS) == class_name)


def is_immutable(secret: Manifest) -> bool:
    """True if the data of a Secret can never change."""
    return secret.get("immutable") is True


def data_of(secret: Manifest) -> Data:
    """The values of a Secret in which a token may be."""
    return _texts(secret.get("data"), _VALUES)


def transform_token_secret(secret: Manifest) -> Manifest:
    """Identity and what concerns tokens."""
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
    """The texts of these names; null is the empty text, as API servers read it."""
    values = {name: members[name] or "" for name in names if name in members} if isinstance(members, Mapping) else {}
    return {name: value for name, value in values.items() if isinstance(value, str)}


def seconds_until_due(secret: TokenSecret, data: TokenData | None, now: datetime) -> Result[float, Failure]:
    """The seconds until the token is due, or why that is unknown."""
    present = data.has_token if secret.renew_at and data is not None else Success(False)  # noqa: FBT003 -- by position
    if isinstance(present, result.Failure):
        return result.Failure(
            unusable(secret, f"could not check whether token exists in secret data: {present.failure()}")
        )
    if not present.unwrap():
        return Success(0.0)
    renew_at = parse_timestamp(secret.renew_at)
    if renew_at is None:
        problem = "could not parse renew timestamp: must be a time such as 2026-01-31T12:00:00Z"
        return result.Failure(Failure(SECRETS, secret.key, Problem(annotation_path(RENEW_AT), problem)))
    return Success(max((renew_at - now).total_seconds(), 0.0))


def is_mere_renewal(change: Change) -> bool:
    """True if a Secret has got a token of its own that is renewed later, and asks for the same as before.

    It needs no turn: it was due earlier, so it has one by then. What is in a kubeconfig may matter in other ways.
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
    return {name: value for name, value in annotations_of(secret).items() if name != RENEW_AT}


def _is_later(new: str | None, old: str | None) -> bool:
    """True if one time comes after another, or after none, which means at once."""
    time = parse_timestamp(new)
    if time is None or not old:
        return time is not None
    before = parse_timestamp(old)
    return before is not None and before < time


def lifetime(secret: TokenSecret) -> Result[timedelta, Failure]:
    """The validity that a Secret wants for its token, or why it is no duration."""
    life = parse_duration(secret.expiration) if secret.expiration is not None else Success(USUAL_LIFE)
    return life.alt(lambda problem: Failure(SECRETS, secret.key, Problem(annotation_path(EXPIRATION), problem)))


def unusable(secret: TokenSecret, problem: str) -> Failure:
    """The failure of a kubeconfig. Nobody watches the Secret of the target cluster, so that one is retried."""
    key, retryable = secret.target or secret.key, secret.target is not None
    return Failure(SECRETS, key, Problem(f"data[{KUBECONFIG}]", problem), retryable)


def misnamed(secret: TokenSecret, named: ObjectKey, name: str, namespace: str) -> Failure | None:
    """The problem of the two annotations that name an object, if any."""
    for annotation, problem in (
        (name, dns_subdomain_problem(named.name)),
        (namespace, dns_label_problem(named.namespace)),
    ):
        if problem:
            return Failure(SECRETS, secret.key, Problem(annotation_path(annotation), problem))
    return None


@dataclass(frozen=True, slots=True)
class TokenTarget:
    """Where the token of a Secret is."""

    target: Manifest | None
    """The Secret of the target cluster, if any."""
    data: TokenData | None
    """The data that hold the token; none: those of a Secret that does not exist."""


async def token_target_of(secret: TokenSecret) -> TokenTarget | Failure:
    """Where the token of a Secret is, or why it cannot be anywhere."""
    if secret.target is None:
        return TokenTarget(None, TokenData.of(secret.data))
    if failure := misnamed(secret, secret.target, TARGET_NAME, TARGET_NAMESPACE):
        return failure
    match await ObjectQuestion(SECRETS, secret.target, Cluster.TARGET):
        case Found((target,)):
            return _unfit(secret, target) or TokenTarget(target, TokenData.of(data_of(target)))
        case NotAnswered(message=message) as answer if not answer.is_not_found:
            return retryable_failure(SECRETS, secret.target, f"could not read target secret: {message}")
    # Without permission to read the namespace the Secret is created on the off chance.
    match await ObjectQuestion(NAMESPACES, ObjectKey("", secret.target.namespace), Cluster.TARGET):
        case NotAnswered(message=message) as answer if answer.is_not_found:
            return retryable_failure(SECRETS, secret.target, f"cannot be created: {message}")
    return TokenTarget(None, None)


def _unfit(secret: TokenSecret, target: Manifest) -> Failure | None:
    """Why an existing Secret cannot hold the token of another one."""
    field = annotation_path(TARGET_NAME)
    if (key_of(target), uid_of(target)) == (secret.key, secret.uid):
        return Failure(SECRETS, secret.key, Problem(field, "names the Secret itself"))
    if is_concerned(target, None) and _target(annotations_of(target)) is not None:
        problem = "names a Secret that wants a token itself and hands it on to another"
        # The correction is no change of the Secret that names it.
        return Failure(SECRETS, secret.key, Problem(field, problem), retryable=True)
    return None


def frozen(secret: TokenSecret, target: Manifest | None) -> Failure | None:
    """The Secret that would have to be written and is immutable, if any."""
    if secret.is_immutable and (secret.target is None or secret.data):
        return Failure(SECRETS, secret.key, _FROZEN)
    if secret.target is not None and target is not None and is_immutable(target):
        return Failure(SECRETS, secret.target, _FROZEN, retryable=True)
    return None


def writes(
    secret: TokenSecret, token_target: TokenTarget, token: str, renew_at: datetime
) -> Result[tuple[Action, ...], str]:
    """The writes, in order, that put a token where a Secret wants it; or why it cannot be put there."""
    changed = (token_target.data or TokenData.of({})).with_token(token)
    if secret.target is None:
        return changed.map(lambda data: (_source_patch(secret, data, renew_at),))
    moved = {name: None for name in _VALUES if name in secret.data}
    source, key = _source_patch(secret, moved, renew_at), secret.target
    return changed.map(lambda data: (_target_write(key, token_target.target, data), source))


def _source_patch(secret: TokenSecret, data: Data | dict[str, None], renew_at: datetime) -> MergePatch:
    """The one patch of the Secret that asks; others write to it too, so the patch names the version."""
    patch: dict[str, object] = {"metadata": {"annotations": {RENEW_AT: format_timestamp(renew_at)}}}
    if data:
        patch["data"] = data
    return MergePatch(SECRETS, secret.key, patch, _REASON, secret.resource_version, cluster=Cluster.SOURCE)


def _target_write(key: ObjectKey, target: Manifest | None, data: Data) -> Action:
    if target is not None:
        return MergePatch(SECRETS, key, {"data": data}, _REASON, resource_version_of(target))
    manifest = {
        "apiVersion": SECRETS.api_version,
        "kind": SECRETS.kind,
        "metadata": {"namespace": key.namespace, "name": key.name},
        "type": "Opaque",
        "data": data,
    }
    return Create(SECRETS, manifest, _REASON)
