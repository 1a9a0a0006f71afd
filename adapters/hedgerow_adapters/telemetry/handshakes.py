"""Why a TLS handshake failed, as one of a few constant words.

Decides from the problem as the server reports it: the name that OpenSSL gives it, or the text of another error.

Source: RFC 8446 §6.2, for the alerts by which a client refuses a certificate.
"""

import re
from enum import StrEnum
from typing import Final

_OF_OPENSSL: Final = re.compile(r"[A-Z0-9]+(_[A-Z0-9]+)+")


class HandshakeFailure(StrEnum):
    """The reasons, as metrics show them."""

    UNTRUSTED_CERTIFICATE = "untrusted-certificate"
    """The client refused the server's certificate: signed by an unknown authority, expired, or for other names."""
    CLIENT_CERTIFICATE = "client-certificate"
    """The client showed no certificate although it must, or one that the server refused."""
    PROTOCOL = "protocol"
    """The client spoke no TLS, or none that the server speaks."""
    TIMEOUT = "timeout"
    OTHER = "other"
    """Such as a connection that was reset."""


def handshake_failure(problem: str) -> HandshakeFailure:
    """The reason of a problem."""
    if "ALERT" in problem and ("CERTIFICATE" in problem or "UNKNOWN_CA" in problem):
        return HandshakeFailure.UNTRUSTED_CERTIFICATE
    if problem in {"CERTIFICATE_VERIFY_FAILED", "the client showed no certificate"}:
        return HandshakeFailure.CLIENT_CERTIFICATE
    if problem == "TimeoutError" or "taking longer than" in problem:
        return HandshakeFailure.TIMEOUT
    return HandshakeFailure.PROTOCOL if _OF_OPENSSL.fullmatch(problem) else HandshakeFailure.OTHER
