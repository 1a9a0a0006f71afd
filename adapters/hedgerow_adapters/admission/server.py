"""Serves admission reviews over HTTPS.

Expected flow: a server is made, its `check` says that it is not ready; within `serving` it listens. Guarantees: every
new connection is shown the newest certificate; clients are kept within limits as `listening` says; after `leave` it
answers for as long as the limits say; reviews under way are answered before it stops. HTTP/1.1 is the only protocol, as
API servers speak it to webhooks.

Source: webhooks-and-tokens §3.1, §3.2.
"""

import asyncio
import contextlib
import math
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from hedgerow_adapters.admission.certificates import Certificates
from hedgerow_adapters.admission.desk import Desk
from hedgerow_adapters.admission.exchange import Exchange
from hedgerow_adapters.admission.limits import Limits
from hedgerow_adapters.admission.observer import AdmissionObserver
from hedgerow_adapters.listening import FileBudget, HttpServer, Listener

CHECK_PATIENCE: Final = 10.0
"""Seconds that the server has to answer itself."""


class AdmissionServer:
    """The server of one process."""

    def __init__(
        self,
        where: Listener,
        certificates: Certificates,
        exchange: Exchange,
        *,
        limits: Limits = Limits(),  # noqa: B008 -- immutable
        files: FileBudget | None = None,
        observer: AdmissionObserver,
    ) -> None:
        self._where = where
        self._certificates = certificates
        self._limits = limits
        self._desk = Desk(exchange, limits, observer)
        self._http = HttpServer(
            "webhooks",
            where,
            self._desk.respond,
            limits=limits,
            files=files,
            observer=observer,
            tls=lambda: certificates.context,
        )
        self._port: int | None = None
        self._stays_until = -math.inf

    def leave(self) -> None:
        """Close connections with their next answers, and stay for the time of `Limits.farewell` from now on."""
        self._desk.is_leaving = True
        self._stays_until = asyncio.get_running_loop().time() + self._limits.farewell

    async def check(self) -> str | None:
        """Whether connections are taken: none, or why not; asks by making one."""
        if self._port is None:
            return "webhook server has not been started yet"
        address = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(self._where.address, self._where.address)  # noqa: S104 -- compared, not listened on
        anybody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
        try:
            async with asyncio.timeout(CHECK_PATIENCE):
                _, writer = await asyncio.open_connection(address, self._port, ssl=anybody)
                writer.close()
                await writer.wait_closed()
        except (OSError, TimeoutError) as error:
            return f"webhook server is not reachable: {str(error) or 'no answer'}"
        return None

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[int]:
        """Serve until the context is left, and after `leave` at least for its time; the port it listens on.

        Raises:
            ListenError: the address cannot be listened on.
        """
        self._port = port = self._http.open()
        watching = asyncio.create_task(self._certificates.watch())
        try:
            yield port
        finally:
            await asyncio.sleep(self._stays_until - asyncio.get_running_loop().time())
            self._port = None
            self._desk.is_leaving = True
            self._http.close_door()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._limits.drain):
                    await self._desk.settled()
            await self._http.close()
            watching.cancel()
            await asyncio.wait({watching})
