"""Which name the API server is reached by."""

import pytest
from returns.result import Failure, Success

from hedgerow_adapters.resolving import Endpoint, api_server_endpoint

IN_CLUSTER = {"KUBERNETES_SERVICE_HOST": "baz.bar", "KUBERNETES_SERVICE_PORT": "4321"}


@pytest.mark.parametrize(
    ("server", "environment", "expected"),
    [
        pytest.param("https://foo.bar:1234", {}, Endpoint("foo.bar", 1234), id="url"),
        pytest.param("https://foo.bar:1234", IN_CLUSTER, Endpoint("foo.bar", 1234), id="url-before-environment"),
        pytest.param("https://foo.bar", {}, Endpoint("foo.bar", 443), id="url-without-port"),
        pytest.param("foo.bar:1234", {}, Endpoint("foo.bar", 1234), id="without-scheme"),
        pytest.param("https://1.2.3.4:1234", IN_CLUSTER, Endpoint("baz.bar", 4321), id="environment"),
        pytest.param("https://[2001:db8::1]:1234", IN_CLUSTER, Endpoint("baz.bar", 4321), id="ipv6-and-environment"),
        pytest.param("", IN_CLUSTER, Endpoint("baz.bar", 4321), id="no-url"),
        pytest.param(
            "https://1.2.3.4:1234", {**IN_CLUSTER, "KUBERNETES_SERVICE_HOST": "5.6.7.8"}, None, id="addresses-alone"
        ),
        pytest.param("https://1.2.3.4", {"KUBERNETES_SERVICE_HOST": "baz.bar"}, None, id="half-an-environment"),
        pytest.param("https://1.2.3.4", {}, None, id="no-environment"),
    ],
)
def test_a_name_is_resolved_and_an_address_is_not(
    server: str, environment: dict[str, str], expected: Endpoint | None
) -> None:
    assert api_server_endpoint(server, environment) == Success(expected)


@pytest.mark.parametrize("port", ["tcp://1.2.3.4", "0", "65536", "-1", "٤"])
def test_a_port_of_the_environment_that_is_none_is_refused(port: str) -> None:
    given = api_server_endpoint("https://1.2.3.4", {**IN_CLUSTER, "KUBERNETES_SERVICE_PORT": port})

    assert given == Failure(f'KUBERNETES_SERVICE_PORT is "{port}", which is no port')


@pytest.mark.parametrize("server", ["https://foo.bar:https", "https://foo.bar:65536", "https://[::1", "[::1"])
def test_a_url_that_names_no_host_or_port_is_refused(server: str) -> None:
    assert api_server_endpoint(server, IN_CLUSTER) == Failure(f'"{server}" is not the URL of a server')
