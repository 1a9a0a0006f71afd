"""How a process reaches the clusters that it works with, and notices that a connection leads to another cluster.

A kubeconfig or a Service may change at any time. What another cluster lacks says nothing about ours, and what is meant
for ours must not be written there. A cluster is known by the uid of its namespace `kube-system`.

Guarantees of `SameCluster`: a list, a watch, or a 404 is handed on only after the uid was compared, at most a second
before or since; after a difference nothing more is written, and `run` ends with an error. Caveats: where the uid cannot
be read everything goes on; a process that starts anew takes the cluster that it finds for its own.

Source: decision "absence".
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, NoReturn, Self

from hedgerow.api.kubernetes import NAMESPACES
from hedgerow.machinery.clusters import KUBE_SYSTEM, Cluster
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.documents import list_page
from hedgerow_adapters.protocol.transport import Request, Response, Stream, Transport, TransportError

RESYNC_PERIOD: Final = 24 * 3600.0
COMPARED_EVERY: Final = 60.0
"""Seconds between two comparisons, at most."""
FRESH_FOR: Final = 1.0
"""Seconds for which a comparison counts."""
PATIENCE: Final = 5.0
"""Seconds for the answer; without one nothing is known."""


@dataclass(frozen=True, slots=True)
class Access:
    """The way to one cluster."""

    transport: Transport
    namespaces: tuple[str, ...] = ()
    """Those that are visible; none: all."""
    resync_period: float = RESYNC_PERIOD
    """Seconds after which every key is reconciled although nothing changed."""
    unthrottled: Transport | None = None
    """A way on which nobody waits behind others; none: there is only the one."""
    for_webhooks: Transport | None = None
    """A way for the live reads of webhooks, as many as there are reviews; none: there is only the one."""
    is_lossless: bool = False
    """True if no event is ever lost on the way, as in memory. Then watches neither end nor are compared."""

    @property
    def urgent(self) -> Transport:
        """The way for few requests that must not wait behind many, such as those of probes."""
        return self.unthrottled or self.transport

    @property
    def live_reads(self) -> Transport:
        """The way for the reads of webhooks while an API server waits."""
        return self.for_webhooks or self.transport


@dataclass(frozen=True, slots=True)
class Clusters:
    """The ways to both clusters, which are equal where both are one."""

    target: Access
    source: Access

    @classmethod
    def single(cls, access: Access) -> Self:
        """One cluster in both roles."""
        return cls(access, access)

    @property
    def are_one(self) -> bool:
        """True if one cluster plays both roles."""
        return self.source is self.target

    def access(self, cluster: Cluster) -> Access:
        """The way to the cluster of a role."""
        return self.target if cluster is Cluster.TARGET else self.source


class AnotherClusterError(TransportError):
    """A connection leads to another cluster than at the start."""


def uid_in(response: Response) -> str:
    """The uid of the namespace in an answer; empty if it holds none."""
    body = response.body if response.is_success and isinstance(response.body, Mapping) else {}
    metadata = body.get("metadata")
    uid = metadata.get("uid") if body.get("kind") == "Namespace" and isinstance(metadata, Mapping) else None
    return uid if isinstance(uid, str) else ""


class SameCluster:
    """A way to one cluster that ends when it leads to another; a `Transport`.

    Expected flow: `run` in a task. It compares once a minute and raises once the cluster is another one.
    """

    def __init__(
        self, transport: Transport, connection: str, *, on_forbidden: Callable[[str], None] = lambda _problem: None
    ) -> None:
        """Nothing is known of the cluster; messages name the `connection`.

        `on_forbidden` is told once that the uid must not be read.
        """
        self._transport = transport
        self._connection = connection
        self._on_forbidden = on_forbidden
        self._is_forbidden = False
        self._uid = ""
        self._compared_at = float("-inf")
        self._comparing = asyncio.Lock()
        self._problem: AnotherClusterError | None = None
        self._found_another = asyncio.Event()

    async def run(self) -> NoReturn:
        """Compare from time to time; raises AnotherClusterError once the connection leads to another cluster."""
        while True:
            with contextlib.suppress(TransportError):
                await self._compare()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(COMPARED_EVERY):
                    await self._found_another.wait()
            if self._problem is not None:
                raise self._problem

    async def send(
        self, request: Request, *, timeout: float = 30.0, may_send: Callable[[], bool] = lambda: True
    ) -> Response:
        """As `Transport`; a list or a 404 only from the cluster of the start, else AnotherClusterError is raised."""
        self._insist()
        response = await self._transport.send(
            request, timeout=timeout, may_send=lambda: self._problem is None and may_send()
        )
        self._insist()
        # A custom kind of lists may have any name, so the answer tells whether it is one.
        is_list = request.method == "GET" and list_page(response.body) is not None
        if is_list or response.status == HTTPStatus.NOT_FOUND:
            await self._compare()
        return response

    @contextlib.asynccontextmanager
    async def stream(self, request: Request, *, timeout: float) -> AsyncIterator[Stream]:
        """As `Transport`; a watch only of the cluster of the start, else AnotherClusterError is raised."""
        self._insist()
        async with self._transport.stream(request, timeout=timeout) as stream:
            await self._compare()
            yield stream

    def _insist(self) -> None:
        if self._problem is not None:
            raise self._problem

    async def _compare(self) -> None:
        """See whether the connection still leads to the same cluster, unless that was seen just now."""
        clock = asyncio.get_running_loop().time
        async with self._comparing:
            if clock() - self._compared_at >= FRESH_FOR and not self._is_forbidden:
                began = clock()
                await self._look()
                self._compared_at = began
        self._insist()

    async def _look(self) -> None:
        try:
            response = await self._transport.send(requests.get(NAMESPACES, KUBE_SYSTEM), timeout=PATIENCE)
        except TransportError:
            return
        if response.status == HTTPStatus.FORBIDDEN:
            self._is_forbidden = True
            self._on_forbidden(self._connection)
        uid = uid_in(response)
        self._uid = self._uid or uid
        if uid and uid != self._uid:
            self._problem = AnotherClusterError(
                f"the {self._connection} connection leads to another cluster: the uid of its namespace kube-system was "
                f"{self._uid} at the start, and is {uid} now"
            )
            self._found_another.set()
