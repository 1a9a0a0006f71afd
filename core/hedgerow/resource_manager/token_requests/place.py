"""Where the token of a Secret is to be, and what keeps it from getting there, found out before one is asked for.

A token that is asked for in vain is valid all the same, and whoever tries again and again fills the world with them. A
Secret that were to take the token of another, and to hand its own token on, would take that of the other away with it:
the two would write to each other for ever.

Source: webhooks-and-tokens §10.1, §10.2, §10.4.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from hedgerow.api.kubernetes import NAMESPACES, SECRETS
from hedgerow.api.tokens import TARGET_NAME, TARGET_NAMESPACE, annotation
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.failures import DomainFailure
from hedgerow.machinery.names import dns_label_problem, dns_subdomain_problem
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of, uid_of
from hedgerow.machinery.questions import Found, NotAnswered, ObjectQuestion
from hedgerow.resource_manager.token_requests.token_data import TokenData
from hedgerow.resource_manager.token_requests.token_secret import (
    TokenSecret,
    data_of,
    hands_its_token_on,
    is_immutable,
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the token of a Secret is."""

    target: Manifest | None
    """The Secret of the target cluster; none if there is none."""
    data: TokenData | None
    """The data that hold the token; none: those of a Secret that does not exist."""


async def place_of_token(secret: TokenSecret) -> Place | DomainFailure:
    """Where the token of a Secret is, or why it cannot be anywhere."""
    if secret.target is None:
        return Place(None, TokenData.of(secret.data))
    if failure := next(_misnamed(secret, secret.target), None):
        return failure
    match await ObjectQuestion(SECRETS, secret.target, Cluster.TARGET):
        case Found((target,)):
            return _unfit(secret, target) or Place(target, TokenData.of(data_of(target)))
        case NotAnswered(message=message) as answer if not answer.is_not_found:
            return _failure(secret.target, f"could not read target secret: {message}")
        case _:
            return await _missing_namespace(secret.target) or Place(None, None)


def frozen(secret: TokenSecret, target: Manifest | None) -> DomainFailure | None:
    """Which Secret can never take a token, or be rid of one; none if all that is to be written can be.

    Args:
        secret: what asks for the token.
        target: the Secret of the target cluster that it names, if that exists.
    """
    problem = "is set, so that no token can be written"
    if secret.is_immutable and (secret.target is None or secret.data):
        return DomainFailure(SECRETS, secret.key, "immutable", problem)
    if secret.target is not None and target is not None and is_immutable(target):
        return DomainFailure(SECRETS, secret.target, "immutable", problem, retryable=True)
    return None


def _misnamed(secret: TokenSecret, target: ObjectKey) -> Iterator[DomainFailure]:
    """What is wrong with the annotations that name the Secret of the target cluster."""
    if problem := dns_subdomain_problem(target.name):
        yield DomainFailure(SECRETS, secret.key, annotation(TARGET_NAME), problem)
    if problem := dns_label_problem(target.namespace):
        yield DomainFailure(SECRETS, secret.key, annotation(TARGET_NAMESPACE), problem)


def _unfit(secret: TokenSecret, target: Manifest) -> DomainFailure | None:
    """Why a Secret that exists is no place for the token of another.

    One that hands its own token on is looked at anew: whoever corrects it need not change the Secret that names it.
    """
    if (key_of(target), uid_of(target)) == (secret.key, secret.uid):
        return DomainFailure(SECRETS, secret.key, annotation(TARGET_NAME), "names the Secret itself")
    if hands_its_token_on(target):
        problem = "names a Secret that wants a token itself and hands it on to another"
        return DomainFailure(SECRETS, secret.key, annotation(TARGET_NAME), problem, retryable=True)
    return None


async def _missing_namespace(target: ObjectKey) -> DomainFailure | None:
    """Why a Secret cannot be created: its namespace does not exist.

    Without permission to read namespaces the Secret is created on the off chance.
    """
    answer = await ObjectQuestion(NAMESPACES, ObjectKey("", target.namespace), Cluster.TARGET)
    if isinstance(answer, NotAnswered) and answer.is_not_found:
        return _failure(target, f"cannot be created: {answer.message}")
    return None


def _failure(target: ObjectKey, problem: str) -> DomainFailure:
    return DomainFailure(SECRETS, target, "", problem, retryable=True)
