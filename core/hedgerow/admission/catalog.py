"""All webhooks that a configuration enables, in the order of their registration.

Source: webhooks-and-tokens §1.2, §4.1, §4.2.
"""

from collections.abc import Iterator

from hedgerow.admission import (
    defaulters,
    deletion_protection,
    extension_validation,
    high_availability,
    projected_token_mount,
    system_components_config,
)
from hedgerow.admission.config import AdmissionConfig
from hedgerow.admission.webhook import Webhook


def webhooks(config: AdmissionConfig) -> tuple[Webhook, ...]:
    """The enabled webhooks, mutating ones first."""
    return (*mutating_webhooks(config), *validating_webhooks(config))


def mutating_webhooks(config: AdmissionConfig) -> Iterator[Webhook]:
    """The enabled webhooks that change objects, in the order of their calls."""
    if config.token_invalidator:
        yield defaulters.token_invalidator()
    if config.projected_token_mount is not None:
        yield projected_token_mount.webhook(config.projected_token_mount)
    if config.high_availability_config is not None:
        yield high_availability.webhook(config.high_availability_config)
    if config.pod_scheduler_name is not None:
        yield defaulters.pod_scheduler_name(config.pod_scheduler_name)
    if config.seccomp_profile:
        yield defaulters.seccomp_profile()
    if config.kubernetes_service_host is not None:
        yield defaulters.kubernetes_service_host(config.kubernetes_service_host)
    if config.system_components_config is not None:
        yield system_components_config.webhook(config.system_components_config)
    if config.endpoint_slice_hints:
        yield defaulters.endpoint_slice_hints()
    if config.pod_topology_spread_constraints:
        yield defaulters.pod_topology_spread_constraints()


def validating_webhooks(config: AdmissionConfig) -> Iterator[Webhook]:
    """The enabled webhooks that only allow or deny."""
    if config.crd_deletion_protection:
        yield deletion_protection.webhook()
    if config.extension_validation:
        yield from extension_validation.webhooks()
