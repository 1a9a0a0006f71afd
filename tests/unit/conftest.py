"""What holds for every unit test: the network is out of reach."""

from collections.abc import Iterator

import pytest
from pytest_socket import disable_socket, enable_socket


@pytest.fixture(autouse=True)
def no_sockets() -> Iterator[None]:
    """Opening a socket fails, except for the pair by which an event loop wakes itself."""
    disable_socket(allow_unix_socket=True)
    yield
    enable_socket()
