"""Certificates of a test's own authority, for a server and for nodes."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA1, SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

EXPONENT = 65537
BITS = 2048


class Authority:
    """An authority that signs certificates."""

    def __init__(self) -> None:
        self._key = generate_private_key(EXPONENT, BITS)
        self._name = _named("authority")
        self.certificate = self._signed(self._name, self._key, x509.BasicConstraints(ca=True, path_length=0))

    def issue(self, name: str, folder: Path) -> str:
        """Write `ca.crt`, `tls.crt` and `tls.key` for a name into a folder; the certificate's fingerprint."""
        folder.mkdir(parents=True, exist_ok=True)
        key = generate_private_key(EXPONENT, BITS)
        certificate = self._signed(_named(name), key, x509.SubjectAlternativeName([x509.DNSName(name)]))
        (folder / "ca.crt").write_bytes(self.certificate.public_bytes(Encoding.PEM))
        (folder / "tls.crt").write_bytes(certificate.public_bytes(Encoding.PEM))
        private = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
        (folder / "tls.key").write_bytes(private)
        return "SHA1:" + certificate.fingerprint(SHA1()).hex(":").upper()  # noqa: S303 -- what librelp compares

    def _signed(self, name: x509.Name, key: RSAPrivateKey, extension: x509.ExtensionType) -> x509.Certificate:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
            .sign(self._key, SHA256())
        )


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
