"""New authorities and pairs, and what the Secret holds after each change.

Keys, serial numbers and the time are arguments, so the same arguments make the same certificates.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from cryptography import x509

from hedgerow.admission.certificates import (
    LONGEST_COMMON_NAME,
    Authority,
    Issue,
    certificate_authority,
    certificate_for,
)
from hedgerow.admission.provisioning.material import Material, Pair
from hedgerow.admission.provisioning.steps import NewKey

MOST_SKEW: Final = timedelta(hours=1)
"""Certificates are valid from so long before they are made, so that clocks that are behind accept them."""
SKEW: Final = 0.01
"""The same for short lives, as a part of them."""


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """For how long certificates are valid."""

    certificate: timedelta
    authority: timedelta


@dataclass(frozen=True, slots=True)
class Issuance:
    """For whom certificates are made, and when."""

    names: tuple[str, ...]
    """The DNS names and IP addresses of the server."""
    lifetimes: Lifetimes
    now: datetime

    def anew(self, keys: Sequence[NewKey], survivors: Sequence[x509.Certificate]) -> Material:
        """A new authority and a pair; authorities survive by which others may serve a moment longer."""
        for_authority, for_pair = keys
        signer = self._authority(for_authority)
        return Material(signer, self._pair(for_pair, signer), tuple(survivors))

    def renewed(self, content: Material, key: NewKey) -> Material:
        """The content with a new pair of the same authority."""
        return replace(content, pair=self._pair(key, content.signer))

    def announced(self, content: Material, key: NewKey) -> Material:
        """The content with an authority that signs nothing yet."""
        following = self._authority(key)
        return replace(content, following=following, others=(*content.others, following.certificate))

    def switched(self, content: Material, key: NewKey) -> Material:
        """The content after the announced authority has signed a pair; the one before stays trusted."""
        assert content.following is not None  # noqa: S101 -- otherwise nobody switches
        signer, before = content.following, content.signer.certificate
        others = (before, *(each for each in content.others if each != signer.certificate))
        return Material(signer, self._pair(key, signer), others)

    def _authority(self, key: NewKey) -> Authority:
        life = self.lifetimes.authority
        issue = Issue(key.serial_number, self.now - _skew(life), self.now + life)
        return certificate_authority(key.key, issue, authority_name(self.names))

    def _pair(self, key: NewKey, signer: Authority) -> Pair:
        """A pair that does not outlive its authority."""
        life, authority = self.lifetimes.certificate, signer.certificate
        begin = max(self.now - _skew(life), authority.not_valid_before_utc)
        issue = Issue(key.serial_number, begin, min(self.now + life, authority.not_valid_after_utc))
        return Pair(certificate_for(self.names, key.key.public_key(), signer, issue), key.key)


def dropped(content: Material, expired: Sequence[x509.Certificate]) -> Material:
    """The content without authorities whose certificates no replica serves any more."""
    following = content.following
    return replace(
        content,
        others=tuple(each for each in content.others if each not in expired),
        following=None if following is not None and following.certificate in expired else following,
    )


def authority_name(names: Sequence[str]) -> str:
    """What authorities of a server are called."""
    return f"ca-{names[0]}"[:LONGEST_COMMON_NAME]


def skew(certificate: x509.Certificate) -> timedelta:
    """How long before it was made a certificate is valid."""
    return _skew(certificate.not_valid_after_utc - certificate.not_valid_before_utc)


def _skew(life: timedelta) -> timedelta:
    return min(MOST_SKEW, SKEW * life)
