"""How clusters are reached."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from hedgerow.machinery.configuration.reading import ConfigurationErrors
from hedgerow.resource_manager.configuration import Decoded

Answer = Callable[[str], Decoded]
Refusal = Callable[[str], ConfigurationErrors]

NO_LABEL = (
    'must consist of a-z, 0-9 and "-", starting and ending with a letter or digit, for example "my-name" or "123-abc"'
)


def test_without_its_section_the_target_is_the_source(decoded: Answer) -> None:
    assert decoded("{}").configuration.target is None


def test_an_empty_section_makes_a_separate_target_with_the_defaults(decoded: Answer) -> None:  # CFG-6
    target = decoded("targetClientConnection: {}").configuration.target

    assert target is not None
    assert (target.qps, target.burst, target.cache_resync_period) == (None, None, timedelta(hours=24))


@pytest.mark.parametrize(
    ("section", "qps", "burst"),
    [
        pytest.param("{}", None, None, id="nothing set"),
        pytest.param("{qps: 0, burst: 0}", None, None, id="CFG-17"),
        pytest.param("{qps: 0.5}", 0.5, 130, id="rate"),
        pytest.param("{burst: 1}", 100, 1, id="burst"),
        pytest.param("{qps: -1}", -1, 130, id="a negative rate is no limit"),
        pytest.param("{qps: 100, burst: 130}", 100, 130, id="the defaults, spelled out"),
    ],
)
def test_requests_are_held_back_only_where_the_file_says_so(
    section: str, qps: float | None, burst: int | None, decoded: Answer
) -> None:
    source = decoded(f"sourceClientConnection: {section}").configuration.source

    assert (source.qps, source.burst) == (qps, burst)


@pytest.mark.parametrize(
    ("section", "namespaces"),
    [
        pytest.param("{}", (), id="all"),
        pytest.param("{namespaces: [b, a, b]}", ("b", "a"), id="each once"),
        pytest.param("{namespace: garden}", ("garden",), id="one, by the other spelling"),
        pytest.param("{namespace: ''}", (), id="the empty name is all"),
        pytest.param("{namespaces: [garden, '']}", (), id="the empty name in a list is all"),
    ],
)
def test_the_namespaces_that_are_read(section: str, namespaces: tuple[str, ...], decoded: Answer) -> None:
    assert decoded(f"sourceClientConnection: {section}").configuration.source.namespaces == namespaces


@pytest.mark.parametrize(
    ("fragment", "text"),
    [
        pytest.param(
            "sourceClientConnection: {burst: -1, cacheResyncPeriod: 1s}",
            "[sourceClientConnection.cacheResyncPeriod: Invalid value: 1s: must be at least 10s, "
            "sourceClientConnection.burst: Invalid value: -1: must be non-negative]",
            id="CFG-5",
        ),
        pytest.param(
            "targetClientConnection: {cacheResyncPeriod: 0s}",
            "targetClientConnection.cacheResyncPeriod: Invalid value: 0s: must be at least 10s",
            id="zero is no absent period",
        ),
        pytest.param(
            "targetClientConnection: {namespace: a, namespaces: [b]}",
            "targetClientConnection.namespace: Forbidden: must not be set together with namespaces",
            id="both spellings",
        ),
        pytest.param(
            "sourceClientConnection: {namespaces: [garden, ../../x, a.b]}",
            f'[sourceClientConnection.namespaces[1]: Invalid value: "../../x": {NO_LABEL}, '
            'sourceClientConnection.namespaces[2]: Invalid value: "a.b": must not contain dots, '
            'for example "my-name" or "123-abc"]',
            id="no names of namespaces",
        ),
        pytest.param(
            "sourceClientConnection: {namespace: ../x}",
            f'sourceClientConnection.namespace: Invalid value: "../x": {NO_LABEL}',
            id="no name by the other spelling",
        ),
        pytest.param(
            "targetClientConnection: {namespaces: ['', ../x]}",
            f'targetClientConnection.namespaces[1]: Invalid value: "../x": {NO_LABEL}',
            id="no name beside the one that is all",
        ),
    ],
)
def test_a_connection_that_cannot_be_meant_is_refused(fragment: str, text: str, refusal: Refusal) -> None:
    assert str(refusal(fragment)) == text
