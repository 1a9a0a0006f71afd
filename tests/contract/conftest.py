"""The targets of the contract: every test that asks for one runs once against each."""

import itertools
from collections.abc import Iterator

import pytest

from hedgerow_adapters.protocol import requests
from tests.contract.objects import NAMESPACES
from tests.contract.targets import MemoryTarget, Send, ServerTarget, Target
from tests.contract.webhook_bench import Bench
from tests.contract.webhook_server import ServingPair
from tests.control_plane import ControlPlane

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def contract_server(pytestconfig: pytest.Config) -> Iterator[ControlPlane]:
    """A control plane of the contract's own: its history is forgotten again and again."""
    if pytestconfig.getoption("--without-servers"):
        pytest.skip("needs real servers, and --without-servers was given")
    with ControlPlane() as running:
        yield running


@pytest.fixture(params=["in-memory", "kube-apiserver"])
def target(request: pytest.FixtureRequest) -> Target:
    """The in-memory cluster, and a real API server."""
    if request.param == "in-memory":
        return MemoryTarget()
    return ServerTarget(request.getfixturevalue("contract_server"))


@pytest.fixture
def send(target: Target) -> Send:
    """Sends a request to the target."""
    return target.send


@pytest.fixture
def namespace(send: Send) -> str:
    """A new namespace."""
    name = f"contract-{next(_numbers)}"
    created = send(requests.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}))
    assert created.status == 201
    return name


@pytest.fixture(scope="session")
def serving_pair(tmp_path_factory: pytest.TempPathFactory) -> ServingPair:
    """The certificate of all webhooks."""
    return ServingPair.new(tmp_path_factory.mktemp("webhooks"))


@pytest.fixture
def webhooks(target: Target, namespace: str, serving_pair: ServingPair) -> Iterator[Bench]:
    """Registers webhooks in the target; they are gone at the end of the test."""
    bench = Bench(target, namespace, serving_pair)
    yield bench
    bench.close()
