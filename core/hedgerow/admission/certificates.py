"""The certificates by which API servers trust the webhook server: an authority's, and the server's own.

Keys, serial numbers and times are arguments, so the same arguments make the same certificate.

Source: webhooks-and-tokens §3.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final, TypeAlias

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from returns.result import Failure, Result, Success

from hedgerow.machinery.names import dns_subdomain_problem

KEY_BITS: Final = 3072
LONGEST_COMMON_NAME: Final = 64
RESOURCE_MANAGERS: Final = "ca-gardener-resource-manager"
PrivateKey: TypeAlias = RSAPrivateKey | EllipticCurvePrivateKey
PublicKey: TypeAlias = RSAPublicKey | EllipticCurvePublicKey


@dataclass(frozen=True, slots=True)
class Issue:
    """Serial number and validity of one certificate."""

    serial_number: int
    not_before: datetime
    not_after: datetime


@dataclass(frozen=True, slots=True)
class Authority:
    """Who signs serving certificates."""

    certificate: x509.Certificate
    key: PrivateKey


def certificate_authority(key: PrivateKey, issue: Issue, name: str = RESOURCE_MANAGERS) -> Authority:
    """An authority for webhook servers, signed by itself; it cannot have others below it."""
    subject = _common_name(name)
    builder = _certificate(subject, subject, key.public_key(), key.public_key(), issue, is_authority=True)
    return Authority(_signed(builder, key), key)


def serving_certificate(
    service: str,
    namespace: str,
    key: PublicKey,
    authority: Authority,
    issue: Issue,
    *,
    hosts: Sequence[str] = (),
) -> x509.Certificate:
    """The certificate of a webhook server, for serving only.

    `hosts` are DNS names and IP addresses of the server beside those of its Service.
    """
    return certificate_for((*dns_names(service, namespace), *hosts), key, authority, issue)


def certificate_for(names: Sequence[str], key: PublicKey, authority: Authority, issue: Issue) -> x509.Certificate:
    """The certificate of a server with these DNS names and IP addresses, of which the first is its subject."""
    subject, issuer = _common_name(names[0][:LONGEST_COMMON_NAME]), authority.certificate.subject
    builder = _certificate(subject, issuer, key, authority.key.public_key(), issue, is_authority=False)
    alternatives = x509.SubjectAlternativeName(general_names(names))
    builder = builder.add_extension(alternatives, critical=False)
    builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    return _signed(builder, authority.key)


def _signed(builder: x509.CertificateBuilder, key: PrivateKey) -> x509.Certificate:
    """The certificate; an elliptic curve's signature usually depends on chance, this one does not."""
    return builder.sign(key, SHA256(), ecdsa_deterministic=isinstance(key, EllipticCurvePrivateKey) or None)


def general_names(names: Sequence[str]) -> list[x509.GeneralName]:
    """DNS names and IP addresses as certificates hold them, each once."""
    return [_general_name(name) for name in dict.fromkeys(names)]


def dns_names(service: str, namespace: str) -> tuple[str, ...]:
    """The names under which API servers reach the webhook server."""
    return (service, *(f"{service}.{namespace}{domain}" for domain in ("", ".svc", ".svc.cluster.local")))


def host_problem(host: str) -> str | None:
    """Why a text cannot be a name or address of a server in its certificate; none: it can be."""
    if _address(host) is not None or dns_subdomain_problem(host) is None:
        return None
    return "must be an IP address or a DNS name in lower case"


def _general_name(host: str) -> x509.GeneralName:
    address = _address(host)
    return x509.DNSName(host) if address is None else x509.IPAddress(address)


def _address(host: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(host)
    except ValueError:
        return None
    return None if "%" in host else address  # no certificate names the zone of an address


def only_certificates(pem: bytes) -> Result[bytes, str]:
    """The certificates in a PEM text, without anything else in it; or why there are none, as one clause."""
    try:
        certificates = x509.load_pem_x509_certificates(pem)
    except ValueError:
        return Failure("holds no certificate in PEM, or one that cannot be read")
    return Success(b"".join(map(certificate_pem, certificates)))


def certificate_pem(certificate: x509.Certificate) -> bytes:
    """A certificate as files and registration objects hold it."""
    return certificate.public_bytes(Encoding.PEM)


def key_pem(key: PrivateKey) -> bytes:
    """A private key as servers read it, not encrypted."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _common_name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: PublicKey,
    issuer_key: PublicKey,
    issue: Issue,
    *,
    is_authority: bool,
) -> x509.CertificateBuilder:
    unused = ("content_commitment", "data_encipherment", "key_agreement", "encipher_only", "decipher_only")
    usage = x509.KeyUsage(
        digital_signature=True,
        key_encipherment=isinstance(key, RSAPublicKey) and not is_authority,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        **dict.fromkeys(unused, False),
    )
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(issue.serial_number)
        .not_valid_before(issue.not_before)
        .not_valid_after(issue.not_after)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key), critical=False)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=0 if is_authority else None), critical=True)
        .add_extension(usage, critical=True)
    )
