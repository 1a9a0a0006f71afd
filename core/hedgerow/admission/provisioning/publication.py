"""How a pair comes into use: the registrations trust it, the server shows it, and only then webhooks are registered.

Every replica adds authorities, which takes none away, and fills in a registration without webhooks. Only the leader
corrects other fields: replicas of two versions would undo each other's work. A registration without its mark is neither
filled in nor corrected: somebody else provides for certificates now.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from cryptography import x509

from hedgerow.admission.certificates import certificate_pem, key_pem
from hedgerow.admission.provisioning.material import Material, Pair
from hedgerow.admission.provisioning.permissions import REGISTRATIONS
from hedgerow.admission.provisioning.registrations import (
    MARK,
    WEBHOOKS,
    accepts,
    corrected,
    is_empty,
    is_marked,
    trusts,
    with_trust,
)
from hedgerow.admission.provisioning.rotation import has_expired
from hedgerow.admission.provisioning.steps import Replica, ReplicaQuestion, ReportRegistered, ReportTrust, Serve
from hedgerow.api.kubernetes import SECRETS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.failures import Failure, retryable_failure
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, key_of, resource_version_of
from hedgerow.machinery.plan import MergePatch
from hedgerow.machinery.questions import Answer, Found
from hedgerow.machinery.steps import Now

CONFLICT: Final = "Conflict"
"""The reason of API servers for a write of an old version."""
UNMARKED: Final = (
    f"registers nothing, and lacks the annotation {'='.join(*MARK.items())} with which the process fills it in: "
    "apply the installation again"
)


@dataclass(frozen=True, slots=True)
class Registration:
    """A registration object as it has to be but for the authorities, and as it was read."""

    wanted: Manifest
    live: Manifest | None = None
    """None: it does not exist, or could not be read."""
    failure: Failure | None = None
    """Why it could not be read or written."""
    is_unknown: bool = False
    """True if it could not be read, though it may exist."""
    is_outdated: bool = False
    """True if somebody has written it since it was read."""

    @property
    def resource(self) -> Resource:
        """Which of the two kinds it is."""
        return REGISTRATIONS[self.wanted["kind"]]

    @property
    def key(self) -> ObjectKey:
        """Its name."""
        return key_of(self.wanted)

    def failing(self, text: str) -> "Registration":
        """The same with a problem."""
        return replace(self, failure=retryable_failure(self.resource, self.key, text))


def read(wanted: Manifest, answer: Answer) -> Registration:
    """A registration with what is stored of it."""
    registration = Registration(wanted)
    if isinstance(answer, Found):
        return replace(registration, live=answer.objects[0])
    if answer.is_not_found:
        # An installation leaves out what would register nothing.
        if is_empty(wanted):
            return registration
        return registration.failing(
            "does not exist, so that no API server asks its webhooks: apply the installation again"
        )
    return replace(registration.failing(f"cannot be read: {answer.message}"), is_unknown=True)


@dataclass(frozen=True, slots=True)
class Published:
    """How it went."""

    failures: tuple[Failure, ...] = ()
    is_outdated: bool = False
    """True if a registration has to be read again."""


async def published(content: Material, registrations: Sequence[Registration], secret: ObjectKey) -> Published:
    """Bring a pair into use; what goes wrong with that."""
    assert isinstance(content.pair, Pair)  # noqa: S101 -- what cannot be served was replaced before
    replica, now = await ReplicaQuestion(), await Now()
    chain = certificate_pem(content.pair.certificate)
    registrations = [await _trusting(each, content) for each in registrations]
    changes = replica.served != chain and (all(map(_is_settled, registrations)) or not _is_valid(replica, now))
    await _report(registrations, chain if changes else replica.served, is_new=changes)
    if changes:
        problem = await Serve(chain, key_pem(content.pair.key))
        if problem is not None:
            return Published((retryable_failure(SECRETS, secret, f"cannot be served: {problem}"),))
        replica = replace(replica, served=chain)
    if replica.served == chain:
        registrations = [await _registered(each, content, replica) for each in registrations]
    for each in registrations:
        if not (each.is_unknown or is_empty(each.wanted)):
            await ReportRegistered(each.wanted["kind"], len((each.live or {}).get(WEBHOOKS) or ()))
    failures = tuple(each.failure for each in registrations if each.failure is not None)
    return Published(failures, is_outdated=any(each.is_outdated for each in registrations))


async def _report(registrations: Sequence[Registration], served: bytes | None, *, is_new: bool) -> None:
    """Tell probes whether API servers accept a chain; one that they have accepted is not doubted unless it is known."""
    assert served is not None  # noqa: S101 -- a replica without a chain serves the first that there is
    certificate = x509.load_pem_x509_certificate(served)
    for each in registrations:
        if each.live is not None and not accepts(each.live, certificate):
            await ReportTrust(f"{each.wanted['kind']} {each.key} does not trust the serving certificate")
            return
    unknown = next((each.failure for each in registrations if each.is_unknown), None)
    if unknown is None or is_new:
        await ReportTrust(str(unknown) if unknown else None)


def _is_settled(registration: Registration) -> bool:
    """True if an object trusts what it has to, or does not exist."""
    if registration.live is None:
        return not registration.is_unknown
    return not (registration.failure or registration.is_outdated)


def _is_valid(replica: Replica, now: datetime) -> bool:
    """True if a replica serves a certificate that has not expired: better than one that is not trusted yet."""
    return replica.served is not None and not has_expired(x509.load_pem_x509_certificate(replica.served), now)


async def _trusting(registration: Registration, content: Material) -> Registration:
    """A registration that trusts all authorities, if it registers anything and if that can be written."""
    live = registration.live
    if live is None or all(trusts(live, each) for each in content.authorities):
        return registration
    return await _written(registration, with_trust(live, content.authorities), "authorities-added")


async def _registered(registration: Registration, content: Material, replica: Replica) -> Registration:
    """A registration as it has to be, if this replica may write it."""
    live, wanted = registration.live, registration.wanted
    if live is None or not _is_settled(registration):
        return registration
    if not is_marked(live):
        is_idle = is_empty(live) and not is_empty(wanted)
        return registration.failing(UNMARKED) if is_idle else registration
    webhooks = corrected(live, wanted, content.authorities)
    if webhooks == list(live.get(WEBHOOKS) or ()):
        return registration
    if is_empty(live):
        return await _written(registration, webhooks, "webhooks-served")
    return await _written(registration, webhooks, "registration-corrected") if replica.leads else registration


async def _written(registration: Registration, webhooks: Sequence[Manifest], reason: str) -> Registration:
    """A registration after its webhooks were written, of that very version."""
    assert registration.live is not None  # noqa: S101 -- see the callers
    version = resource_version_of(registration.live)
    patch = MergePatch(
        registration.resource,
        registration.key,
        {WEBHOOKS: list(webhooks)},
        reason,
        resource_version=version,
        cluster=Cluster.TARGET,
    )
    result = await patch
    if result.error is not None and result.error.reason == CONFLICT:
        return replace(registration, is_outdated=True)
    if result.error is not None:
        return registration.failing(f"cannot be written: {result.error.message}")
    return replace(registration, live=result.stored)
