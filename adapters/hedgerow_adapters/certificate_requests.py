"""Reads certificate requests that anybody may have made up, as strictly as they can be read.

Whoever signs a request reads it by other means than we do. So nothing is accepted that two readers may understand
differently; what is not is told by a clause, never by an exception.

Source: network-and-nodes §6.3; RFC 7468.
"""

import re
from base64 import b64decode
from typing import Final

from returns.result import Failure, Result

from hedgerow.resource_manager.kubelet_certificates import CertificateRequest

LARGEST: Final = 64 * 1024
"""Bytes of PEM: many times what the longest list of addresses takes."""

_BEGIN: Final = re.compile(rb"^-----BEGIN ", re.MULTILINE)
_BLOCK: Final = re.compile(
    rb"-----BEGIN CERTIFICATE REQUEST-----[ \t]*\r?\n"
    rb"([A-Za-z0-9+/=\r\n]*+)(?<=\n)"
    rb"-----END CERTIFICATE REQUEST-----[ \t]*+(?:\r?\n|\Z)"
)


def decoded_request(pem: bytes) -> Result[CertificateRequest, str]:
    """The content of the first PEM block of a text, or why it cannot be told, as one clause.

    The signature is not looked at: API servers store no request that its key has not signed.

    Args:
        pem: as a CertificateSigningRequest holds it, once that is decoded.
    """
    if len(pem) > LARGEST:
        return Failure(f"PEM is {len(pem)} bytes long, expected {LARGEST} at most")
    begin = _BEGIN.search(pem)
    block = _BLOCK.match(pem, begin.start()) if begin else None
    if block is None:
        return Failure("PEM block type must be CERTIFICATE REQUEST")
    try:
        der = b64decode(re.sub(rb"[\r\n]", b"", block[1]), validate=True)
    except ValueError:
        return Failure("PEM block is not encoded in base64")
    # Costs memory and time that only who decides about requests is to spend, and only once there is one.
    from hedgerow_adapters.certificate_request_content import content_of  # noqa: PLC0415 -- see above

    return content_of(der)
