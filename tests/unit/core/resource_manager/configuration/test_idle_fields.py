"""Fields of the reference that this version does not act on."""

from collections.abc import Callable

import pytest

from hedgerow.resource_manager.configuration import Decoded


@pytest.mark.parametrize(
    ("fragment", "fields"),
    [
        pytest.param(
            "debugging: {enableProfiling: true, enableContentionProfiling: true}",
            ("debugging.enableProfiling", "debugging.enableContentionProfiling"),
            id="profiling",
        ),
        pytest.param(
            "sourceClientConnection: {contentType: application/json, acceptContentTypes: application/json}",
            ("sourceClientConnection.acceptContentTypes", "sourceClientConnection.contentType"),
            id="content types of the source",
        ),
        pytest.param(
            "targetClientConnection: {contentType: application/json}",
            ("targetClientConnection.contentType",),
            id="content type of the target",
        ),
    ],
)
def test_a_field_that_does_nothing_yet_is_a_warning_where_it_is_set(
    fragment: str, fields: tuple[str, ...], decoded: Callable[[str], Decoded]
) -> None:
    warnings = decoded(fragment).warnings

    assert warnings == tuple(f"{field}: this field is not acted on in this version" for field in fields)


@pytest.mark.parametrize(
    "fragment",
    [
        "debugging: {enableProfiling: false, enableContentionProfiling: false}",
        "sourceClientConnection: {contentType: '', acceptContentTypes: ''}",
    ],
)
def test_a_field_that_does_nothing_yet_passes_in_silence_where_it_asks_for_nothing(
    fragment: str, decoded: Callable[[str], Decoded]
) -> None:
    assert decoded(fragment).warnings == ()
