"""How many connections each listener of a process may keep."""

import resource
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow_adapters.listening.connections import LEAST, RESERVE, FileBudget


@pytest.fixture
def limits() -> Iterator[tuple[int, int]]:
    """What the system allows this process, put back afterwards."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield before
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_where_there_are_files_enough_each_listener_keeps_what_it_wants() -> None:
    budget = FileBudget(wanted=1536, available=1536)

    assert [budget.share(connections) for connections in (256, 256, 1024)] == [256, 256, 1024]


def test_where_there_are_too_few_each_listener_gives_up_in_proportion() -> None:
    budget = FileBudget(wanted=1536, available=768)

    assert [budget.share(connections) for connections in (256, 256, 1024)] == [128, 128, 512]


@given(st.lists(st.integers(1, 5000), min_size=1, max_size=5), st.integers(0, 20_000))
def test_listeners_together_never_keep_more_than_there_are_files_for(wanted: list[int], files: int) -> None:
    budget = FileBudget(sum(wanted), min(sum(wanted), files))

    shares = [budget.share(connections) for connections in wanted]

    assert sum(share for share in shares if share > LEAST) <= files
    assert all(share >= LEAST for share in shares)


def test_the_limit_of_the_process_is_raised_as_far_as_it_has_to_be(limits: tuple[int, int]) -> None:
    _, hard = limits
    resource.setrlimit(resource.RLIMIT_NOFILE, (RESERVE, hard))

    budget = FileBudget.of(100)

    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (RESERVE + 100, hard)
    assert budget.share(100) == 100


def test_a_limit_that_is_enough_stays_as_it_is(limits: tuple[int, int]) -> None:
    soft, _ = limits

    FileBudget.of(1)

    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == soft


def test_where_the_limit_cannot_be_raised_the_reserve_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lower hard limit could not be put back, so the system is told what to say."""
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (1024, 1024))
    monkeypatch.setattr(resource, "setrlimit", lambda _which, _limits: None)

    assert FileBudget.of(1536) == FileBudget(wanted=1536, available=1024 - RESERVE)
