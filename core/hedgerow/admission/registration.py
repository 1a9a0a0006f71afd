"""Which requests each webhook is called for, by the cluster that sends them, and the objects that register it.

A webhook that is registered but not served would block every request that it is called for, so the objects register
what is enabled and nothing else.

Source: webhooks-and-tokens §3.1, §4.1, §4.2; §4 (I-6).
"""

from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, Final

from hedgerow.admission.catalog import mutating_webhooks, validating_webhooks
from hedgerow.admission.config import AdmissionConfig
from hedgerow.admission.deletion_protection import PROTECTED_DEFINITIONS
from hedgerow.admission.extension_validation.kinds import KINDS, path_of
from hedgerow.admission.request import CREATE, DELETE, UPDATE
from hedgerow.admission.webhook import Webhook
from hedgerow.api.kubernetes import METADATA_NAME
from hedgerow.api.managed_resources import MANAGED_BY
from hedgerow.api.tokens import PURPOSE as SECRET_PURPOSE
from hedgerow.api.tokens import TOKEN_INVALIDATOR
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.selectors import LabelSelector, Operator, Requirement

GROUP: Final = "admissionregistration.k8s.io"
API_VERSION: Final = f"{GROUP}/v1"
MUTATING: Final = "MutatingWebhookConfiguration"
VALIDATING: Final = "ValidatingWebhookConfiguration"
NOT_REMEDIATED: Final = {"remediation.webhook.shoot.gardener.cloud/exclude": "true"}
"""Keeps Gardener from mending what it takes for a webhook of a user that endangers a shoot."""

DOMAIN: Final = "resources.gardener.cloud"
KUBE_SYSTEM: Final = "kube-system"
HIGH_AVAILABILITY: Final = "high-availability-config"
MOUNT: Final = "projected-token-mount"
SECCOMP_PROFILE: Final = "seccompprofile"
TOPOLOGY_SPREAD: Final = "topology-spread-constraints"
SKIPPED_BY_PODS: Final = (MOUNT, SECCOMP_PROFILE, TOPOLOGY_SPREAD)
"""What webhooks for new pods of any namespace are called in skip labels; those that may block."""
EVERYTHING: Final = LabelSelector()
ANY: Final = "*"
_NOT_OPTED_OUT: Final = LabelSelector(
    match_expressions=(Requirement("apiserver-proxy.networking.gardener.cloud/inject", Operator.NOT_IN, ("disable",)),)
)


class Mode(StrEnum):
    """The cluster that sends its requests."""

    RUNTIME = "runtime"
    """The one that the resource manager runs in: a seed, or the runtime cluster of a garden."""
    STANDALONE = "standalone"
    """The cluster that the resource manager runs in, without Gardener: its namespaces carry no purpose labels."""
    TARGET = "target"
    """Another cluster. Only what Gardener manages there is selected."""

    @property
    def namespaces(self) -> LabelSelector:
        """The selected namespaces: all but the system's, or in the target cluster only the system's."""
        operator = Operator.IN if self is Mode.TARGET else Operator.NOT_IN
        purpose = Requirement("gardener.cloud/purpose", operator, ("kube-system", "kubernetes-dashboard"))
        return LabelSelector(match_expressions=(purpose,))

    def namespaces_of_pods(self, home: str) -> LabelSelector:
        """The namespaces whose pods need an answer to start; `home` is the one of the process.

        The cluster of the process must be able to start without it: its network and DNS run in kube-system, and outside
        Gardener the process depends on the pods beside it. In Gardener, webhooks serve the namespace `garden` too.
        """
        if self is Mode.TARGET:
            return self.namespaces
        names = (KUBE_SYSTEM,) if self is Mode.RUNTIME else (KUBE_SYSTEM, home)
        left_out = Requirement(METADATA_NAME, Operator.NOT_IN, names)
        return LabelSelector(match_expressions=(*self.namespaces.match_expressions, left_out))

    def objects(self, *requirements: Requirement) -> LabelSelector:
        """The objects that meet requirements; in the target cluster only those that Gardener manages."""
        managed = ((MANAGED_BY, "gardener"),) if self is Mode.TARGET else ()
        return LabelSelector(managed, requirements)


class Scope(StrEnum):
    """Which resources a rule is for."""

    ALL = "*"
    CLUSTER = "Cluster"
    NAMESPACED = "Namespaced"


@dataclass(frozen=True, slots=True)
class Rule:
    """Requests that a webhook is called for; in each field `*` stands for everything."""

    operations: tuple[str, ...]
    groups: tuple[str, ...]
    versions: tuple[str, ...]
    resources: tuple[str, ...]
    """Such as `pods`, `pods/scale`, `pods/*` (pods and all their subresources), `*/scale`, `*` (no subresource)."""
    scope: Scope = Scope.ALL


_PODS: Final = (Rule((CREATE,), ("",), ("v1",), ("pods",)),)


