"""Where the process listens."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from hedgerow.machinery.configuration.process import TLS, Endpoint, Server, WebhookEndpoint
from hedgerow.machinery.configuration.reading import ConfigurationErrors
from hedgerow.resource_manager.configuration import Decoded


def test_endpoints_are_as_written(decoded: Callable[[str], Decoded]) -> None:
    server = decoded("""
        server:
          webhooks: {port: 10250, tls: {serverCertDir: /certs, clientCAFile: /ca.crt}, shutdownDelay: 1500ms}
          healthProbes: {bindAddress: 127.0.0.1, port: null}
          metrics: {port: 7000}
    """).configuration.server

    assert server == Server(
        webhooks=WebhookEndpoint(
            port=10250,
            tls=TLS(server_cert_dir="/certs", client_ca_file="/ca.crt"),
            shutdown_delay=timedelta(seconds=1.5),
        ),
        health_probes=Endpoint(bind_address="127.0.0.1", port=8081),
        metrics=Endpoint(port=7000),
    )


def test_negative_ports_are_refused(refusal: Callable[[str], ConfigurationErrors]) -> None:  # CFG-8
    errors = refusal("server: {webhooks: {port: -3}, healthProbes: {port: -1}, metrics: {port: -2}}")

    assert str(errors) == (
        "[server.webhooks.port: Invalid value: -3: must be greater than or equal to 0, "
        "server.healthProbes.port: Invalid value: -1: must be greater than or equal to 0, "
        "server.metrics.port: Invalid value: -2: must be greater than or equal to 0]"
    )


@pytest.mark.parametrize(("endpoint", "port"), [("healthProbes", 65536), ("metrics", 0), ("webhooks", 99999)])
def test_a_port_that_there_is_not_is_refused(
    endpoint: str, port: int, refusal: Callable[[str], ConfigurationErrors]
) -> None:
    errors = refusal(f"server: {{{endpoint}: {{port: {port}}}}}")

    assert str(errors) == f"server.{endpoint}.port: Invalid value: {port}: must be between 1 and 65535"


def test_webhooks_answer_for_ten_seconds_unless_said_otherwise(decoded: Callable[[str], Decoded]) -> None:
    assert decoded("server: {}").configuration.server.webhooks.shutdown_delay == timedelta(seconds=10)


@pytest.mark.parametrize("delay", ["-1s", "15.1s", "1h"])
def test_webhooks_may_not_answer_for_longer_than_pods_have_to_stop(
    delay: str, refusal: Callable[[str], ConfigurationErrors]
) -> None:
    errors = refusal(f"server: {{webhooks: {{shutdownDelay: {delay}}}}}")

    assert [error.path for error in errors.errors] == ["server.webhooks.shutdownDelay"]
    assert str(errors).endswith("must be between 0s and 15s")
