"""Where the token of a Secret is to be, what keeps it from getting there, and the writes that put it there.

Obstacles are found before a token is asked for: one that is asked for in vain is valid all the same. A Secret that were
to take the token of another, and to hand its own token on, would take that of the other away with it: the two would
write to each other for ever.

The Secret of the target cluster is written first and the one that asks for the token last: what breaks off between them
costs one more token, and loses none.

Source: webhooks-and-tokens §10.1, §10.2, §10.4.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from returns.result import Result

from hedgerow.api.kubernetes import NAMESPACES, SECRETS
from hedgerow.api.tokens import KUBECONFIG, RENEW_AT, TARGET_NAME, TARGET_NAMESPACE, TOKEN
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.failures import Failure, Problem, annotation_path
from hedgerow.machinery.names import dns_label_problem, dns_subdomain_problem
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of, resource_version_of, uid_of
from hedgerow.machinery.plan import Action, Create, MergePatch
from hedgerow.machinery.questions import Found, NotAnswered, ObjectQuestion
from hedgerow.machinery.scalars import format_timestamp
from hedgerow.resource_manager.token_requests.kubeconfig import Data, TokenData
from hedgerow.resource_manager.token_requests.token_secret import (
    TokenSecret,
    data_of,
    hands_its_token_on,
    is_immutable,
)

REASON: Final = "renewal-due"


@dataclass(frozen=True, slots=True)
class TokenTarget:
    """Where the token of a Secret is."""

    target: Manifest | None
    """The Secret of the target cluster; none if there is none."""
    data: TokenData | None
    """The data that hold the token; none: those of a Secret that does not exist."""


async def token_target_of(secret: TokenSecret) -> TokenTarget | Failure:
    """Where the token of a Secret is, or why it cannot be anywhere."""
    if secret.target is None:
        return TokenTarget(None, TokenData.of(secret.data))
    if failure := next(_misnamed(secret, secret.target), None):
        return failure
    match await ObjectQuestion(SECRETS, secret.target, Cluster.TARGET):
        case Found((target,)):
            return _unfit(secret, target) or TokenTarget(target, TokenData.of(data_of(target)))
        case NotAnswered(message=message) as answer if not answer.is_not_found:
            return _failure(secret.target, f"could not read target secret: {message}")
        case _:
            return await _missing_namespace(secret.target) or TokenTarget(None, None)


def frozen(secret: TokenSecret, target: Manifest | None) -> Failure | None:
    """Which Secret can never take a token, or be rid of one; none if all that is to be written can be."""
    problem = "is set, so that no token can be written"
    if secret.is_immutable and (secret.target is None or secret.data):
        return Failure(SECRETS, secret.key, Problem("immutable", problem))
    if secret.target is not None and target is not None and is_immutable(target):
        return Failure(SECRETS, secret.target, Problem("immutable", problem), retryable=True)
    return None


def _misnamed(secret: TokenSecret, target: ObjectKey) -> Iterator[Failure]:
    """What is wrong with the annotations that name the Secret of the target cluster."""
    if problem := dns_subdomain_problem(target.name):
        yield Failure(SECRETS, secret.key, Problem(annotation_path(TARGET_NAME), problem))
    if problem := dns_label_problem(target.namespace):
        yield Failure(SECRETS, secret.key, Problem(annotation_path(TARGET_NAMESPACE), problem))


def _unfit(secret: TokenSecret, target: Manifest) -> Failure | None:
    """Why an existing Secret cannot hold the token of another one.

    If it hands its own token on, the failure is retryable: the correction is no change of the Secret that names it.
    """
    if (key_of(target), uid_of(target)) == (secret.key, secret.uid):
        return Failure(SECRETS, secret.key, Problem(annotation_path(TARGET_NAME), "names the Secret itself"))
    if hands_its_token_on(target):
        problem = "names a Secret that wants a token itself and hands it on to another"
        return Failure(SECRETS, secret.key, Problem(annotation_path(TARGET_NAME), problem), retryable=True)
    return None


async def _missing_namespace(target: ObjectKey) -> Failure | None:
    """Why a Secret cannot be created: its namespace does not exist.

    Without permission to read namespaces the Secret is created on the off chance.
    """
    answer = await ObjectQuestion(NAMESPACES, ObjectKey("", target.namespace), Cluster.TARGET)
    if isinstance(answer, NotAnswered) and answer.is_not_found:
        return _failure(target, f"cannot be created: {answer.message}")
    return None


def _failure(target: ObjectKey, problem: str) -> Failure:
    return Failure(SECRETS, target, Problem("", problem), retryable=True)


def writes(
    secret: TokenSecret, token_target: TokenTarget, token: str, renew_at: datetime
) -> Result[tuple[Action, ...], str]:
    """The writes, in order, that put a token where a Secret wants it; or why it cannot be put there."""
    changed = (token_target.data or TokenData.of({})).with_token(token)
    if secret.target is None:
        return changed.map(lambda data: (_source_patch(secret, data, renew_at),))
    moved = {name: None for name in (TOKEN, KUBECONFIG) if name in secret.data}
    source, key = _source_patch(secret, moved, renew_at), secret.target
    return changed.map(lambda data: (_target_write(key, token_target.target, data), source))


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
