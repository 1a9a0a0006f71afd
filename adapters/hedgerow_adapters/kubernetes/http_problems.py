"""What went wrong with a request that got no complete answer, as one sentence.

Knows the exceptions of the HTTP client, so that nobody else has to; the sentences name none of them.
"""

import os
import ssl

import aiohttp

from hedgerow_adapters.protocol.transport import Request


def problem_with(server: str, request: Request, error: BaseException) -> str:
    """What a failed exchange with a server means to somebody who runs the cluster."""
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return f"cannot trust {server}: {_certificate_problem(error.certificate_error)}"
        case aiohttp.ClientSSLError():
            return f"cannot agree on TLS with {server}: {_reason(error.os_error)}"
        case aiohttp.ClientConnectorError():
            return f"cannot connect to {server}: {_reason(error.os_error)}"
        case aiohttp.ServerDisconnectedError():
            return f"{server} closed the connection instead of answering {asked(request)}"
        case aiohttp.ClientPayloadError():
            return f"the answer of {server} to {asked(request)} was cut off"
        case aiohttp.ClientResponseError():
            return f"the answer of {server} to {asked(request)} is not HTTP"
        case OSError():
            return f"the connection to {server} broke during {asked(request)}: {_reason(error)}"
        case _:
            return f"the connection to {server} broke during {asked(request)}"


def asked(request: Request) -> str:
    """A request as sentences name it; a query may be long and adds little."""
    return f"{request.method} {request.path}"


def _certificate_problem(error: Exception) -> str:
    return error.verify_message if isinstance(error, ssl.SSLCertVerificationError) else str(error)


def _reason(error: OSError) -> str:
    """The system's words for an error. Several addresses of one host may fail for several reasons, given as a text."""
    if isinstance(error, ssl.SSLError):
        return (error.reason or "unknown").replace("_", " ").lower()
    if error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)
    return error.strerror or str(error)
