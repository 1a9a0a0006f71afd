"""Resolves a host again and again, and tells when its addresses have changed.

Expected flow: `run` in a task for as long as the outcome matters; `resolved` is what is known so far. Guarantees: each
change of the addresses is told once, in order; a look-up that fails, or takes too long, is told and changes nothing.
Assumptions: whoever is told neither waits nor fails. Source: network-and-nodes §3.7.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable
from typing import Final, TypeAlias

from hedgerow.operator.namespace_network_policies import Resolved
from hedgerow_adapters.resolving.place import Place

RESOLVE_EVERY: Final = 30.0
"""Seconds from one look-up to the next."""
LOOKED_UP_WITHIN: Final = 10.0
"""Seconds that a look-up may take."""

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
        place: Place,
        *,
        on_change: Callable[[Resolved], None],
        on_problem: Callable[[str], None],
        lookup: Lookup = looked_up,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """A host of which nothing is known yet.

        Args:
            place: the host, and the port that is served there.
            on_change: told what is known from now on.
            on_problem: told why a look-up came to nothing, as a sentence.
            lookup: asks for the addresses.
            pause: lets so many seconds pass.
        """
        self.resolved = Resolved((), place.port)
        self._host = place.host
        self._on_change = on_change
        self._on_problem = on_problem
        self._lookup = lookup
        self._pause = pause

    async def run(self) -> None:
        """Resolve at once, and every 30 s after that, until cancelled."""
        while True:
            await self._resolve()
            await self._pause(RESOLVE_EVERY)

    async def _resolve(self) -> None:
        try:
            async with asyncio.timeout(LOOKED_UP_WITHIN):
                addresses = tuple(sorted(set(await self._lookup(self._host))))
        except TimeoutError:
            self._on_problem(f"{self._host} was not resolved within {LOOKED_UP_WITHIN:g} s")
            return
        except (OSError, UnicodeError) as error:
            self._on_problem(f"{self._host} cannot be resolved: {error}")
            return
        if not addresses:
            self._on_problem(f"{self._host} has no address")
        elif addresses != self.resolved.addresses:
            self.resolved = Resolved(addresses, self.resolved.port)
            self._on_change(self.resolved)
