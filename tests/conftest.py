"""The options of the test suite."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Stands here as pytest reads options only from conftest files that it finds before it collects."""
    parser.addoption(
        "--without-servers",
        action="store_true",
        help="skip the tests that talk to a real API server, instead of building and starting one",
    )
