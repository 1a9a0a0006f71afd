"""The sections that every component's configuration has: how the process reaches clusters, its Lease, its ports.

Source: managed-resources §3.1.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Final, Self

from hedgerow.machinery.configuration.rules import at_least, between, longer_than_zero, one_of, valid
from hedgerow.machinery.configuration.section import (
    IDLE,
    LIMIT,
    ZERO_IS_UNSET,
    Alias,
    Bits,
    Named,
    Purpose,
    Rule,
    Section,
)
from hedgerow.machinery.failures import Problem, invalid, rendered, required
from hedgerow.machinery.names import dns_label_problem, dns_subdomain_problem

QPS: Final = 100.0
BURST: Final = 130
JITTER_FACTOR: Final = 1.2
"""client-go holds no election unless the renew deadline is longer than the retry period times this."""
PORTS: Final = range(1, 65_536)
SHORTEST_LIFE: Final = timedelta(seconds=10)
"""Of certificates that are renewed in time."""
LONGEST_SHUTDOWN_DELAY: Final = timedelta(seconds=15)
"""With the time that a stop takes besides, pods end within the usual grace period of 30 s."""


class ClientConnection(Section):
    """How the process reaches the API server of one cluster, and which namespaces of it it reads."""

    kubeconfig: Annotated[str, LIMIT] = ""
    """Path of a kubeconfig; empty: the credentials of the pod. The environment variable `KUBECONFIG` wins for the
    source, `TARGET_KUBECONFIG` for the target."""
    accept_content_types: Annotated[str, IDLE] = ""
    """Not acted on: JSON is spoken."""
    content_type: Annotated[str, IDLE] = ""
    """Not acted on: JSON is spoken."""
    stated_namespaces: Annotated[
        tuple[str, ...],
        Named("namespaces"),
        Alias("namespace", "An older spelling", is_single=True),
        LIMIT,
        valid(dns_label_problem, may_be_empty=True),
    ] = ()
    """The namespaces that are read and written in; empty: all."""
    cache_resync_period: Annotated[timedelta, at_least(timedelta(seconds=10))] = timedelta(hours=24)
    """After this time the controllers check every cached object again."""
    qps: Annotated[float | None, ZERO_IS_UNSET] = None
    """Requests per second, lastingly; negative: any number. Where neither it nor `burst` is set no request is held
    back; where `burst` alone is, it is 100."""
    burst: Annotated[int | None, Bits(32), ZERO_IS_UNSET, at_least(0, "must be non-negative")] = None
    """Requests at once, beyond `qps`; where `qps` alone is set, it is 130."""

    @property
    def namespaces(self) -> tuple[str, ...]:
        """The stated namespaces, each once; none: all. Kubernetes writes all namespaces as the empty name."""
        return () if "" in self.stated_namespaces else tuple(dict.fromkeys(self.stated_namespaces))

    def defaulted(self) -> Self:
        """The connection with both halves of a throttle, or without a throttle (decision A-3)."""
        if self.qps is None and self.burst is None:
            return self
        return replace(self, qps=self.qps or QPS, burst=self.burst or BURST)


def _lease_namespace_problem(name: str) -> str | None:
    return dns_label_problem(name) if name else "resourceNamespace is required"


class LeaderElection(Section):
    """The election among replicas."""

    leader_elect: bool = True
    """Whether replicas compete. If not, the controllers of every replica work, and the fields below do not matter."""
    lease_duration: Annotated[timedelta, ZERO_IS_UNSET, longer_than_zero("")] = timedelta(seconds=15)
    """So long others wait after the Lease was last renewed before they take it over. Longer than `renewDeadline`."""
    renew_deadline: Annotated[timedelta, ZERO_IS_UNSET, longer_than_zero("")] = timedelta(seconds=10)
    """So long a leader that cannot renew the Lease goes on. Longer than 1.2 times `retryPeriod`."""
    retry_period: Annotated[timedelta, ZERO_IS_UNSET, longer_than_zero()] = timedelta(seconds=2)
    """Between two attempts to take or renew the Lease."""
    resource_lock: Annotated[str, ZERO_IS_UNSET, one_of(("leases",))] = "leases"
    """The kind of the lock."""
    resource_name: Annotated[str, ZERO_IS_UNSET, valid(dns_subdomain_problem)] = ""
    """Name of the Lease."""
    resource_namespace: Annotated[str, valid(_lease_namespace_problem)] = ""
    """Namespace of the Lease, in the source cluster. Must be set; the chart and `hedgerow install` do so."""

    def is_checked(self, purpose: Purpose, /) -> bool:
        """False where no replica competes."""
        return self.leader_elect and purpose is Purpose.RUN

    def problems(self, path: str, purpose: Purpose, /) -> Iterator[Problem]:
        """Durations that cannot work, alone and together; another lock, names that no Lease can have."""
        if not self.is_checked(purpose):
            return
        yield from self.field_problems(path, purpose, "lease_duration", "renew_deadline", "retry_period")
        if self.lease_duration <= self.renew_deadline:
            detail = f"LeaseDuration must be greater than RenewDeadline, which is {rendered(self.renew_deadline)}"
            yield invalid(f"{path}.leaseDuration", self.lease_duration, detail)
        if timedelta(0) < self.retry_period and self.renew_deadline <= self.retry_period * JITTER_FACTOR:
            # client-go refuses this later, when it starts to elect.
            shown = rendered(self.retry_period)
            detail = f"RenewDeadline must be greater than {JITTER_FACTOR:g} times RetryPeriod, which is {shown}"
            yield invalid(f"{path}.renewDeadline", self.renew_deadline, detail)
        yield from self.field_problems(path, purpose, "resource_lock", "resource_name", "resource_namespace")


def _port_problems(path: str, port: int) -> Iterator[Problem]:
    if port < 0:
        yield invalid(path, port, "must be greater than or equal to 0")
    elif port not in PORTS:
        yield invalid(path, port, f"must be between {PORTS[0]} and {PORTS[-1]}")


_PORT: Final = Rule(_port_problems, f"From {PORTS[0]} to {PORTS[-1]}.")


class Endpoint(Section):
    """An address and a port to listen on."""

    bind_address: str = ""
    """The address to listen on; empty: all."""
    port: Annotated[int, _PORT] = 0
    """The port to listen on."""

    def collides_with(self, other: "Endpoint") -> bool:
        """True if no process can listen on both."""
        return self.port == other.port and (self.bind_address == other.bind_address or not self.bind_address
                                            or not other.bind_address)  # fmt: skip


class Provision(StrEnum):
    """Who provides for the serving certificate."""

    SELF = "self"
    CERT_MANAGER = "cert-manager"
    FILES = "files"


class SelfProvision(Section):
    """Certificates that the process makes itself; only with `provision: self`."""

    secret_name: Annotated[str, valid(dns_subdomain_problem, may_be_empty=True)] = ""
    """The Secret in the source cluster in which all replicas keep them; it must exist. The chart and `hedgerow
    install` set it, and bring the Secret."""
    secret_namespace: Annotated[str, valid(dns_label_problem, may_be_empty=True)] = ""
    """Its namespace."""
    registrations: str = ""
    """File with the registration objects, as `hedgerow webhooks render` prints them. The process fills in those of the
    same names in the target cluster."""
    certificate_lifetime: Annotated[timedelta, at_least(SHORTEST_LIFE)] = timedelta(days=90)
    """So long a serving certificate is valid; it is renewed after 80 % of that."""
    authority_lifetime: Annotated[timedelta, at_least(SHORTEST_LIFE)] = timedelta(days=365)
    """So long an authority is valid; the next one is announced after 80 % of that, and signs once all registrations
    trust it. No serving certificate outlives its authority."""


class TLS(Section):
    """The serving certificate, and which clients are answered."""

    provision: Annotated[str, ZERO_IS_UNSET, one_of(tuple(Provision))] = Provision.FILES.value
    """Who provides for the serving certificate. `self`: the process, which also fills in the registrations of its
    webhooks. `cert-manager` and `files`: others, who put it into `serverCertDir`."""
    self_provision: Annotated[SelfProvision, Named("self")] = SelfProvision()
    """Certificates that the process makes itself; only with `provision: self`."""
    server_cert_dir: str = ""
    """Folder with `tls.crt` and `tls.key`; empty: `k8s-webhook-server/serving-certs` in the folder for temporary
    files."""
    client_ca_file: Annotated[str, Named("clientCAFile"), LIMIT] = ""
    """File with certificate authorities in PEM. API servers must then show a client certificate that one of them has
    signed. Empty: any client may ask."""

    @property
    def is_self_provided(self) -> bool:
        """True if the process makes its certificates."""
        return self.provision == Provision.SELF

    def problems(self, path: str, purpose: Purpose, /) -> Iterator[Problem]:
        """What every field says, and what a process that makes its certificates is not told."""
        yield from super().problems(path, purpose)
        if self.is_self_provided and purpose is Purpose.RUN:
            own = self.self_provision
            told = {
                "secretName": own.secret_name,
                "secretNamespace": own.secret_namespace,
                "registrations": own.registrations,
            }
            for name in (name for name, value in told.items() if not value):
                yield required(f"{path}.self.{name}", "must be set with provision: self")


class WebhookEndpoint(Endpoint):
    """The endpoint that API servers call, over HTTPS."""

    port: Annotated[int, _PORT] = 9449
    tls: TLS = TLS()
    shutdown_delay: Annotated[timedelta, between(timedelta(0), LONGEST_SHUTDOWN_DELAY)] = timedelta(seconds=10)
    """For how long webhooks answer after readiness failed on SIGTERM: API servers take a while to learn that a pod
    stops."""


class Server(Section):
    """Where the process listens."""

    webhooks: WebhookEndpoint = WebhookEndpoint()
    """Where API servers ask webhooks, over HTTPS."""
    health_probes: Endpoint = Endpoint(port=8081)
    """Where `/healthz` and `/readyz` are."""
    metrics: Endpoint = Endpoint(port=8080)
    """Where `/metrics` is."""

    def problems(self, path: str, purpose: Purpose, /) -> Iterator[Problem]:
        """The errors of the endpoints, and two that cannot listen on one port.

        Probes and metrics may share all of an address: then one server serves both.
        """
        yield from super().problems(path, purpose)
        probes, metrics = self.health_probes, self.metrics
        if metrics.collides_with(probes) and metrics.bind_address != probes.bind_address:
            yield invalid(f"{path}.metrics.port", metrics.port, "healthProbes listens on this port at another address")
        for name, endpoint in (("healthProbes", probes), ("metrics", metrics)):
            if endpoint.collides_with(self.webhooks):
                yield invalid(f"{path}.{name}.port", endpoint.port, "webhooks are served on this port")


class Debugging(Section):
    """Profiles, which the process does not offer."""

    enable_profiling: Annotated[bool, IDLE] = False
    """Not acted on: no profiles are offered."""
    enable_contention_profiling: Annotated[bool, IDLE] = False
    """Not acted on: no profiles are offered."""
