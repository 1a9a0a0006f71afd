"""New keys and serial numbers, which take randomness, and how keys are written to files."""

from datetime import datetime, timedelta
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from hedgerow.admission.certificates import KEY_BITS, Issue

_PUBLIC_EXPONENT: Final = 65537
_TOLERATED_CLOCK_SKEW: Final = timedelta(minutes=5)


def generate_key() -> rsa.RSAPrivateKey:
    """A new RSA key."""
    return rsa.generate_private_key(_PUBLIC_EXPONENT, KEY_BITS)


def new_issue(now: datetime, validity: timedelta) -> Issue:
    """A new serial number, valid from a moment before `now`, so that clocks that are behind accept it too."""
    return Issue(x509.random_serial_number(), now - _TOLERATED_CLOCK_SKEW, now + validity)


def key_pem(key: rsa.RSAPrivateKey) -> bytes:
    """A private key as servers read it from files, not encrypted."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
