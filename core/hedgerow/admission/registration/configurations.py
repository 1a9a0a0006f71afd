"""The registration objects of everything that is enabled, and of nothing else.

A webhook that is registered but not served would block every request that it is called for.

Source: webhooks-and-tokens §3.1; §4 (I-6).
"""

from base64 import b64encode
from typing import Any, Final

from hedgerow.admission.config import AdmissionConfig
from hedgerow.admission.registration.webhooks import Mode, RegisteredWebhook, registered_webhooks
from hedgerow.machinery.objects import Manifest

GROUP: Final = "admissionregistration.k8s.io"
API_VERSION: Final = f"{GROUP}/v1"
MUTATING: Final = "MutatingWebhookConfiguration"
VALIDATING: Final = "ValidatingWebhookConfiguration"
NOT_REMEDIATED: Final = {"remediation.webhook.shoot.gardener.cloud/exclude": "true"}
"""Keeps Gardener from mending what it takes for a webhook of a user that endangers a shoot."""


def service_name(name_prefix: str) -> str:
    """The name of the server's Service, which is also the `app` label of its pods."""
    return f"{name_prefix}gardener-resource-manager"


def build_webhook_configurations(
    mode: Mode, name_prefix: str, namespace: str, ca_bundle: bytes, config: AdmissionConfig, *, url: str = ""
) -> tuple[Manifest, ...]:
    """The registration objects for one cluster; one that would register nothing is left out.

    Args:
        mode: the cluster.
        name_prefix: what the names of the server's objects start with; may be empty.
        namespace: where the server is.
        ca_bundle: PEM of the authorities that may have signed its certificate; empty: those that API servers trust.
        config: what is enabled.
        url: where the server is reached, `https://HOST:PORT`; empty: by its Service.

    Source: webhooks-and-tokens §4.
    """
    app, is_here = service_name(name_prefix), mode is not Mode.TARGET
    if not url and not is_here:
        url = f"https://{app}.{namespace}:443"
    authority = {"caBundle": b64encode(ca_bundle).decode("ascii")} if ca_bundle else {}

    def client_config(path: str) -> dict[str, Any]:
        if url:
            return {"url": f"{url}{path}", **authority}
        return {"service": {"name": app, "namespace": namespace, "path": path}, **authority}

    webhooks = registered_webhooks(mode, app, namespace, config)
    name, labels = (app, NOT_REMEDIATED) if is_here else (f"{app}-shoot", {})
    entries = {
        MUTATING: [_entry(each, client_config(each.path)) for each in webhooks if each.is_mutating],
        VALIDATING: [_entry(each, client_config(each.path)) for each in webhooks if not each.is_mutating],
    }
    return tuple(
        {
            "apiVersion": API_VERSION,
            "kind": kind,
            "metadata": {"name": name, "labels": {"app": app, **labels}},
            "webhooks": of_kind,
        }
        for kind, of_kind in entries.items()
        if of_kind
    )


def _entry(webhook: RegisteredWebhook, client_config: dict[str, Any]) -> dict[str, Any]:
    selector, reinvocation = webhook.object_selector, webhook.reinvocation_policy
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
        "namespaceSelector": webhook.namespace_selector.manifest(),
        **({} if selector is None else {"objectSelector": selector.manifest()}),
        "failurePolicy": "Ignore" if webhook.ignores_failures else "Fail",
        "matchPolicy": "Equivalent" if webhook.matches_equivalents else "Exact",
        "sideEffects": "None",
        "timeoutSeconds": webhook.timeout_seconds,
        **({} if reinvocation is None else {"reinvocationPolicy": reinvocation}),
        "admissionReviewVersions": ["v1beta1", "v1"],
    }
