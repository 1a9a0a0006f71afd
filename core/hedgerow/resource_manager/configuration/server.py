"""Where the process listens: the section `server`.

Source: managed-resources §3.1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from hedgerow.api.shape import Int64
from hedgerow.machinery.fields import FieldError, invalid
from hedgerow.resource_manager.configuration.shape import Purpose, Section

WEBHOOKS_PORT: Final = 9449
HEALTH_PROBES_PORT: Final = 8081
METRICS_PORT: Final = 8080
PORTS: Final = range(1, 65_536)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address and a port to listen on."""

    bind_address: str
    """Empty: every address."""
    port: int


@dataclass(frozen=True, slots=True)
class WebhookEndpoint(Endpoint):
    """The endpoint that the API server calls, with its certificate."""

    server_cert_dir: str
    """Folder that holds `tls.crt` and `tls.key`; empty: where the reference looks by default, under the system's folder
    for temporary files."""


@dataclass(frozen=True, slots=True)
class Server:
    """Everything that the process listens on."""

    webhooks: WebhookEndpoint
    health_probes: Endpoint
    metrics: Endpoint

    def impossible_ports(self) -> Iterator[FieldError]:
        """Ports that there are not. The reference takes them for valid, and no process can listen there."""
        endpoints = (("webhooks", self.webhooks), ("healthProbes", self.health_probes), ("metrics", self.metrics))
        for name, endpoint in endpoints:
            if endpoint.port not in PORTS:
                yield invalid(f"server.{name}.port", endpoint.port, f"must be between {PORTS[0]} and {PORTS[-1]}")


class TlsSection(Section):
    """`server.webhooks.tls` as written."""

    server_cert_dir: str = ""
    """Folder with `tls.crt` and `tls.key`; empty: `k8s-webhook-server/serving-certs` in the folder for temporary
    files."""


class EndpointSection(Section):
    """An endpoint as written; port zero is unset."""

    bind_address: str = ""
    """The address to listen on; empty: all."""
    port: Int64 = 0
    """The port to listen on; 0 stands for the default."""

    @property
    def remark(self) -> str:
        """That no process can listen there."""
        if self.port == 0 or self.port in PORTS:
            return ""
        return f"there is no port {self.port}, so that no process starts with it"

    def endpoint(self, default_port: int) -> Endpoint:
        """The endpoint with its default."""
        return Endpoint(self.bind_address, self.port or default_port)


class WebhookEndpointSection(EndpointSection):
    """`server.webhooks` as written."""

    tls: TlsSection = TlsSection()
    """The serving certificate."""

    def webhook_endpoint(self) -> WebhookEndpoint:
        """The endpoint with its default."""
        return WebhookEndpoint(self.bind_address, self.port or WEBHOOKS_PORT, self.tls.server_cert_dir)


class ServerSection(Section):
    """The section as written."""

    webhooks: WebhookEndpointSection = WebhookEndpointSection()
    """Where API servers ask webhooks, over HTTPS."""
    health_probes: EndpointSection = EndpointSection()
    """Where `/healthz` and `/readyz` are."""
    metrics: EndpointSection = EndpointSection()
    """Where `/metrics` is."""

    def settings(self) -> Server:
        """The endpoints with their defaults."""
        return Server(
            webhooks=self.webhooks.webhook_endpoint(),
            health_probes=self.health_probes.endpoint(HEALTH_PROBES_PORT),
            metrics=self.metrics.endpoint(METRICS_PORT),
        )

    def problems(self, path: str, _purpose: Purpose, /) -> Iterator[FieldError]:
        """Negative ports; those of webhooks are not looked at, as in the reference."""
        for name, port in (("healthProbes", self.health_probes.port), ("metrics", self.metrics.port)):
            if port < 0:
                yield invalid(f"{path}.{name}.port", port, "must be greater than or equal to 0")


def manifest(server: Server) -> dict[str, Any]:
    """The section that states all endpoints in full."""
    tls = {"serverCertDir": server.webhooks.server_cert_dir}
    return {
        "webhooks": {**_endpoint_manifest(server.webhooks), "tls": tls},
        "healthProbes": _endpoint_manifest(server.health_probes),
        "metrics": _endpoint_manifest(server.metrics),
    }


def _endpoint_manifest(endpoint: Endpoint) -> dict[str, Any]:
    return {"bindAddress": endpoint.bind_address, "port": endpoint.port}
