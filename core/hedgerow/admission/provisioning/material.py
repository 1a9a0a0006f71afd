"""The content of the Secret out of which all replicas serve: authorities, and the pair that one of them has signed.

    ca.crt       every authority that may have signed a pair in use, the signing one first
    ca.key       of the authority that signs
    next-ca.key  of the one that is going to sign, once all API servers trust it
    tls.crt      the serving certificate
    tls.key      its key

Whatever else stands in the Secret stays.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from hedgerow.admission.certificates import Authority, PrivateKey, certificate_pem, key_pem
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import object_at

AUTHORITIES: Final = "ca.crt"
SIGNING_KEY: Final = "ca.key"
FOLLOWING_KEY: Final = "next-ca.key"
CERTIFICATE: Final = "tls.crt"
KEY: Final = "tls.key"


@dataclass(frozen=True, slots=True, repr=False)
class Pair:
    """A serving certificate with its key."""

    certificate: x509.Certificate
    key: PrivateKey


@dataclass(frozen=True, slots=True, repr=False)
class Material:
    """The content of the Secret as far as its authority can be used."""

    signer: Authority
    pair: Pair | str
    """Or why there is none that can be used."""
    others: tuple[x509.Certificate, ...] = ()
    """The authorities that do not sign, or not any more."""
    following: Authority | None = None
    """The one among the others that is going to sign."""

    @property
    def authorities(self) -> tuple[x509.Certificate, ...]:
        """All that registrations have to trust."""
        return (self.signer.certificate, *self.others)


class _UnusableError(Exception):
    """A part of the Secret cannot be used; the text is one clause."""


def material(secret: Manifest) -> Material | str:
    """The content of a Secret, or why its authority cannot be used; never shows what stands there."""
    try:
        data = object_at(secret, "data")
        authorities = _certificates(data, AUTHORITIES)
        signer = _authority(data, SIGNING_KEY, authorities)
    except _UnusableError as problem:
        return str(problem)
    try:
        following = _authority(data, FOLLOWING_KEY, authorities)
    except _UnusableError:
        following = None  # a new one is made when it is due
    others = tuple(each for each in dict.fromkeys(authorities) if each != signer.certificate)
    return Material(signer, _pair(data), others, following)


def secret_with(content: Material, stored: Manifest) -> Manifest:
    """The Secret with a content; what else stands in it stays."""
    assert isinstance(content.pair, Pair)  # noqa: S101 -- nobody stores what cannot be served
    data = {
        AUTHORITIES: bundle(content.authorities),
        SIGNING_KEY: key_pem(content.signer.key),
        CERTIFICATE: certificate_pem(content.pair.certificate),
        KEY: key_pem(content.pair.key),
        **({FOLLOWING_KEY: key_pem(content.following.key)} if content.following else {}),
    }
    encoded = {name: b64encode(value).decode("ascii") for name, value in data.items()}
    kept = {name: each for name, each in (stored.get("data") or {}).items() if name != FOLLOWING_KEY}
    return {**stored, "data": {**kept, **encoded}}


def bundle(authorities: Sequence[x509.Certificate]) -> bytes:
    """Certificates in PEM, each once."""
    return b"".join(map(certificate_pem, dict.fromkeys(authorities)))


def is_signed_by(certificate: x509.Certificate, authority: x509.Certificate) -> bool:
    """True if an authority has signed a certificate."""
    try:
        certificate.verify_directly_issued_by(authority)
    except (InvalidSignature, TypeError, ValueError):
        return False
    return True


def _read(data: Mapping[str, Any], name: str) -> bytes:
    value = data.get(name)
    if not isinstance(value, str) or not value:
        raise _UnusableError(f"{name} is missing")
    try:
        return b64decode(value, validate=True)
    except ValueError as error:
        raise _UnusableError(f"{name} is not encoded with base64") from error


def _certificates(data: Mapping[str, Any], name: str) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(_read(data, name))
    except ValueError as error:
        raise _UnusableError(f"{name} holds no certificate in PEM, or one that cannot be read") from error


def _key(data: Mapping[str, Any], name: str) -> PrivateKey:
    try:
        key = load_pem_private_key(_read(data, name), password=None)
    except (TypeError, ValueError, UnsupportedAlgorithm) as error:
        raise _UnusableError(f"{name} holds no private key in PEM, or one that cannot be read") from error
    if not isinstance(key, RSAPrivateKey | EllipticCurvePrivateKey):
        raise _UnusableError(f"{name} is of a kind that is not used for webhooks")
    return key


def _authority(data: Mapping[str, Any], name: str, authorities: Sequence[x509.Certificate]) -> Authority:
    key = _key(data, name)
    for certificate in authorities:
        if _belong_together(certificate, key):
            return Authority(certificate, key)
    raise _UnusableError(f"{name} belongs to no certificate in {AUTHORITIES}")


def _pair(data: Mapping[str, Any]) -> Pair | str:
    try:
        certificate, key = _certificates(data, CERTIFICATE)[0], _key(data, KEY)
    except _UnusableError as problem:
        return str(problem)
    if not _belong_together(certificate, key):
        return f"{CERTIFICATE} and {KEY} do not belong together"
    return Pair(certificate, key)


def _belong_together(certificate: x509.Certificate, key: PrivateKey) -> bool:
    try:
        return cast("object", certificate.public_key()) == key.public_key()
    except (ValueError, UnsupportedAlgorithm):
        return False
