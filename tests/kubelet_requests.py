"""Certificate requests as kubelets make them, and as nobody should."""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from functools import cache
from ipaddress import ip_address
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

NODES_GROUP = "system:nodes"
USAGES = ("digital signature", "server auth")


@cache
def _key() -> EllipticCurvePrivateKey:
    return generate_private_key(SECP256R1())


def request_for(
    subject: x509.Name, names: Sequence[x509.GeneralName] | None = None
) -> x509.CertificateSigningRequestBuilder:
    """A request for that subject, to be signed; without names it has no extension for them."""
    builder = x509.CertificateSigningRequestBuilder().subject_name(subject)
    return builder if names is None else builder.add_extension(x509.SubjectAlternativeName(names), critical=False)


def signed(request: x509.CertificateSigningRequestBuilder, encoding: Encoding = Encoding.PEM) -> bytes:
    """A request with a signature, always of the same key: new ones take longer than tests that need many have."""
    return request.sign(_key(), SHA256()).public_bytes(encoding)


def kubelet_request(
    node: str, dns: Iterable[str], ips: Iterable[str], *, organizations: Iterable[str] = (NODES_GROUP,)
) -> bytes:
    """What the kubelet of a node sends, in PEM."""
    subject = x509.Name(
        [
            *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, each) for each in organizations),
            x509.NameAttribute(NameOID.COMMON_NAME, f"system:node:{node}"),
        ]
    )
    names = [*map(x509.DNSName, dns), *(x509.IPAddress(ip_address(each)) for each in ips)]
    return signed(request_for(subject, names or None))


def csr_manifest(name: str, pem: bytes, *, signer: str = "kubernetes.io/kubelet-serving") -> dict[str, Any]:
    """A new CertificateSigningRequest."""
    return {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": name},
        "spec": {"request": b64encode(pem).decode(), "signerName": signer, "usages": list(USAGES)},
    }
