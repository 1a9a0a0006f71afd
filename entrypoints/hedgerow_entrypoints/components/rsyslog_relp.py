"""The extension shoot-rsyslog-relp: the controller of its Extensions, heartbeat, two webhooks (rsyslog-relp §3)."""
# ruff: noqa: PLC0415 -- a factory imports what it builds, as `registry` says

from base64 import b64decode
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from hedgerow.admission import Webhook
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import UnreadableError, object_at
from hedgerow.rsyslog_relp.configuration import RsyslogRelpConfiguration
from hedgerow_entrypoints.components.registry import Asked, Component, ControllerEntry, Reviews
from hedgerow_entrypoints.process.settings import ProcessSettings

if TYPE_CHECKING:
    from hedgerow.admission.registration import WebhookServer
    from hedgerow.rsyslog_relp.installation import RsyslogRelpInstallation


def _lifecycle(configuration: RsyslogRelpConfiguration, _cluster_id: str) -> Controller[Any]:
    from hedgerow.rsyslog_relp.lifecycle import lifecycle_controller
    from hedgerow_adapters.public_keys import public_key

    config = replace(configuration.lifecycle, public_key=public_key)
    return lifecycle_controller(config, configuration.controllers.lifecycle.concurrent_syncs)


def _heartbeat(configuration: RsyslogRelpConfiguration, _cluster_id: str) -> Controller[Any]:
    from hedgerow.extensions.heartbeat import heartbeat

    return heartbeat(configuration.heartbeat)


def _settings(configuration: RsyslogRelpConfiguration) -> ProcessSettings:
    return ProcessSettings(
        source=configuration.client_connection,
        source_field="clientConnection.kubeconfig",
        server=configuration.server,
        leader_election=configuration.leader_election,
        log_level=configuration.log_level,
        log_format=configuration.log_format,
    )


def _webhooks(configuration: RsyslogRelpConfiguration) -> Sequence[Webhook]:
    section = configuration.webhooks
    enabled = (section.operating_system_config.enabled, section.shoot.enabled)
    return [webhook for webhook, is_enabled in zip(_every_webhook(), enabled, strict=True) if is_enabled]


def _every_webhook() -> tuple[Webhook, Webhook]:
    from hedgerow.rsyslog_relp import operating_system_config_webhook, shoot_admission_webhook
    from hedgerow_adapters.public_keys import public_key

    return operating_system_config_webhook(public_key=public_key), shoot_admission_webhook(public_key=public_key)


def _registrations(configuration: RsyslogRelpConfiguration, server: "WebhookServer") -> Sequence[Manifest]:
    from hedgerow.rsyslog_relp.registration import webhook_configurations

    return webhook_configurations(_webhooks(configuration), server)


def _reviews() -> Reviews:
    from hedgerow.admission.registration import WebhookServer
    from hedgerow.api.gardener import OPERATING_SYSTEM_CONFIGS, SHOOTS
    from hedgerow.rsyslog_relp.registration import webhook_configurations

    def asked(_configuration: Any, names: Collection[str], _host: str | None, _mode: Any) -> Asked:
        webhooks = [each for each in _every_webhook() if each.name in names]
        return webhooks, webhook_configurations(webhooks, WebhookServer("", "garden"))

    return Reviews(
        purposes={
            "operating-system-config": "adds the files that forward the logs of nodes",
            "shoot-rsyslog-relp-admission": "denies Shoots whose RsyslogRelpConfig is not valid",
        },
        resources=(OPERATING_SYSTEM_CONFIGS, SHOOTS),
        asked=asked,
        readable=_with_readable_files,
    )


def _with_readable_files(osc: Manifest) -> Manifest:
    """An OperatingSystemConfig with encoded files as the texts that they are."""
    spec = osc.get("spec")
    files = spec.get("files") if isinstance(spec, Mapping) else None
    if not isinstance(spec, Mapping) or not isinstance(files, list):
        return osc
    return {**osc, "spec": {**spec, "files": [_decoded(each) for each in files]}}


def _decoded(file: Any) -> Any:
    try:
        inline = object_at(file, "content", "inline")
        if inline.get("encoding") != "b64":
            return file
        text = b64decode(inline["data"], validate=True).decode()
    except (AttributeError, KeyError, TypeError, UnreadableError, ValueError):
        return file  # of somebody else; it is shown as it is written
    return {**file, "content": {**file["content"], "inline": {**inline, "data": text}}}


def _installation() -> "type[RsyslogRelpInstallation]":
    from hedgerow.rsyslog_relp.installation import RsyslogRelpInstallation

    return RsyslogRelpInstallation


COMPONENT: Final = Component(
    name="rsyslog-relp",
    document=RsyslogRelpConfiguration,
    without_file=lambda _ask: RsyslogRelpConfiguration(),
    settings=_settings,
    controllers=(
        ControllerEntry("shoot_rsyslog_relp_lifecycle_controller", _lifecycle, "lifecycle", aliases=("rsyslog-relp",)),
        ControllerEntry("heartbeat", _heartbeat, "heartbeat", namespaces=("namespace",)),
    ),
    webhooks=_webhooks,
    registrations=_registrations,
    installation=_installation,
    reviews=_reviews,
)
