"""How the process reaches a cluster's API server: the sections `sourceClientConnection` and `targetClientConnection`.

Source: managed-resources §3.1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from hedgerow.api.shape import Int32
from hedgerow.machinery.durations import format_duration
from hedgerow.machinery.fields import FieldError, forbidden, invalid
from hedgerow.machinery.names import dns_label_problem
from hedgerow.resource_manager.configuration.shape import Duration, Purpose, Section

QPS: Final = 100.0
BURST: Final = 130
CACHE_RESYNC_PERIOD: Final = timedelta(hours=24)
SHORTEST_CACHE_RESYNC_PERIOD: Final = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class ClientConnection:
    """How one cluster is reached, and how much of it is read."""

    kubeconfig: str
    """Path of a kubeconfig file; empty: the credentials of the pod that the process runs in."""
    accept_content_types: str
    content_type: str
    qps: float
    """Requests per second, lastingly; negative: as many as there are."""
    burst: int
    """Requests at once, beyond `qps`."""
    throttled: bool
    """Whether the file itself sets `qps` or `burst`; unless it does, no request is held back (decision A-3)."""
    namespaces: tuple[str, ...]
    """The namespaces that are read and written in; none: all of them."""
    cache_resync_period: timedelta
    """After this time every cached object is looked at again."""


class ClientConnectionSection(Section):
    """The section as written. Zero leaves `qps` and `burst` unset; `namespace` stands for a list of one."""

    idle = ("accept_content_types", "content_type")
    kubeconfig: str = ""
    """Path of a kubeconfig; empty: the credentials of the pod. The environment variable `KUBECONFIG` wins for the
    source, `TARGET_KUBECONFIG` for the target."""
    accept_content_types: str = ""
    """Not acted on: JSON is spoken."""
    content_type: str = ""
    """Not acted on: JSON is spoken."""
    qps: float = 0
    """Requests per second, lastingly; negative: any number. Where neither it nor `burst` is set no request is held
    back; where `burst` alone is, it is 100."""
    burst: Int32 = 0
    """Requests at once, beyond `qps`; where `qps` alone is set, it is 130. At least 0."""
    namespace: str | None = None
    """An older spelling of `namespaces` with a single one; not beside it."""
    namespaces: list[str] | None = None
    """The namespaces that are read and written in; empty: all."""
    cache_resync_period: Duration = CACHE_RESYNC_PERIOD
    """After this time every cached object is looked at again. At least 10s."""

    def settings(self) -> ClientConnection:
        """The connection with its defaults."""
        return ClientConnection(
            kubeconfig=self.kubeconfig,
            accept_content_types=self.accept_content_types,
            content_type=self.content_type,
            qps=self.qps or QPS,
            burst=self.burst or BURST,
            throttled=bool(self.qps or self.burst),
            namespaces=_namespaces([self.namespace] if self.namespace is not None else self.namespaces or []),
            cache_resync_period=self.cache_resync_period,
        )

    def problems(self, path: str, _purpose: Purpose, /) -> Iterator[FieldError]:
        """Both spellings of the namespaces, what cannot be the name of one, too short a period, a negative burst."""
        if self.namespace is not None and self.namespaces is not None:
            yield forbidden(f"{path}.namespace", "must not be set together with namespaces")
        for at, name in self._names(path):
            if name and (problem := dns_label_problem(name)):
                yield invalid(at, name, problem)
        if self.cache_resync_period < SHORTEST_CACHE_RESYNC_PERIOD:
            yield invalid(f"{path}.cacheResyncPeriod", self.cache_resync_period, "must be at least 10s")
        if self.burst < 0:
            yield invalid(f"{path}.burst", self.burst, "must be non-negative")

    def _names(self, path: str) -> Iterator[tuple[str, str]]:
        """The names of namespaces in both spellings, each behind its path."""
        if self.namespace is not None:
            yield f"{path}.namespace", self.namespace
        for index, name in enumerate(self.namespaces or ()):
            yield f"{path}.namespaces[{index}]", name


def manifest(connection: ClientConnection) -> dict[str, Any]:
    """The section that states a connection in full; a throttle that the file did not ask for stays out of it."""
    section: dict[str, Any] = {
        "kubeconfig": connection.kubeconfig,
        "acceptContentTypes": connection.accept_content_types,
        "contentType": connection.content_type,
    }
    if connection.throttled:
        section["qps"] = int(connection.qps) if connection.qps.is_integer() else connection.qps
        section["burst"] = connection.burst
    return {
        **section,
        "namespaces": list(connection.namespaces),
        "cacheResyncPeriod": format_duration(connection.cache_resync_period),
    }


def _namespaces(names: list[str]) -> tuple[str, ...]:
    """The namespaces to read, each once; the empty name is how Kubernetes writes all of them, which is none here."""
    return () if "" in names else tuple(dict.fromkeys(names))
