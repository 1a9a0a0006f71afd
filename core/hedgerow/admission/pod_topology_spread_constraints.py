"""Which pods a spread constraint counts: those of the same ReplicaSet, not those that a rollout leaves behind.

Source: webhooks-and-tokens §6.3.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.admission.decision import Decision
from hedgerow.admission.request import AdmissionRequest
from hedgerow.admission.webhook import Webhook, apply_rules, mutating
from hedgerow.api.kubernetes import PODS
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import object_at, objects_at, text_at, with_each, with_value

NAME: Final = "pod-topology-spread-constraints"
POD_TEMPLATE_HASH: Final = "pod-template-hash"


def review(request: AdmissionRequest) -> Decision:
    """Have the spread constraints of a pod count the pods of its own ReplicaSet only.

    Args:
        request: the creation of a Pod.

    Source: webhooks-and-tokens §6.3.
    """
    return apply_rules(request.object, [("pod-template-hash", counting_its_own_replica_set)])


def counting_its_own_replica_set(pod: Manifest) -> Manifest:
    """The pod whose constraints ask for its own template hash, unless it has none; an empty one is one."""
    template_hash = text_at(pod, "metadata", "labels", POD_TEMPLATE_HASH)
    if template_hash is None:
        return pod

    def asking(constraint: Mapping[str, Any]) -> Mapping[str, Any]:
        if asks_for_a_hash(constraint):
            return constraint
        return with_value(constraint, ("labelSelector", "matchLabels", POD_TEMPLATE_HASH), template_hash)

    return with_each(pod, ("spec", "topologySpreadConstraints"), asking)


def asks_for_a_hash(constraint: Mapping[str, Any]) -> bool:
    """Whether a constraint names the template hashes that it counts; that there is any hash says nothing."""
    return POD_TEMPLATE_HASH in object_at(constraint, "labelSelector", "matchLabels") or any(
        expression.get("key") == POD_TEMPLATE_HASH and expression.get("operator") == "In"
        for expression in objects_at(constraint, "labelSelector", "matchExpressions")
    )


def webhook() -> Webhook:
    """The webhook, which looks nothing up."""
    return Webhook(
        NAME,
        "/webhooks/pod-topology-spread-constraints",
        mutating(PODS, lambda request, _snapshot: review(request)),
    )
