"""Tells which public key a certificate or a private key in PEM is of."""

from base64 import b64decode
from hashlib import sha256
from typing import Final

MOST: Final = 4096
"""Values that are remembered, by digests: the values themselves are secret."""
_known: Final[dict[tuple[str, bytes], bytes | None]] = {}


def public_key(kind: str, value: object) -> bytes | None:
    """The public key of the first certificate, or of the private key, that a value of a Secret holds.

    Args:
        kind: `certificate`, or else a private key.
        value: encoded in base64.

    Returns:
        None if it holds none, or an encrypted one; empty for an algorithm that is not known here.
    """
    if not isinstance(value, str):
        return None
    digest = kind, sha256(value.encode(errors="replace")).digest()
    if digest not in _known:
        if len(_known) == MOST:
            _known.clear()
        _known[digest] = _read(kind, value)
    return _known[digest]


def _read(kind: str, value: str) -> bytes | None:
    # Costs memory and time that only who asks is to spend.
    from cryptography import x509  # noqa: PLC0415 -- see above
    from cryptography.exceptions import UnsupportedAlgorithm  # noqa: PLC0415 -- see above
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
            else load_pem_private_key(pem, None, unsafe_skip_rsa_key_validation=True)
        )
        return holder.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    except UnsupportedAlgorithm:
        return b""
    except (TypeError, ValueError):
        return None
