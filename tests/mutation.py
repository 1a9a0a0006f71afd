"""`make mutation`: mutmut, but tests are collected once, the quickest run first, and the first failure ends the rest.

mutmut alone collects the tests anew for each mutant, which takes longer than to run them. What is called while modules
are imported, such as a function that makes a table of them, has been called before there is a mutant: its mutants live.
"""

from collections.abc import Iterable
from itertools import zip_longest

import pytest
from _pytest.config import _prepareconfig
from mutmut.__main__ import cli
from mutmut.runners.harness import PytestRunner
from mutmut.state import state
from mutmut.utils.file_utils import change_cwd
from mutmut.workers import isolation


class CollectingRunner(PytestRunner):  # type: ignore[misc]  # mutmut is not installed where types are checked
    """Collects in the process that mutmut forks for each mutant."""

    items: dict[str, pytest.Item] | None = None

    def warm_up(self) -> None:
        # mutmut leaves files open, which the first test would be blamed for.
        arguments = ["--rootdir=.", "-p", "no:unraisableexception", *self._pytest_add_cli_args]
        arguments += self._pytest_add_cli_args_test_selection
        with change_cwd("mutants"):
            config = _prepareconfig(arguments)
            config._do_configure()
            session = pytest.Session.from_config(config)
            config.hook.pytest_sessionstart(session=session)
            config.hook.pytest_collection(session=session)
        self.items = {item.nodeid: item for item in session.items}

    def run_tests(self, *, mutant_name: str | None, tests: Iterable[str]) -> int:
        if self.items is None:
            return int(super().run_tests(mutant_name=mutant_name, tests=tests))
        items = [self.items[test] for test in sorted(tests, key=state().duration_by_test.__getitem__)]
        with change_cwd("mutants"):
            for item, following in zip_longest(items, items[1:]):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if item.session.testsfailed:
                    return 1
        return 0


if __name__ == "__main__":
    isolation.PytestRunner = CollectingRunner
    cli()