@dataclass(frozen=True, slots=True)
class RegisteredWebhook:
    """Which requests a webhook is called for, and what happens if it cannot be called."""

    path: str
    name: str
    rules: tuple[Rule, ...]
    namespace_selector: LabelSelector = EVERYTHING
    object_selector: LabelSelector | None = None
    """None: not rendered, which selects everything."""
    ignores_failures: bool = False
    matches_equivalents: bool = False
    timeout_seconds: int = 10
    reinvocation_policy: str | None = None
    """None: not rendered."""
    is_mutating: bool = True
    review_versions: tuple[str, ...] = ("v1beta1", "v1")
    """Of AdmissionReviews; an API server sends the first that it knows."""


def registered_webhooks(mode: Mode, app: str, home: str, config: AdmissionConfig) -> tuple[RegisteredWebhook, ...]:
    """All webhooks that are enabled and called by a cluster: mutating ones in the order of their calls come first.

    Validating webhooks serve the cluster of the process alone. The server's own pods must start without it: `app` is
    their label, and `home` their namespace.
    """
    mutating = (_mutating(webhook, mode, app, home) for webhook in mutating_webhooks(config))
    validating = () if mode is Mode.TARGET else validating_webhooks(config)
    return (*(each for each in mutating if each), *(each for webhook in validating for each in _validating(webhook)))


def _mutating(  # noqa: PLR0911 -- a table: one return for each webhook
    webhook: Webhook, mode: Mode, app: str, home: str
) -> RegisteredWebhook | None:
    registered = partial(RegisteredWebhook, webhook.path, f"{webhook.name}.{DOMAIN}")
    foreign = Requirement("app", Operator.NOT_IN, (app,))
    match webhook.name:
        case "token-invalidator":
            labelled = LabelSelector(((SECRET_PURPOSE, TOKEN_INVALIDATOR),))
            return registered(written("", "v1", "secrets"), mode.namespaces, labelled)
        case "projected-token-mount" | "seccomp-profile" as name:
            skipped = SECCOMP_PROFILE if name == "seccomp-profile" else MOUNT
            objects = LabelSelector((), (_not_skipped(skipped), foreign))
            return registered(_PODS, mode.namespaces_of_pods(home), objects)
        case "high-availability-config":
            consider = LabelSelector((_considered(HIGH_AVAILABILITY),), mode.namespaces.match_expressions)
            rules: tuple[Rule, ...] = (
                *written("apps", "v1", "deployments", "statefulsets"),
                Rule((CREATE, UPDATE), ("autoscaling",), ("v2beta1", "v2"), ("horizontalpodautoscalers",)),
                *written("autoscaling.k8s.io", "v1alpha1", "hvpas"),
            )
            objects = mode.objects(_not_skipped(HIGH_AVAILABILITY))
            return registered(rules, consider, objects, matches_equivalents=True)
        case "pod-scheduler-name":
            return registered(_PODS, EVERYTHING, EVERYTHING, ignores_failures=True)
        case "kubernetes-service-host":
            return registered(
                _PODS,
                _NOT_OPTED_OUT,
                _NOT_OPTED_OUT,
                ignores_failures=True,
                timeout_seconds=2,
                reinvocation_policy="Never",
            )
        case "system-components-config":
            objects = mode.objects(_not_skipped("system-components-config"))
            return registered(_PODS, mode.namespaces_of_pods(home), objects) if mode is Mode.TARGET else None
        case "endpoint-slice-hints" as name:
            rules = written("discovery.k8s.io", "v1", "endpointslices")
            return registered(rules, mode.namespaces, LabelSelector((_considered(name),)), matches_equivalents=True)
        case "pod-topology-spread-constraints":
            objects = mode.objects(foreign, _not_skipped(TOPOLOGY_SPREAD))
            return registered(_PODS, mode.namespaces_of_pods(home), objects)
    raise ValueError(f"no registration of the webhook {webhook.name}")  # pragma: no cover -- the catalogue has no other


def _validating(webhook: Webhook) -> Iterator[RegisteredWebhook]:
    """The registrations of a validating webhook: one is called for definitions and for custom resources, each."""
    registered = partial(RegisteredWebhook, webhook.path, is_mutating=False)
    resources = [kind.resource for kind in KINDS.values()]
    if webhook.name != "crd-deletion-protection":
        group, version, plural, _, _ = next(each for each in resources if path_of(each) == webhook.path)
        yield registered(f"validation.extensions.{plural}.{DOMAIN}", written(group, version, plural))
        return
    definitions = Rule((DELETE,), ("apiextensions.k8s.io",), ("v1beta1", "v1"), ("customresourcedefinitions",))
    protected = LabelSelector((PROTECTED_DEFINITIONS,))
    yield registered(f"crd-deletion-protection.{DOMAIN}", (definitions,), object_selector=protected)
    groups = sorted({each.group for each in resources})
    plurals = [tuple(each.plural for each in resources if each.group == group) for group in groups]
    rules = tuple(Rule((DELETE,), (group,), ("v1alpha1",), names) for group, names in zip(groups, plurals, strict=True))
    yield registered(f"cr-deletion-protection.{DOMAIN}", rules)


