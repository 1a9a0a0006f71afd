"""What the certificates say by which API servers trust the webhook server: an authority's, and the server's own.

Makes them from keys that are given; randomness and time are arguments, so the same arguments make the same certificate.

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

from hedgerow.admission.registration.configurations import service_name
from hedgerow.machinery.names import dns_subdomain_problem

KEY_BITS: Final = 3072
"""Of the RSA keys."""
AUTHORITY_NAME: Final = "ca-gardener-resource-manager"
_NO_USAGE: Final = dict.fromkeys(
    (
        "digital_signature",
        "content_commitment",
        "key_encipherment",
        "data_encipherment",
        "key_agreement",
        "key_cert_sign",
        "crl_sign",
        "encipher_only",
        "decipher_only",
    ),
    False,
)
_SIGNING_CERTIFICATES: Final = {**_NO_USAGE, "digital_signature": True, "key_cert_sign": True, "crl_sign": True}
_SERVING: Final = {**_NO_USAGE, "digital_signature": True, "key_encipherment": True}


@dataclass(frozen=True, slots=True)
class Issue:
    """What no two certificates of an authority share, and how long one is valid."""

    serial_number: int
    not_before: datetime
    not_after: datetime


@dataclass(frozen=True, slots=True)
class Authority:
    """Who signs serving certificates."""

    certificate: x509.Certificate
    key: RSAPrivateKey


def certificate_authority(key: RSAPrivateKey, issue: Issue) -> Authority:
    """An authority for webhook servers, which signs its own certificate and cannot have others below it."""
    name = _common_name(AUTHORITY_NAME)
    builder = _certificate(name, name, key.public_key(), key.public_key(), issue)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(x509.KeyUsage(**_SIGNING_CERTIFICATES), critical=True)
    return Authority(builder.sign(key, SHA256()), key)


def serving_certificate(
    name_prefix: str,
    namespace: str,
    key: RSAPublicKey,
    authority: Authority,
    issue: Issue,
    *,
    hosts: Sequence[str] = (),
) -> x509.Certificate:
    """The certificate of a webhook server, good for serving alone.

    Args:
        name_prefix: what the names of the server's objects start with.
        namespace: where its Service is.
        key: the public part of the server's.
        authority: who signs.
        issue: of this certificate.
        hosts: DNS names and IP addresses under which the server is reached beside its Service.

    Source: webhooks-and-tokens §3.1.
    """
    signer = authority.certificate
    builder = _certificate(
        _common_name(service_name(name_prefix)), signer.subject, key, authority.key.public_key(), issue
    )
    names = dict.fromkeys((*dns_names(name_prefix, namespace), *hosts))
    builder = builder.add_extension(x509.SubjectAlternativeName(list(map(_general_name, names))), critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    builder = builder.add_extension(x509.KeyUsage(**_SERVING), critical=True)
    builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    return builder.sign(authority.key, SHA256())


def dns_names(name_prefix: str, namespace: str) -> tuple[str, ...]:
    """The names under which API servers reach the webhook server."""
    service = service_name(name_prefix)
    return (
        service,
        f"{service}.{namespace}",
        f"{service}.{namespace}.svc",
        f"{service}.{namespace}.svc.cluster.local",
    )


def host_problem(host: str) -> str | None:
    """What keeps a text from being the name or the address of a server in its certificate; none if nothing."""
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
    is_scoped = isinstance(address, IPv6Address) and address.scope_id is not None
    return None if is_scoped else address


def only_certificates(pem: bytes) -> Result[bytes, str]:
    """The certificates of a PEM text and nothing else that may stand in it, or why there are none, as one clause."""
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
    subject: x509.Name, issuer: x509.Name, key: RSAPublicKey, issuer_key: RSAPublicKey, issue: Issue
) -> x509.CertificateBuilder:
    """What certificates of both sorts say."""
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
    )
