"""The host and the port of the API server, if it is reached by name.

Source: network-and-nodes §3.7.
"""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from returns.result import Failure, Result, Success

USUAL_PORT: Final = 443
_HIGHEST_PORT: Final = 65535
_HOST: Final = "KUBERNETES_SERVICE_HOST"
_PORT: Final = "KUBERNETES_SERVICE_PORT"


class Endpoint(NamedTuple):
    """A host to be resolved, and the port that is served there."""

    host: str
    port: int


def api_server_endpoint(server: str, environment: Mapping[str, str]) -> Result[Endpoint | None, str]:
    """The host of the API server, if that has to be resolved; or why it cannot be told.

    Args:
        server: the URL in the client configuration.
        environment: the variables of the process, in which a cluster says where its API server is.
    """
    try:
        url = urlsplit(server if "://" in server else f"https://{server}")
        host, port = url.hostname or "", url.port
    except ValueError:
        return Failure(f'"{server}" is not the URL of a server')
    if host and not _is_address(host):
        return Success(Endpoint(host, port or USUAL_PORT))
    return _endpoint_in(environment)


def _endpoint_in(environment: Mapping[str, str]) -> Result[Endpoint | None, str]:
    host, port = environment.get(_HOST, ""), environment.get(_PORT, "")
    if not host or not port or _is_address(host):
        return Success(None)
    if not (port.isascii() and port.isdigit() and 0 < int(port) <= _HIGHEST_PORT):
        return Failure(f'{_PORT} is "{port}", which is no port')
    return Success(Endpoint(host, int(port)))


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
