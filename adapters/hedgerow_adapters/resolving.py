"""Resolves a host again and again, and tells when its addresses have changed.

Expected flow: `run` in a task for as long as the outcome matters; `resolved` is what is known so far. Guarantees: each
change of the addresses is told once, in order; a look-up that fails is told and changes nothing, as does one that takes
too long until it ends; no other begins before that, as whatever hangs keeps a thread. Assumptions: whoever is told
neither waits nor fails. Source: network-and-nodes §3.7.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Mapping
from ipaddress import ip_address
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from returns.result import Failure, Result, Success

from hedgerow.operator.namespace_network_policies.views import Resolved

USUAL_PORT: Final = 443
_HIGHEST_PORT: Final = 65535


class Endpoint(NamedTuple):
    """A host to be resolved, and the port that is served there."""

    host: str
    port: int


def api_server_endpoint(server: str, environment: Mapping[str, str]) -> Result[Endpoint | None, str]:
    """The host of the API server, from its URL or a pod's environment, if that has to be resolved; or what is wrong."""
    try:
        url = urlsplit(server if "://" in server else f"https://{server}")
        host, port = url.hostname or "", url.port
    except ValueError:
        return Failure(f'"{server}" is not the URL of a server')
    if host and not _is_address(host):
        return Success(Endpoint(host, port or USUAL_PORT))
    host, stated = environment.get("KUBERNETES_SERVICE_HOST", ""), environment.get("KUBERNETES_SERVICE_PORT", "")
    if not host or not stated or _is_address(host):
        return Success(None)
    if not (stated.isascii() and stated.isdigit() and 0 < int(stated) <= _HIGHEST_PORT):
        return Failure(f'KUBERNETES_SERVICE_PORT is "{stated}", which is no port')
    return Success(Endpoint(host, int(stated)))


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


RESOLVE_EVERY: Final = 30.0
"""Seconds from one look-up to the next."""
LOOKED_UP_WITHIN: Final = 10.0
"""Seconds that a look-up may take before it is told that it takes too long."""

Lookup: TypeAlias = Callable[[str], Awaitable[Iterable[str]]]
"""The addresses of a host."""


async def looked_up(host: str) -> list[str]:
    """The addresses of a host as the system resolves it.

    Raises:
        OSError: it cannot be resolved.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


class HostResolver:
    """One host, and what is known of it."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        on_change: Callable[[Resolved], None],
        on_problem: Callable[[str], None],
        lookup: Lookup = looked_up,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Nothing is known yet; `on_problem` hears, as a sentence, why a look-up came to nothing."""
        self.resolved = Resolved((), endpoint.port)
        self._host = endpoint.host
        self._on_change = on_change
        self._on_problem = on_problem
        self._lookup = lookup
        self._pause = pause
        self._under_way: asyncio.Future[Iterable[str]] | None = None

    async def run(self) -> None:
        """Resolve at once, and every 30 s after that, until cancelled."""
        try:
            while True:
                await self._resolve()
                await self._pause(RESOLVE_EVERY)
        finally:
            if self._under_way is not None:
                self._under_way.cancel()
                self._under_way = None

    async def _resolve(self) -> None:
        looking = self._under_way = self._under_way or asyncio.ensure_future(self._lookup(self._host))
        await asyncio.wait([looking], timeout=LOOKED_UP_WITHIN)
        if not looking.done():
            self._on_problem(f"{self._host} was not resolved within {LOOKED_UP_WITHIN:g} s")
            return
        self._under_way = None
        try:
            addresses = tuple(sorted(set(looking.result())))
        except (OSError, UnicodeError) as error:
            self._on_problem(f"{self._host} cannot be resolved: {error}")
            return
        if not addresses:
            self._on_problem(f"{self._host} has no address")
        elif addresses != self.resolved.addresses:
            self.resolved = Resolved(addresses, self.resolved.port)
            self._on_change(self.resolved)