def written(group: str, version: str, *plurals: str) -> tuple[Rule, ...]:
    """The rule for resources that are created or updated."""
    return (Rule((CREATE, UPDATE), (group,), (version,), plurals),)


def skip_label(webhook: str) -> str:
    """The label by which the author of an object keeps a webhook from being called for it."""
    return f"{webhook}.{DOMAIN}/skip"


def _not_skipped(webhook: str) -> Requirement:
    return Requirement(skip_label(webhook), Operator.DOES_NOT_EXIST)


def _considered(webhook: str) -> tuple[str, str]:
    return (f"{webhook}.{DOMAIN}/consider", "true")


def service_name(name_prefix: str) -> str:
    """The name of the server's Service, which is also the `app` label of its pods."""
    return f"{name_prefix}gardener-resource-manager"


def build_webhook_configurations(
    mode: Mode, name_prefix: str, namespace: str, ca_bundle: bytes, config: AdmissionConfig, *, url: str = ""
) -> tuple[Manifest, ...]:
    """The registration objects for one cluster; one that would register nothing is left out.

    Args:
        mode: the cluster.
        name_prefix: of the server's objects; may be empty.
        namespace: of the server.
        ca_bundle: PEM of the authorities that may have signed its certificate; empty: those that API servers trust.
        config: what is enabled.
        url: where the server is reached, `https://HOST:PORT`; empty: by its Service.
    """
    app, is_here = service_name(name_prefix), mode is not Mode.TARGET
    if not url and not is_here:
        url = f"https://{app}.{namespace}:443"
    name, labels = (app, NOT_REMEDIATED) if is_here else (f"{app}-shoot", {})
    webhooks = registered_webhooks(mode, app, namespace, config)
    return configurations(name, {"app": app, **labels}, webhooks, WebhookServer(app, namespace, ca_bundle, url))


@dataclass(frozen=True, slots=True)
class WebhookServer:
    """Where API servers reach webhooks."""

    service: str
    namespace: str
    ca_bundle: bytes = b""
    """PEM of the authorities that may have signed its certificate; empty: those that API servers trust."""
    url: str = ""
    """`https://HOST:PORT`; empty: the Service."""

    def client_config(self, path: str) -> dict[str, Any]:
        """How to call the webhook of a path."""
        authority = {"caBundle": b64encode(self.ca_bundle).decode("ascii")} if self.ca_bundle else {}
        if self.url:
            return {"url": f"{self.url}{path}", **authority}
        return {"service": {"name": self.service, "namespace": self.namespace, "path": path}, **authority}


def configurations(
    name: str, labels: Mapping[str, str], webhooks: Iterable[RegisteredWebhook], server: WebhookServer
) -> tuple[Manifest, ...]:
    """The objects that register webhooks, all of one name: at most one for those that mutate, and one for others."""
    entries: dict[str, list[Manifest]] = {MUTATING: [], VALIDATING: []}
    for webhook in webhooks:
        kind = MUTATING if webhook.is_mutating else VALIDATING
        entries[kind].append(_entry(webhook, server.client_config(webhook.path)))
    metadata = {"name": name, "labels": dict(labels)}
    return tuple(
        {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "webhooks": of_kind}
        for kind, of_kind in entries.items()
        if of_kind
    )


def terms(webhook: RegisteredWebhook) -> dict[str, Any]:
    """The fields of an entry that say what is asked about, for how long, and what a failure means."""
    selector = webhook.object_selector
    return {
        "namespaceSelector": webhook.namespace_selector.manifest(),
        **({} if selector is None else {"objectSelector": selector.manifest()}),
        "failurePolicy": "Ignore" if webhook.ignores_failures else "Fail",
        "timeoutSeconds": webhook.timeout_seconds,
    }


def _entry(webhook: RegisteredWebhook, client_config: dict[str, Any]) -> dict[str, Any]:
    reinvocation = webhook.reinvocation_policy
    rules = [
        {
            "apiGroups": list(rule.groups),
            "apiVersions": list(rule.versions),
            "resources": list(rule.resources),
            "operations": list(rule.operations),
        }
        for rule in webhook.rules
    ]
    return {
        "name": webhook.name,
        "clientConfig": client_config,
        "rules": rules,
        **terms(webhook),
        "matchPolicy": "Equivalent" if webhook.matches_equivalents else "Exact",
        "sideEffects": "None",
        **({} if reinvocation is None else {"reinvocationPolicy": reinvocation}),
        "admissionReviewVersions": list(webhook.review_versions),
    }
