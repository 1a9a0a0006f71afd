"""What is due with the certificates of the Secret.

    authority A signs ── 80 % of its life ──▶ A signs, B is announced ── every API server trusts both ──▶ B signs
                                                                            A is dropped a day later

A pair is renewed at 80 % of its life. What is not valid yet was made by a clock that is ahead, and is made anew.

Decides from the content of the Secret, the time, the names of the server, and whether the registrations trust the
announced authority.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from cryptography import x509

from hedgerow.admission.certificates import general_names
from hedgerow.admission.provisioning.issuance import skew
from hedgerow.admission.provisioning.material import Material, Pair, is_signed_by

RENEWED_AT: Final = 0.8
"""The part of a certificate's life after which the next one is made."""

GRACE: Final = timedelta(days=1)
"""For how long authorities are trusted that have signed nothing in use."""


class Change(StrEnum):
    """What is due; the value is the reason of the write."""

    REPLACE = "authority-made"
    """A new authority and a new pair; nothing of the Secret can be used."""
    RENEW = "certificate-made"
    """A new pair."""
    ANNOUNCE = "authority-announced"
    """A new authority, which signs nothing yet."""
    SWITCH = "authority-rotated"
    """The announced authority signs from now on, and at first a new pair."""
    DROP = "authority-dropped"
    """Authorities that do not sign any more are forgotten."""

    @property
    def keys(self) -> int:
        """How many new keys it needs."""
        return {Change.REPLACE: 2, Change.DROP: 0}.get(self, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """All that is looked at."""

    content: Material
    names: tuple[str, ...]
    """What the server is called: DNS names and IP addresses."""
    now: datetime
    follower_is_trusted: bool
    """True if every registration trusts the announced authority."""


@dataclass(frozen=True, slots=True)
class Due:
    """A change, and why; the reason is a clause for people."""

    change: Change
    because: str
    is_foreign: bool = False
    """True if somebody else has filled the Secret."""


def signer_has_expired(situation: Situation) -> Due | None:
    """Nobody accepts what an expired authority signs."""
    if has_expired(situation.content.signer.certificate, situation.now):
        return Due(Change.REPLACE, "the authority has expired")
    return None


def signer_is_not_valid_yet(situation: Situation) -> Due | None:
    """Nobody accepts yet what it signs."""
    begin = situation.content.signer.certificate.not_valid_before_utc
    if situation.now >= begin:
        return None
    return Due(Change.REPLACE, f"the authority is valid only from {_stamp(begin)}: a clock is wrong")


def follower_can_sign(situation: Situation) -> Due | None:
    """API servers learn of a registration a while after it was written; until then they trust its predecessor."""
    follower = situation.content.following
    if follower is None or not situation.follower_is_trusted:
        return None
    certificate = follower.certificate
    # Twice: the certificate is valid from one such time before it was made.
    is_settled = situation.now >= certificate.not_valid_before_utc + 2 * skew(certificate)
    return Due(Change.SWITCH, "every registration trusts the next authority") if is_settled else None


def pair_cannot_be_used(situation: Situation) -> Due | None:
    """The Secret was filled by somebody else."""
    pair = situation.content.pair
    return Due(Change.RENEW, pair, is_foreign=True) if isinstance(pair, str) else None


def pair_is_of_another_authority(situation: Situation) -> Due | None:
    """No registration would trust it."""
    pair = situation.content.pair
    if isinstance(pair, str) or issuer_of(pair.certificate, situation.content) is not None:
        return None
    return Due(Change.RENEW, "none of the authorities has signed tls.crt", is_foreign=True)


def pair_is_for_other_names(situation: Situation) -> Due | None:
    """API servers compare the names with the one that they call."""
    pair = situation.content.pair
    if isinstance(pair, str) or names_in(pair.certificate) == set(general_names(situation.names)):
        return None
    return Due(Change.RENEW, "tls.crt is for other names")


def pair_is_not_valid_yet(situation: Situation) -> Due | None:
    """API servers refuse it."""
    pair = situation.content.pair
    if isinstance(pair, str) or situation.now >= (begin := pair.certificate.not_valid_before_utc):
        return None
    return Due(Change.RENEW, f"tls.crt is valid only from {_stamp(begin)}: a clock is wrong")


def pair_is_due(situation: Situation) -> Due | None:
    """Renewed early enough that people can help where that fails."""
    pair = situation.content.pair
    if isinstance(pair, str) or not is_due(pair.certificate, situation.now):
        return None
    return Due(Change.RENEW, f"tls.crt expires at {_stamp(pair.certificate.not_valid_after_utc)}")


def signer_is_due(situation: Situation) -> Due | None:
    """Announced early enough that every API server knows the next authority before it signs."""
    content = situation.content
    if content.following is not None or not is_due(content.signer.certificate, situation.now):
        return None
    expiry = content.signer.certificate.not_valid_after_utc
    return Due(Change.ANNOUNCE, f"the authority expires at {_stamp(expiry)}")


def others_are_idle(situation: Situation) -> Due | None:
    """Nobody serves what they have signed any more; trust in them helps only who has got hold of a key."""
    if idle(situation.content, situation.now):
        return Due(Change.DROP, "an authority does not sign any more")
    return None


RULES: Final[tuple[Callable[[Situation], Due | None], ...]] = (
    signer_has_expired,
    signer_is_not_valid_yet,
    follower_can_sign,
    pair_cannot_be_used,
    pair_is_of_another_authority,
    pair_is_for_other_names,
    pair_is_not_valid_yet,
    pair_is_due,
    signer_is_due,
    others_are_idle,
)


def what_is_due(situation: Situation) -> Due | None:
    """The first change that is due; none: all is well."""
    return next((due for rule in RULES if (due := rule(situation))), None)


def issuer_of(certificate: x509.Certificate, content: Material) -> x509.Certificate | None:
    """The authority that has signed a certificate; none if it is not among those of the Secret."""
    return next((each for each in content.authorities if is_signed_by(certificate, each)), None)


def idle(content: Material, now: datetime) -> list[x509.Certificate]:
    """The authorities that sign nothing: a day after the present pair was made every replica serves that."""
    following, pair = content.following, content.pair
    is_settled = (
        isinstance(pair, Pair) and now >= pair.certificate.not_valid_before_utc + skew(pair.certificate) + GRACE
    )
    return [
        each
        for each in content.others
        if has_expired(each, now) or (is_settled and (following is None or each != following.certificate))
    ]


def is_due(certificate: x509.Certificate, now: datetime) -> bool:
    """True if most of its life is over."""
    life = certificate.not_valid_after_utc - certificate.not_valid_before_utc
    return now >= certificate.not_valid_before_utc + RENEWED_AT * life


def has_expired(certificate: x509.Certificate, now: datetime) -> bool:
    """True if nobody accepts it any more."""
    return now >= certificate.not_valid_after_utc


def _stamp(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"


def names_in(certificate: x509.Certificate) -> set[x509.GeneralName]:
    """The names and addresses of the server that a certificate is for."""
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except (x509.ExtensionNotFound, ValueError):
        return set()
    return set(found.value)
