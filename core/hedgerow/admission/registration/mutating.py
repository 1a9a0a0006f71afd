"""Which requests each mutating webhook is called for, in the order of their calls.

Source: webhooks-and-tokens §4.1.
"""

from typing import Final

from hedgerow.admission.config import AdmissionConfig
from hedgerow.admission.registration.entry import DOMAIN, EQUIVALENT, EVERYTHING, IGNORE, NEVER, Mode, RegisteredWebhook
from hedgerow.admission.registration.registered import Rule
from hedgerow.admission.request import CREATE, UPDATE
from hedgerow.api.tokens import PURPOSE, TOKEN_INVALIDATOR
from hedgerow.machinery.selectors import LabelSelector, Operator, Requirement

CREATED: Final = (CREATE,)
WRITTEN: Final = (CREATE, UPDATE)
CREATED_PODS: Final = (Rule(CREATED, ("",), ("v1",), ("pods",)),)
WRITTEN_SECRETS: Final = (Rule(WRITTEN, ("",), ("v1",), ("secrets",)),)
WRITTEN_ENDPOINT_SLICES: Final = (Rule(WRITTEN, ("discovery.k8s.io",), ("v1",), ("endpointslices",)),)
WRITTEN_WORKLOADS_AND_AUTOSCALERS: Final = (
    Rule(WRITTEN, ("apps",), ("v1",), ("deployments", "statefulsets")),
    Rule(WRITTEN, ("autoscaling",), ("v2beta1", "v2"), ("horizontalpodautoscalers",)),
    Rule(WRITTEN, ("autoscaling.k8s.io",), ("v1alpha1",), ("hvpas",)),
)

HIGH_AVAILABILITY: Final = "high-availability-config"
HIGHLY_AVAILABLE: Final = ("high-availability-config.resources.gardener.cloud/consider", "true")
HINTED: Final = ("endpoint-slice-hints.resources.gardener.cloud/consider", "true")
INVALIDATED: Final = (PURPOSE, TOKEN_INVALIDATOR)
NOT_OPTED_OUT: Final = LabelSelector(
    match_expressions=(Requirement("apiserver-proxy.networking.gardener.cloud/inject", Operator.NOT_IN, ("disable",)),)
)


def mutating_webhooks(mode: Mode, app: str, home: str, config: AdmissionConfig) -> tuple[RegisteredWebhook, ...]:
    """The entries of all webhooks that are enabled.

    Args:
        mode: the cluster.
        app: the `app` label of the server's own pods, which must start without it.
        home: the namespace of the server.
        config: what is enabled.
    """
    foreign = Requirement("app", Operator.NOT_IN, (app,))
    namespaces_of_pods = mode.namespaces_of_pods(home)
    table = (
        (
            config.token_invalidator,
            RegisteredWebhook(
                "token-invalidator",
                "/webhooks/invalidate-service-account-token-secret",
                WRITTEN_SECRETS,
                mode.namespaces,
                LabelSelector((INVALIDATED,)),
            ),
        ),
        (
            config.projected_token_mount is not None,
            RegisteredWebhook(
                "projected-token-mount",
                "/webhooks/mount-projected-service-account-token",
                CREATED_PODS,
                namespaces_of_pods,
                LabelSelector((), (_not_skipped("projected-token-mount"), foreign)),
            ),
        ),
        (
            config.high_availability_config is not None,
            RegisteredWebhook(
                HIGH_AVAILABILITY,
                "/webhooks/high-availability-config",
                WRITTEN_WORKLOADS_AND_AUTOSCALERS,
                LabelSelector((HIGHLY_AVAILABLE,), mode.namespaces.match_expressions),
                mode.objects(_not_skipped(HIGH_AVAILABILITY)),
                match_policy=EQUIVALENT,
            ),
        ),
        (
            config.pod_scheduler_name is not None,
            RegisteredWebhook(
                "pod-scheduler-name",
                "/webhooks/default-pod-scheduler-name",
                CREATED_PODS,
                EVERYTHING,
                EVERYTHING,
                failure_policy=IGNORE,
            ),
        ),
        (
            config.seccomp_profile,
            RegisteredWebhook(
                "seccomp-profile",
                "/webhooks/seccomp-profile",
                CREATED_PODS,
                namespaces_of_pods,
                LabelSelector((), (_not_skipped("seccompprofile"), foreign)),
            ),
        ),
        (
            config.kubernetes_service_host is not None,
            RegisteredWebhook(
                "kubernetes-service-host",
                "/webhooks/kubernetes-service-host",
                CREATED_PODS,
                NOT_OPTED_OUT,
                NOT_OPTED_OUT,
                failure_policy=IGNORE,
                timeout_seconds=2,
                reinvocation_policy=NEVER,
            ),
        ),
        (
            config.system_components_config is not None and mode is Mode.TARGET,
            RegisteredWebhook(
                "system-components-config",
                "/webhooks/system-components-config",
                CREATED_PODS,
                namespaces_of_pods,
                mode.objects(_not_skipped("system-components-config")),
            ),
        ),
        (
            config.endpoint_slice_hints,
            RegisteredWebhook(
                "endpoint-slice-hints",
                "/webhooks/endpoint-slice-hints",
                WRITTEN_ENDPOINT_SLICES,
                mode.namespaces,
                LabelSelector((HINTED,)),
                match_policy=EQUIVALENT,
            ),
        ),
        (
            config.pod_topology_spread_constraints,
            RegisteredWebhook(
                "pod-topology-spread-constraints",
                "/webhooks/pod-topology-spread-constraints",
                CREATED_PODS,
                namespaces_of_pods,
                mode.objects(foreign, _not_skipped("topology-spread-constraints")),
            ),
        ),
    )
    return tuple(webhook for is_enabled, webhook in table if is_enabled)


def skip_label(webhook: str) -> str:
    """The label by which the author of an object keeps a webhook from being asked about it."""
    return f"{webhook}.{DOMAIN}/skip"


def _not_skipped(webhook: str) -> Requirement:
    return Requirement(skip_label(webhook), Operator.DOES_NOT_EXIST)
