"""The objects that register the webhooks of the extension at API servers.

Source: rsyslog-relp §7.1, §12.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from hedgerow.admission.registration import (
    NOT_REMEDIATED,
    RegisteredWebhook,
    WebhookServer,
    configurations,
    written,
)
from hedgerow.admission.webhook import Webhook
from hedgerow.api.gardener import OPERATING_SYSTEM_CONFIGS, SHOOTS
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.selectors import LabelSelector, Operator, Requirement
from hedgerow.rsyslog_relp import operating_system_config, shoot_admission
from hedgerow.rsyslog_relp.naming import NAMESPACE_LABEL, SHOOT_LABEL, TYPE

NAME: Final = f"gardener-extension-{TYPE}"
ADMISSION: Final = f"{NAME}-admission"
"""The object that registers webhooks which change nothing."""
_DOMAIN: Final = "extensions.gardener.cloud"
_VERSIONS: Final = ("v1", "v1beta1")
_OF_SHOOTS: Final = LabelSelector(match_expressions=(Requirement(NAMESPACE_LABEL, Operator.IN, ("true",)),))
_REGISTERED: Final = (
    RegisteredWebhook(
        operating_system_config.PATH,
        f"{operating_system_config.NAME}.{TYPE}.{_DOMAIN}",
        written(OPERATING_SYSTEM_CONFIGS.group, OPERATING_SYSTEM_CONFIGS.version, OPERATING_SYSTEM_CONFIGS.plural),
        _OF_SHOOTS,
        review_versions=_VERSIONS,
    ),
    RegisteredWebhook(
        shoot_admission.PATH,
        f"validator.{TYPE}-admission.{_DOMAIN}",
        written(SHOOTS.group, "*", SHOOTS.plural),
        object_selector=LabelSelector(((SHOOT_LABEL, "true"),)),
        is_mutating=False,
        review_versions=_VERSIONS,
    ),
)


def registered_webhooks(webhooks: Iterable[Webhook]) -> tuple[RegisteredWebhook, ...]:
    """The registrations of webhooks of the extension."""
    paths = {webhook.path for webhook in webhooks}
    return tuple(registered for registered in _REGISTERED if registered.path in paths)


def webhook_configurations(webhooks: Iterable[Webhook], server: WebhookServer) -> tuple[Manifest, ...]:
    """The registration objects for one cluster.

    Args:
        webhooks: those of the extension that the server serves.
        server: where it is reached; without the name of a Service, that of the reference's.
    """
    server = replace(server, service=server.service or NAME)
    registered = registered_webhooks(webhooks)
    return (
        *configurations(NAME, NOT_REMEDIATED, (each for each in registered if each.is_mutating), server),
        *configurations(ADMISSION, {}, (each for each in registered if not each.is_mutating), server),
    )
