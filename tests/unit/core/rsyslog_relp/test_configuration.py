"""The configuration file of the extension's process."""

from datetime import timedelta
from typing import Any

import pytest

from hedgerow.machinery.configuration.reading import decode
from hedgerow.machinery.configuration.section import Purpose
from hedgerow.rsyslog_relp.cleaning import CleanerImages
from hedgerow.rsyslog_relp.configuration import RsyslogRelpConfiguration

HEAD = {"apiVersion": "rsyslog-relp.extensions.config.gardener.cloud/v1alpha1", "kind": "Configuration"}
ELECTION = {"leaderElection": {"resourceNamespace": "extension"}}


def decoded(**sections: Any) -> Any:
    return decode(RsyslogRelpConfiguration, {**HEAD, **ELECTION, **sections}, Purpose.RUN)


def test_controllers_get_what_the_file_says() -> None:
    heartbeat = {"enabled": True, "namespace": "extension", "renewInterval": "10s"}
    lifecycle = {"ignoreOperationAnnotation": True}
    images = {"alpine": "alpine:1"}
    config = decoded(controllers={"heartbeat": heartbeat, "lifecycle": lifecycle}, images=images).unwrap().configuration

    assert config.lifecycle.images == CleanerImages(alpine="alpine:1")
    assert config.lifecycle.ignore_operation_annotation
    assert config.heartbeat.renew_interval == timedelta(seconds=10)
    assert (config.heartbeat.holder, config.heartbeat.namespace) == ("shoot-rsyslog-relp", "extension")


def test_defaults_are_those_of_the_reference() -> None:
    config = decoded().unwrap().configuration

    assert config.server.webhooks.port == 10250
    assert config.leader_election.resource_name == "extension-shoot-rsyslog-relp-leader-election"
    assert config.controllers.lifecycle.concurrent_syncs == 5
    assert config.controllers.heartbeat.renew_interval == timedelta(seconds=30)


@pytest.mark.parametrize(
    ("sections", "problem"),
    [
        ({"images": {"pause": ""}}, "images.pause: Required value: must name an image"),
        (
            {"controllers": {"heartbeat": {"enabled": True}}},
            "controllers.heartbeat.namespace: Required value: namespace is required",
        ),
        (
            {"controllers": {"heartbeat": {"enabled": True, "namespace": "a", "renewInterval": "0s"}}},
            "controllers.heartbeat.renewInterval: Invalid value: 0s: must be at least one second",
        ),
        (
            {"controllers": {"lifecycle": {"concurrentSyncs": 0}}},
            "controllers.lifecycle.concurrentSyncs: Invalid value: 0: must be at least 1",
        ),
    ],
)
def test_mistakes_are_told_by_their_fields(sections: dict[str, Any], problem: str) -> None:
    assert problem in str(decoded(**sections).failure())
