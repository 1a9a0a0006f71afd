"""Under which name the containers of a pod reach the API server: the configured one, unless they name their own.

Knows nothing of who is to be spared: labels of pods and namespaces decide that before a webhook is asked.

Source: webhooks-and-tokens §6.1.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.admission.decision import Decision
from hedgerow.admission.request import AdmissionRequest
from hedgerow.admission.webhook import Webhook, apply_rules, mutating
from hedgerow.api.kubernetes import PODS
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import list_at, objects_at, with_each, with_value

NAME: Final = "kubernetes-service-host"
VARIABLE: Final = "KUBERNETES_SERVICE_HOST"


def review(request: AdmissionRequest, host: str) -> Decision:
    """Tell every container and init container where the API server is; ephemeral ones are left alone.

    Args:
        request: the creation of a Pod.
        host: the name under which the API server is reached.

    Source: webhooks-and-tokens §6.1.
    """
    return apply_rules(request.object, [("service-host", lambda pod: with_service_host(pod, host))])


def with_service_host(pod: Manifest, host: str) -> Manifest:
    """The pod with the host in the environment of its containers, unless the variable stands there with any value."""

    def told(container: Mapping[str, Any]) -> Mapping[str, Any]:
        if VARIABLE in [variable.get("name") for variable in objects_at(container, "env")]:
            return container
        return with_value(container, ("env",), [*list_at(container, "env"), {"name": VARIABLE, "value": host}])

    return with_each(with_each(pod, ("spec", "initContainers"), told), ("spec", "containers"), told)


def webhook(host: str) -> Webhook:
    """The webhook, which looks nothing up."""
    return Webhook(
        NAME,
        "/webhooks/kubernetes-service-host",
        mutating(PODS, lambda request, _snapshot: review(request, host)),
    )
