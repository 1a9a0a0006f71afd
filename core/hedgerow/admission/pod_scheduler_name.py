"""Which scheduler places a pod that asks for none: the configured one.

Source: webhooks-and-tokens §6.5.
"""

from typing import Final

from hedgerow.admission.decision import Decision
from hedgerow.admission.request import AdmissionRequest
from hedgerow.admission.webhook import Webhook, apply_rules, mutating
from hedgerow.api.kubernetes import PODS
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import text_at, with_value

NAME: Final = "pod-scheduler-name"
DEFAULT_SCHEDULER: Final = "default-scheduler"
"""What the API server writes where a pod names no scheduler, so that naming it says nothing."""


def review(request: AdmissionRequest, scheduler_name: str) -> Decision:
    """Give a pod without a scheduler of its own to the configured one.

    Args:
        request: the creation of a Pod.
        scheduler_name: the scheduler of pods that name none.

    Source: webhooks-and-tokens §6.5.
    """
    return apply_rules(request.object, [("scheduler-name", lambda pod: with_scheduler(pod, scheduler_name))])


def with_scheduler(pod: Manifest, scheduler_name: str) -> Manifest:
    """The pod with that scheduler, unless it names one that is not the default."""
    named = text_at(pod, "spec", "schedulerName") or DEFAULT_SCHEDULER
    if named != DEFAULT_SCHEDULER or scheduler_name == DEFAULT_SCHEDULER:
        return pod
    return with_value(pod, ("spec", "schedulerName"), scheduler_name)


def webhook(scheduler_name: str) -> Webhook:
    """The webhook, which looks nothing up."""
    return Webhook(
        NAME,
        "/webhooks/default-pod-scheduler-name",
        mutating(PODS, lambda request, _snapshot: review(request, scheduler_name)),
    )
