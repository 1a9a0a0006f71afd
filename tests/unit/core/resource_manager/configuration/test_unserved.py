"""Sections of the reference that this version does not act on."""

from collections.abc import Callable

import pytest

from hedgerow.resource_manager.configuration import ConfigurationErrors, Decoded

SWITCHES = ("garbageCollector", "kubeletCSRApprover", "node", "tokenRequestor")


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
          garbageCollector: {syncPeriod: 1s}
          kubeletCSRApprover: {enabled: false, concurrentSyncs: 0, machineNamespace: shoot--foo--bar}
          node: {backoff: 10s}
          tokenInvalidator: {concurrentSyncs: 0}
          tokenRequestor: {class: shoot, audiences: [gardener], targetNamespace: kube-system}
    """)

    assert answer.warnings == ()


@pytest.mark.parametrize(
    "section",
    [
        "health: {concurrentSyncs: 5, syncPeriod: 1m}",
        "managedResource: {concurrentSyncs: 5, syncPeriod: 1m, alwaysUpdate: false, managedByLabelValue: gardener}",
        "managedResources: {}",
        "secret: {concurrentSyncs: 5}",
    ],
)
def test_a_section_without_a_switch_is_a_warning(section: str, decoded: Callable[[str], Decoded]) -> None:
    name = section.partition(":")[0]

    assert decoded(f"controllers: {{{section}}}").warnings == (
        f"controllers.{name}: this section is not acted on in this version",
    )


@pytest.mark.parametrize(
    ("fragment", "fields"),
    [
        pytest.param(
            "debugging: {enableProfiling: true, enableContentionProfiling: true}",
            ("debugging.enableProfiling", "debugging.enableContentionProfiling"),
            id="profiling",
        ),
        pytest.param("controllers: {clusterID: seed-1}", ("controllers.clusterID",), id="cluster"),
        pytest.param("controllers: {clusterID: <default>}", ("controllers.clusterID",), id="cluster to look up"),
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
        "controllers: {clusterID: ''}",
        "sourceClientConnection: {contentType: '', acceptContentTypes: ''}",
    ],
)
def test_a_field_that_does_nothing_yet_passes_in_silence_where_it_asks_for_nothing(
    fragment: str, decoded: Callable[[str], Decoded]
) -> None:
    assert decoded(fragment).warnings == ()
