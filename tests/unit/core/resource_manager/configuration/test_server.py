"""Where the process listens."""

from collections.abc import Callable

import pytest

from hedgerow.resource_manager.configuration import ConfigurationErrors, Decoded, Endpoint, Server, WebhookEndpoint


def test_endpoints_are_as_written_and_port_zero_is_unset(decoded: Callable[[str], Decoded]) -> None:
    server = decoded("""
        server:
          webhooks: {port: 10250, tls: {serverCertDir: /certs}}
          healthProbes: {bindAddress: 127.0.0.1, port: 0}
          metrics: {port: 70000}
    """).configuration.server

    assert server == Server(
        webhooks=WebhookEndpoint("", 10250, "/certs"),
        health_probes=Endpoint("127.0.0.1", 8081),
        metrics=Endpoint("", 70000),
    )


def test_negative_ports_are_refused(refusal: Callable[[str], ConfigurationErrors]) -> None:  # CFG-8
    errors = refusal("server: {webhooks: {port: -3}, healthProbes: {port: -1}, metrics: {port: -2}}")

    assert str(errors) == (
        "[server.healthProbes.port: Invalid value: -1: must be greater than or equal to 0, "
        "server.metrics.port: Invalid value: -2: must be greater than or equal to 0]"
    )


@pytest.mark.parametrize(("endpoint", "port"), [("healthProbes", 65536), ("metrics", 99999), ("webhooks", -1)])
def test_a_port_that_there_is_not_is_valid_but_odd(endpoint: str, port: int, decoded: Callable[[str], Decoded]) -> None:
    answer = decoded(f"server: {{{endpoint}: {{port: {port}}}}}")

    assert answer.warnings == (f"server.{endpoint}: there is no port {port}, so that no process starts with it",)
    assert [error.path for error in answer.configuration.server.impossible_ports()] == [f"server.{endpoint}.port"]


def test_the_first_and_the_last_port_are_not_odd(decoded: Callable[[str], Decoded]) -> None:
    answer = decoded("server: {healthProbes: {port: 1}, metrics: {port: 65535}}")

    assert answer.warnings == ()
    assert [*answer.configuration.server.impossible_ports()] == []
