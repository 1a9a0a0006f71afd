"""The options of the test suite, and what holds for every test."""

import gc
import logging
import os
import sys
from collections.abc import Generator

# Interpreters that tests start, and pytest from here on, compile everything anew where nothing may be written.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

import pytest  # noqa: E402 -- written as bytecode
import structlog  # noqa: E402 -- as above
from hypothesis import HealthCheck, Phase, settings  # noqa: E402 -- as above

from tests.schedule import Place, place_of, scheduled  # noqa: E402 -- as above

# As the program does: tests make many small values and few cycles.
gc.set_threshold(20_000, 10, 10)

EXAMPLES = 25
"""So many examples try each property in a run of the suite, and twice as many where several things vary together, with
`settings(max_examples=50)`. Runs differ in their examples, but those with `CI` set."""
settings.register_profile("ci", derandomize=True, deadline=None, max_examples=EXAMPLES)
settings.register_profile("local", deadline=None, max_examples=EXAMPLES)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.register_profile(
    "mutation",
    settings.get_profile("ci"),
    phases=[Phase.explicit, Phase.generate],
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)
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
    """Bring tests into the order in which workers take them; among those that are alike it stays random."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    items[:] = scheduled([(_place(item), item) for item in items], workers)


def _place(item: pytest.Item) -> Place:
    _, *parts = item.nodeid.partition("::")[0].split("/")
    return place_of(parts, is_slow=item.get_closest_marker("slow") is not None)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Spare the collector of garbage modules and items, which stay to the end."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Undo a test's configuration of logs: it holds for the whole process, and its stream ends with the test."""
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    result = yield
    root.setLevel(level)
    root.handlers[:] = handlers
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()
    return result
