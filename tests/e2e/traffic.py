"""Clients that ask webhooks without a pause, as API servers do: over connections that stay, and over new ones.

Each asks one of the endpoints that it knows. Like API servers, they learn a while later which endpoints are gone.
"""

import asyncio
import json
import ssl
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from types import TracebackType
from typing import Any, Final, Self

from tests.e2e.admission_server.clients import Client, anybody, post

PAUSES: Final = (0.0, 0.0, 0.0, 0.0, 0.05, 0.3, 0.9)
"""Seconds between two requests of each client that keeps its connection; a server meets it idle, too."""
HASTY: Final = 3
"""Clients that make a new connection for each request."""


@dataclass
class Traffic:
    """A context manager: while it is entered, clients ask the endpoints, each a port."""

    endpoints: list[int]
    path: str
    review: Mapping[str, Any]
    answers: Counter[int] = field(default_factory=Counter)
    """By endpoint."""
    farewells: Counter[int] = field(default_factory=Counter)
    """Answers that told a client to close the connection that it wanted to keep, by endpoint."""
    failures: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._body = post(json.dumps(self.review).encode(), path=self.path)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="traffic", daemon=True)
        self._turns = 0

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        self.rate = self.answers.total() / (time.monotonic() - self._began)

    async def _run(self) -> None:
        context = anybody()
        async with asyncio.TaskGroup() as group:
            for pause in PAUSES:
                group.create_task(self._keep(context, pause))
            for _ in range(HASTY):
                group.create_task(self._hurry(context))

    def _endpoint(self) -> int:
        """The next in turn of those that are known now."""
        known = [*self.endpoints]
        self._turns += 1
        return known[self._turns % len(known)]

    async def _keep(self, context: ssl.SSLContext, pause: float) -> None:
        while not self._stop.is_set():
            port = self._endpoint()
            try:
                async with Client.of(port, context) as client:
                    while await self._is_kept(client, port) and not self._stop.is_set():  # noqa: ASYNC110 -- asks
                        await asyncio.sleep(pause)
            except (OSError, EOFError) as error:
                self.failures.append(f"kept connection to {port}: {error!r}")

    async def _hurry(self, context: ssl.SSLContext) -> None:
        while not self._stop.is_set():
            port = self._endpoint()
            try:
                async with Client.of(port, context) as client:
                    await self._is_kept(client, port)
            except (OSError, EOFError) as error:
                self.failures.append(f"new connection to {port}: {error!r}")

    async def _is_kept(self, client: Client, port: int) -> bool:
        """Ask once; whether the connection may be used again."""
        await client.send(self._body)
        status, answer, is_kept = await client.answer()
        if status != HTTPStatus.OK or not json.loads(answer)["response"]["allowed"]:
            self.failures.append(f"{port} answered {status}: {answer!r}")
        self.answers[port] += 1
        self.farewells[port] += not is_kept
        return is_kept
