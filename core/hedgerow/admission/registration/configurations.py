"""The registration objects of everything that is enabled, and of nothing else.

A webhook that is registered but not served would block every request that it is called for.

Source: webhooks-and-tokens §4 (I-6).
"""

from collections.abc import Sequence
from typing import Any, Final

from hedgerow.admission.config import AdmissionConfig
from hedgerow.admission.registration.entry import Mode, RegisteredWebhook, Server, service_name
from hedgerow.admission.registration.mutating import mutating_webhooks
from hedgerow.admission.registration.parsing import API_VERSION, MUTATING, VALIDATING
from hedgerow.admission.registration.validating import validating_webhooks
from hedgerow.machinery.objects import Manifest

NOT_REMEDIATED: Final = {"remediation.webhook.shoot.gardener.cloud/exclude": "true"}
"""Keeps Gardener from mending what it takes for a webhook of a user that endangers a shoot."""


def build_webhook_configurations(
    mode: Mode, name_prefix: str, namespace: str, ca_bundle: bytes, config: AdmissionConfig, *, url: str = ""
) -> tuple[Manifest, ...]:
    """The registration objects for one cluster; one that would register nothing is left out.

    Args:
        mode: the cluster.
        name_prefix: what the names of the server's objects start with; may be empty.
        namespace: where the server is.
        ca_bundle: PEM of the authorities that may have signed its certificate; empty: those that are trusted anyway.
        config: what is enabled.
        url: where the server is reached, `https://HOST:PORT`; empty: by its Service.

    Source: webhooks-and-tokens §4.
    """
    server = Server(service_name(name_prefix), namespace, ca_bundle, url)
    objects = _registered(mode, server.name, namespace, config)
    return tuple(_configuration(kind, webhooks, mode, server) for kind, webhooks in objects if webhooks)


def registered_paths(mode: Mode, config: AdmissionConfig) -> frozenset[str]:
    """Where the enabled webhooks are served that one of the clusters calls at all."""
    return frozenset(each.path for _, webhooks in _registered(mode, "", "", config) for each in webhooks)


def _registered(
    mode: Mode, app: str, home: str, config: AdmissionConfig
) -> tuple[tuple[str, tuple[RegisteredWebhook, ...]], ...]:
    """The entries of both kinds of registration objects; what denies is only called by the cluster of the process."""
    validating = () if mode is Mode.TARGET else validating_webhooks(config)
    return ((MUTATING, mutating_webhooks(mode, app, home, config)), (VALIDATING, validating))


def _configuration(kind: str, webhooks: Sequence[RegisteredWebhook], mode: Mode, server: Server) -> dict[str, Any]:
    is_here = mode is not Mode.TARGET
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": {
            "name": server.name if is_here else f"{server.name}-shoot",
            "labels": {"app": server.name, **(NOT_REMEDIATED if is_here else {})},
        },
        "webhooks": [webhook.manifest(mode, server) for webhook in webhooks],
    }
