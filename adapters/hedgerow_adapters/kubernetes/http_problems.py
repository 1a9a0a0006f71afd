"""What went wrong with a request that got no complete answer, as one sentence.

Knows the exceptions of the HTTP client, so that nobody else has to; the sentences name none of them.
"""

import os
import ssl
from typing import Final

import aiohttp

from hedgerow_adapters.protocol.transport import Request

# The first that fits counts.
_SENTENCES: Final[tuple[tuple[type[Exception], str], ...]] = (
    (aiohttp.ClientConnectorCertificateError, "cannot trust {server}: {reason}"),
    (aiohttp.ClientSSLError, "cannot agree on TLS with {server}: {reason}"),
    (aiohttp.ClientConnectorError, "cannot connect to {server}: {reason}"),
    (aiohttp.ServerDisconnectedError, "{server} closed the connection instead of answering {asked}"),
    (aiohttp.ClientPayloadError, "the answer of {server} to {asked} was cut off"),
    (aiohttp.ClientResponseError, "the answer of {server} to {asked} is not HTTP"),
    (OSError, "the connection to {server} broke during {asked}: {reason}"),
    (aiohttp.ClientError, "the connection to {server} broke during {asked}"),
    (UnicodeError, "cannot connect to {server}: its host is not a host name"),
    (Exception, "the HTTP client is not able to carry {asked} to {server}"),
)


def problem_with(server: str, request: Request, error: Exception) -> str:
    """What a failed exchange with a server means to somebody who runs the cluster."""
    sentence = next(sentence for kind, sentence in _SENTENCES if isinstance(error, kind))
    return sentence.format(server=server, asked=asked(request), reason=_reason(error))


def asked(request: Request) -> str:
    """A request as sentences name it; its query may be long and adds little."""
    return f"{request.method} {request.path}"


def _reason(error: Exception) -> str:
    """The words of the system or of OpenSSL for an error, or for the one inside it."""
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return _words(error.certificate_error)
        case aiohttp.ClientConnectorError():
            return _words(error.os_error)
        case _:
            return _words(error)


def _words(error: Exception) -> str:
    match error:
        case ssl.SSLCertVerificationError():
            return error.verify_message
        case ssl.SSLError():
            return (error.reason or "unknown").replace("_", " ").lower()
        case OSError(errno=int(number)) if number > 0:
            return os.strerror(number)
        case OSError(strerror=str(words)):
            return words
        case _:
            return str(error)
