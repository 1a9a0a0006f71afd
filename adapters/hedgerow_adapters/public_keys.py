"""Tells which public key a certificate or a private key in PEM is of.

Event loops wait for it, so what would take long to read is refused before it is parsed.
"""

import re
from base64 import b64decode
from hashlib import sha256
from typing import Final

MOST: Final = 4096
"""Values that are remembered, by digests: the values themselves are secret."""
LARGEST: Final = 16 * 1024
"""Characters of a private key in PEM; one of RSA with 16 384 bits has 12 700."""
_PRIVATE_KEY: Final = re.compile(
    rb"-----BEGIN ((?:RSA |EC )?PRIVATE KEY)-----([A-Za-z0-9+/\s]++={0,2}\s*+)-----END \1-----\n?"
)
_SLOW_ALGORITHMS: Final = tuple(
    map(bytes.fromhex, ("06072a8648ce380401", "06092a864886f70d010301", "06072a8648ce3e0201"))
)
"""DSA, and DH as PKCS #3 and X9.42 name it, as object identifiers in DER. To derive their public keys takes minutes for
large numbers, in which no other thread runs."""
_known: Final[dict[tuple[str, bytes], bytes | None]] = {}


def public_key(kind: str, value: object) -> bytes | None:
    """The public key of the first certificate, or of the private key, that a value of a Secret holds.

    Args:
        kind: `certificate`, or else a private key.
        value: encoded in base64.

    Returns:
        None if it holds none, an encrypted one, or a key of DSA or DH; empty for an algorithm that is not known here.
    """
    if not isinstance(value, str):
        return None
    digest = kind, sha256(value.encode(errors="replace")).digest()
    # Asked once, as another thread may clear it at any time.
    try:
        return _known[digest]
    except KeyError:
        found = _read(kind, value)
    if len(_known) >= MOST:
        _known.clear()
    _known[digest] = found
    return found


def _quickly_read(pem: bytes) -> bytes:
    """The first private key of a text, alone, as nothing else is to be parsed; raises ValueError for a slow one."""
    found = _PRIVATE_KEY.search(pem)
    if found is None or len(found[0]) > LARGEST:
        raise ValueError("no private key that is quickly read")
    der = b64decode(found[2])
    if any(algorithm in der for algorithm in _SLOW_ALGORITHMS):
        raise ValueError("a key of DSA or DH")
    return found[0]


def _read(kind: str, value: str) -> bytes | None:
    # Costs memory and time that only who asks is to spend.
    from cryptography import x509  # noqa: PLC0415 -- see above
    from cryptography.exceptions import InternalError, UnsupportedAlgorithm  # noqa: PLC0415 -- see above
    from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415 -- see above
        Encoding,
        PublicFormat,
        load_pem_private_key,
    )

    try:
        pem = b64decode(value, validate=True)
        # Whether a private key is a good one, which takes long to find out, is not asked.
        holder = (
            x509.load_pem_x509_certificate(pem)
            if kind == "certificate"
            else load_pem_private_key(_quickly_read(pem), None, unsafe_skip_rsa_key_validation=True)
        )
        return holder.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    except UnsupportedAlgorithm:
        return b""
    except (TypeError, ValueError, x509.InvalidVersion, InternalError):
        return None
