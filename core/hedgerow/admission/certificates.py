"""The certificates by which API servers trust the webhook server: an authority's, and the server's own.

Keys, serial numbers and times are arguments, so the same arguments make the same certificate.

Source: webhooks-and-tokens §3.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from returns.result import Failure, Result, Success

from hedgerow.machinery.names import dns_subdomain_problem

KEY_BITS: Final = 3072


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
    key: RSAPrivateKey


def certificate_authority(key: RSAPrivateKey, issue: Issue) -> Authority:
    """An authority for webhook servers, signed by itself; it cannot have others below it."""
    name = _common_name("ca-gardener-resource-manager")
    builder = _certificate(name, name, key.public_key(), key.public_key(), issue, is_authority=True)
    return Authority(builder.sign(key, SHA256()), key)


def serving_certificate(
    service: str,
    namespace: str,
    key: RSAPublicKey,
    authority: Authority,
    issue: Issue,
    *,
    hosts: Sequence[str] = (),
) -> x509.Certificate:
    """The certificate of a webhook server, for serving only.

    `hosts` are DNS names and IP addresses of the server beside those of its Service.
    """
    subject, issuer = _common_name(service), authority.certificate.subject
    builder = _certificate(subject, issuer, key, authority.key.public_key(), issue, is_authority=False)
    names = dict.fromkeys((*dns_names(service, namespace), *hosts))
    builder = builder.add_extension(x509.SubjectAlternativeName(list(map(_general_name, names))), critical=False)
    builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    return builder.sign(authority.key, SHA256())


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


def _common_name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    key: RSAPublicKey,
    issuer_key: RSAPublicKey,
    issue: Issue,
    *,
    is_authority: bool,
) -> x509.CertificateBuilder:
    unused = ("content_commitment", "data_encipherment", "key_agreement", "encipher_only", "decipher_only")
    usage = x509.KeyUsage(
        digital_signature=True,
        key_encipherment=not is_authority,
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
