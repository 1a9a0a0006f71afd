"""The options of the test suite."""

import os

import pytest
from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("local", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Stands here as pytest reads options only from conftest files that it finds before it collects."""
    parser.addoption(
        "--without-servers",
        action="store_true",
        help="skip the tests that talk to a real API server, instead of building and starting one",
    )
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the expected files of the golden cases anew, from what comes out; read them before you keep them",
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let tests that take minutes begin first, as others run beside them; the rest stay in their random order."""
    items.sort(key=lambda item: item.get_closest_marker("minutes") is None)
