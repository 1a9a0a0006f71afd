"""How replicas agree on certificates: by the one Secret, whose version every write names.

Decides with the Secret as it was read, and makes at most one change. If another replica has written in between, the
write is refused, and the next turn reads the Secret again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from hedgerow.admission.provisioning.issuance import Issuance, Lifetimes, authority_name, dropped
from hedgerow.admission.provisioning.material import Material, material, secret_with
from hedgerow.admission.provisioning.registrations import survivors, trusts
from hedgerow.admission.provisioning.rotation import Change, Due, Situation, idle, what_is_due
from hedgerow.admission.provisioning.steps import MakeKeys
from hedgerow.api.kubernetes import SECRETS
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import Manifest, ObjectKey, uid_of
from hedgerow.machinery.plan import ApiError, Event, RecordEvents, Update
from hedgerow.machinery.steps import Now

_EVENTS: Final = {
    Change.REPLACE: "WebhookAuthorityMade",
    Change.RENEW: "WebhookCertificateMade",
    Change.ANNOUNCE: "WebhookAuthorityAnnounced",
    Change.SWITCH: "WebhookAuthorityRotated",
    Change.DROP: "WebhookAuthorityDropped",
}


@dataclass(frozen=True, slots=True)
class ProvisioningConfig:
    """Where the certificates are kept, for which server, and who has to trust them."""

    secret: ObjectKey
    """In the source cluster."""
    names: tuple[str, ...]
    """The DNS names and IP addresses under which API servers reach the server."""
    registrations: tuple[Manifest, ...]
    """The registration objects in the target cluster, as they have to be but for the authorities of the Secret."""
    lifetimes: Lifetimes


async def agreed(
    stored: Manifest, registrations: Sequence[Manifest], config: ProvisioningConfig, *, are_all_known: bool
) -> Material | ApiError | None:
    """The certificates once what is due is stored, or why it is not.

    None while there are none that can be used, and a registration cannot be read: other replicas may serve by an
    authority that it trusts, and that has to survive.

    Args:
        stored: the Secret; without data at first, as the installation has it.
        registrations: the registration objects that exist, read before the Secret.
        config: whose certificates they are.
        are_all_known: false if a registration could not be read.
    """
    now = await Now()
    content = material(stored) if stored.get("data") else None
    due = _due(content, registrations, config, now, are_all_known=are_all_known)
    if due is None:
        assert isinstance(content, Material)  # noqa: S101 -- otherwise a new authority is due
        return content
    if due.change is Change.REPLACE and not are_all_known:
        return None
    made = await _made(due, content, Issuance(config.names, config.lifetimes, now), registrations)
    result = await Update(SECRETS, secret_with(made, stored), due.change.value, cluster=Cluster.SOURCE)
    if result.error is not None:
        return result.error
    await RecordEvents((_event(config.secret, stored, due),))
    return made


def _due(
    content: Material | str | None,
    registrations: Sequence[Manifest],
    config: ProvisioningConfig,
    now: datetime,
    *,
    are_all_known: bool,
) -> Due | None:
    if content is None:
        return Due(Change.REPLACE, "the Secret holds nothing yet")
    if isinstance(content, str):
        return Due(Change.REPLACE, content, is_foreign=True)
    follower = content.following
    is_trusted = follower is not None and all(trusts(each, follower.certificate) for each in registrations)
    situation = Situation(
        content=content, names=config.names, now=now, follower_is_trusted=is_trusted and are_all_known
    )
    return what_is_due(situation)


async def _made(
    due: Due, content: Material | str | None, issuance: Issuance, registrations: Sequence[Manifest]
) -> Material:
    """What the Secret is to hold."""
    keys = await MakeKeys(due.change.keys) if due.change.keys else ()
    if not isinstance(content, Material) or due.change is Change.REPLACE:
        name = authority_name(issuance.names)
        return issuance.anew(keys, survivors(registrations, name, issuance.now))
    match due.change:
        case Change.RENEW:
            return issuance.renewed(content, keys[0])
        case Change.ANNOUNCE:
            return issuance.announced(content, keys[0])
        case Change.SWITCH:
            return issuance.switched(content, keys[0])
        case Change.DROP:
            return dropped(content, idle(content, issuance.now))


def _event(key: ObjectKey, secret: Manifest, due: Due) -> Event:
    reason = _EVENTS[due.change]
    note = f"{due.change.value}: {due.because}"
    return Event(
        SECRETS, key, uid_of(secret), "Warning" if due.is_foreign else "Normal", reason, note, cluster=Cluster.SOURCE
    )
