"""Every test of the server runs on each event loop that the process may have."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import uvloop

from tests.e2e.admission_server.clients import issue


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"asyncio": asyncio.SelectorEventLoop, "uvloop": uvloop.new_event_loop}


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a certificate and its key."""
    return issue(tmp_path_factory.mktemp("pair"))
