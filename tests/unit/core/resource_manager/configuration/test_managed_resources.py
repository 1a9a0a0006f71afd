"""The sections of the controllers around ManagedResources."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from hedgerow.machinery.configuration.reading import ConfigurationErrors
from hedgerow.resource_manager.configuration import Decoded
from hedgerow.resource_manager.configuration.controllers import (
    GarbageCollectorSettings,
    HealthSettings,
    ManagedResourceSettings,
    SecretSettings,
)


def test_what_is_left_out_has_the_defaults_of_the_reference(decoded: Callable[[str], Decoded]) -> None:
    configuration = decoded("{}").configuration
    minute = timedelta(minutes=1)

    assert (configuration.controllers.cluster_id, configuration.controllers.resource_class) == ("", "resources")
    assert configuration.controllers.garbage_collector == GarbageCollectorSettings(enabled=False, sync_period=None)
    assert configuration.controllers.health == HealthSettings(concurrent_syncs=5, sync_period=minute)
    assert configuration.controllers.managed_resource == ManagedResourceSettings(
        concurrent_syncs=5, sync_period=minute, always_update=False, managed_by_label_value="gardener"
    )
    assert configuration.controllers.secret == SecretSettings(concurrent_syncs=5)


def test_the_document_of_a_configuration_spells_out_every_section(decoded: Callable[[str], Decoded]) -> None:
    controllers = decoded("controllers: {garbageCollector: {enabled: true}}").configuration.manifest()["controllers"]
    rest = {"kubeletCSRApprover", "networkPolicy", "node", "tokenInvalidator", "tokenRequestor"}

    assert {name: section for name, section in controllers.items() if name not in rest} == {
        "clusterID": "",
        "resourceClass": "resources",
        "garbageCollector": {"enabled": True, "syncPeriod": "1h0m0s"},
        "health": {"concurrentSyncs": 5, "syncPeriod": "1m0s"},
        "managedResource": {
            "concurrentSyncs": 5,
            "syncPeriod": "1m0s",
            "alwaysUpdate": False,
            "managedByLabelValue": "gardener",
        },
        "secret": {"concurrentSyncs": 5},
    }


@pytest.mark.parametrize("name", ["managedResource", "managedResources"])
def test_both_spellings_of_the_section_are_read_and_acted_on(name: str, decoded: Callable[[str], Decoded]) -> None:
    answer = decoded(f"""
        controllers:
          {name}: {{concurrentSyncs: 20, syncPeriod: 15s, alwaysUpdate: true, managedByLabelValue: seed}}
    """)

    assert answer.warnings == ()
    assert answer.configuration.controllers.managed_resource == ManagedResourceSettings(
        concurrent_syncs=20, sync_period=timedelta(seconds=15), always_update=True, managed_by_label_value="seed"
    )


def test_a_garbage_collector_that_is_off_keeps_what_it_is_told(decoded: Callable[[str], Decoded]) -> None:
    settings = decoded("controllers: {garbageCollector: {syncPeriod: 1s}}").configuration.controllers.garbage_collector

    assert settings == GarbageCollectorSettings(enabled=False, sync_period=timedelta(seconds=1))


TOO_SHORT = "must be at least 15s"
NOBODY = "must be at least 1"


@pytest.mark.parametrize(
    ("sections", "text"),
    [
        pytest.param(
            "garbageCollector: {enabled: true, syncPeriod: 1s}",
            f"controllers.garbageCollector.syncPeriod: Invalid value: 1s: {TOO_SHORT}",
            id="CFG-10",
        ),
        pytest.param(
            "managedResources: {managedByLabelValue: ''}",
            "controllers.managedResources.managedByLabelValue: Required value: must specify value of managed-by label",
            id="CFG-11",
        ),
        pytest.param(
            "managedResource: {concurrentSyncs: 0, syncPeriod: 14s}",
            f"[controllers.managedResource.concurrentSyncs: Invalid value: 0: {NOBODY}, "
            f"controllers.managedResource.syncPeriod: Invalid value: 14s: {TOO_SHORT}]",
            id="the name in the file",
        ),
        pytest.param(
            "managedResource: {managedByLabelValue: a b}",
            'controllers.managedResource.managedByLabelValue: Invalid value: "a b": '
            'must be empty or consist of A-Z, a-z, 0-9, "-", "_" and ".", starting and ending with a letter or digit, '
            'for example "MyValue" or "my_value"',
            id="a label that no object may have",
        ),
        pytest.param(
            "health: {concurrentSyncs: -1, syncPeriod: 0s}",
            f"[controllers.health.concurrentSyncs: Invalid value: -1: {NOBODY}, "
            f"controllers.health.syncPeriod: Invalid value: 0s: {TOO_SHORT}]",
            id="health",
        ),
        pytest.param(
            "secret: {concurrentSyncs: 0}",
            f"controllers.secret.concurrentSyncs: Invalid value: 0: {NOBODY}",
            id="secret",
        ),
        pytest.param(
            f"resourceClass: {'a' * 38}",
            f'controllers.resourceClass: Invalid value: "{"a" * 38}": no finalizer can be called after it: '
            'name after "/" must have at most 63 characters, has 64',
            id="a class whose finalizer no object may have",
        ),
    ],
)
def test_what_breaks_a_rule_is_refused(sections: str, text: str, refusal: Callable[[str], ConfigurationErrors]) -> None:
    assert str(refusal(f"controllers: {{{sections}}}")) == text


def test_errors_come_in_the_order_of_the_sections(refusal: Callable[[str], ConfigurationErrors]) -> None:
    errors = refusal("""
        controllers:
          secret: {concurrentSyncs: 0}
          tokenRequestor: {enabled: true, concurrentSyncs: 0, targetNamespace: robots}
          node: {enabled: true, concurrentSyncs: 0}
          networkPolicy: {enabled: true, concurrentSyncs: 0}
          managedResource: {concurrentSyncs: 0}
          kubeletCSRApprover: {enabled: true, concurrentSyncs: 0}
          health: {concurrentSyncs: 0}
          garbageCollector: {enabled: true, syncPeriod: 0s}
          resourceClass: ""
    """)

    assert [str(error).split(":")[0].split(".")[1] for error in errors.errors] == [
        "resourceClass",
        "garbageCollector",
        "health",
        "kubeletCSRApprover",
        "managedResource",
        "networkPolicy",
        "node",
        "secret",
        "tokenRequestor",
    ]
