"""Whether the extension controllers that a Shoot or a Seed needs are ready, before it is reconciled.

Source: controller-registration §12.4.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from hedgerow.api.registrations import (
    CONTROLLER_DEPLOYMENTS,
    CONTROLLER_INSTALLATIONS,
    CONTROLLER_REGISTRATIONS,
    HEALTHY,
    INSTALLED,
    PROGRESSING,
)
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.questions import Found, ListQuestion, NotAnswered
from hedgerow.machinery.reading import UnreadableError
from hedgerow.machinery.steps import AtOnce, Now
from hedgerow.registration.garden import INSTALLATIONS_BY_SEED
from hedgerow.registration.installations import Installation, deployment_of
from hedgerow.registration.registrations import Registration

POLLED_EVERY: Final = timedelta(seconds=5)
PATIENCE: Final = timedelta(minutes=1)


class Unready(NamedTuple):
    """Why something cannot be reconciled yet."""

    problem: str
    requeue_after: float | None
    """Seconds until it is worth while to ask again; none: it has taken too long."""


async def extensions_unready(seed: str, ids: Iterable[str], began: datetime) -> Unready | None:
    """Why not every kind and type has a ready controller in a seed; `began` is when a caller asked first."""
    resources = (CONTROLLER_INSTALLATIONS, CONTROLLER_REGISTRATIONS, CONTROLLER_DEPLOYMENTS)
    answers = await AtOnce(tuple(ListQuestion(resource, Cluster.SOURCE) for resource in resources))
    found = [answer.objects for answer in answers if isinstance(answer, Found)]
    unread = [answer.message for answer in answers if isinstance(answer, NotAnswered)]
    problem = unread[0] if unread else extensions_problem(seed, ids, found[0], _by_name(found[1]), _by_name(found[2]))
    if problem is None:
        return None
    is_over = await Now() - began >= PATIENCE
    return Unready(problem, None if is_over else POLLED_EVERY.total_seconds())


def extensions_problem(
    seed: str,
    ids: Iterable[str],
    installations: Iterable[Manifest],
    registrations: Mapping[str, Manifest],
    deployments: Mapping[str, Manifest],
) -> str | None:
    """Which kinds and types no ready controller serves in a seed, or what keeps that from being known.

    Registrations and deployments are given by their names.
    """
    missing = set(ids)
    own = [each for each in installations if ObjectKey("", seed) in INSTALLATIONS_BY_SEED.values(each)]
    for manifest in sorted(own, key=key_of):
        try:
            installation = Installation.of(manifest)
            registration = registrations.get(installation.registration)
            if registration is None:
                return f'ControllerRegistration "{installation.registration}" not found'
            if _is_ready(installation, registration, deployments.get(installation.deployment or "")):
                served = {(each.kind, each.type.lower()) for each in Registration.of(registration).served}
                missing = {id_ for id_ in missing if _kind_and_type(id_) not in served}
        except UnreadableError as error:
            return str(error)
    return f"extension controllers missing or unready: [{' '.join(sorted(missing))}]" if missing else None


def _by_name(objects: Iterable[Manifest]) -> dict[str, Manifest]:
    return {key_of(each).name: each for each in objects}


def _is_ready(installation: Installation, registration: Manifest, referred: Manifest | None) -> bool:
    """Whoever deploys without the project need not say whether the controller is healthy."""
    deployment = deployment_of(installation, registration if installation.deployment is None else referred)
    is_known = referred is not None or installation.deployment is None
    silent = {""} if is_known and (deployment is None or not deployment.is_chart) else set()
    return (
        installation.status_of(INSTALLED) == "True"
        and installation.status_of(HEALTHY) in {"True", *silent}
        and installation.status_of(PROGRESSING) in {"False", *silent}
    )


def _kind_and_type(id_: str) -> tuple[str, str]:
    kind, _, type_ = id_.partition("/")
    return kind, type_.lower()
