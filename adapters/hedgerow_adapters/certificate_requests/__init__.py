"""Reads certificate requests that anybody may have made up, as strictly as they can be read.

Whoever signs a request reads it by other means than we do, and skips what he finds malformed. So nothing is accepted
that two readers may understand differently: a text has to be what comes of writing down again what was read of it, and
so holds nothing that a reader could find beside. What is not is told by a clause, never by an exception.

Source: network-and-nodes §6.3; RFC 7468 §3.
"""

from base64 import b64decode, b64encode
from typing import Final

from returns.result import Failure, Result

from hedgerow.resource_manager.kubelet_certificates import CertificateRequest

LARGEST: Final = 64 * 1024
"""Bytes of PEM: many times what the longest list of addresses takes."""
_BEGIN: Final = b"-----BEGIN CERTIFICATE REQUEST-----"
_END: Final = b"-----END CERTIFICATE REQUEST-----"
_LINE_LENGTH: Final = 64


def decoded_request(pem: bytes) -> Result[CertificateRequest, str]:
    """The content of the only PEM block of a text, or why it cannot be told, as one clause.

    Around the block there may be empty lines, and blanks behind it. The signature is not looked at: API servers store
    no request that its key has not signed.
    """
    if len(pem) > LARGEST:
        return Failure(f"PEM is {len(pem)} bytes long, expected {LARGEST} at most")
    block = pem.lstrip(b"\n").rstrip(b" \t\r\n")
    if not block.startswith(_BEGIN):
        return Failure("PEM block type must be CERTIFICATE REQUEST")
    der = _enclosed(block)
    if block != _written(der):
        return Failure("PEM is not a single block as kubelets write it")
    # Costs memory and time that only who decides about requests is to spend, and only once there is one.
    from hedgerow_adapters.certificate_requests.content import content_of  # noqa: PLC0415 -- see above

    return content_of(der)


def _enclosed(block: bytes) -> bytes:
    """What a block may hold: whether it is that, and nothing else, shows when it is written again."""
    try:
        return b64decode(block.removeprefix(_BEGIN).removesuffix(_END))
    except ValueError:
        return b""


def _written(der: bytes) -> bytes:
    """The one block that holds this, without the end of its last line."""
    text = b64encode(der)
    lines = (text[at : at + _LINE_LENGTH] for at in range(0, len(text), _LINE_LENGTH))
    return b"\n".join((_BEGIN, *lines, _END))
