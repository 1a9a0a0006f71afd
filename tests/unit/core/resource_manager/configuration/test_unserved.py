"""Sections of the reference that this version does not act on."""

from collections.abc import Callable

import pytest

from hedgerow.resource_manager.configuration import ConfigurationErrors, Decoded

SWITCHES = ("kubeletCSRApprover", "node", "tokenRequestor")


@pytest.mark.parametrize("name", SWITCHES)
def test_what_does_not_exist_cannot_be_switched_on(name: str, refusal: Callable[[str], ConfigurationErrors]) -> None:
    errors = refusal(f"controllers: {{{name}: {{enabled: true}}}}")

    assert str(errors) == f"controllers.{name}: Forbidden: this controller does not exist in this version"


@pytest.mark.parametrize("name", [*SWITCHES, "tokenInvalidator"])
@pytest.mark.parametrize("section", ["{}", "{enabled: false}", "null"])
def test_what_is_off_passes_in_silence(name: str, section: str, decoded: Callable[[str], Decoded]) -> None:
    assert decoded(f"controllers: {{{name}: {section}}}") == decoded("{}")


def test_the_fields_of_a_section_that_is_off_are_known_but_not_looked_at(decoded: Callable[[str], Decoded]) -> None:
    answer = decoded("""
        controllers:
          kubeletCSRApprover: {enabled: false, concurrentSyncs: 0, machineNamespace: shoot--foo--bar}
          node: {backoff: 10s}
          tokenInvalidator: {concurrentSyncs: 0}
          tokenRequestor: {class: shoot, audiences: [gardener], targetNamespace: kube-system}
    """)

    assert answer.warnings == ()


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
