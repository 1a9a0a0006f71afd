"""Which seccomp profile a pod runs with that names none: the one of its container runtime.

Source: webhooks-and-tokens §6.6.
"""

from typing import Final

from hedgerow.admission.decision import Decision
from hedgerow.admission.request import AdmissionRequest
from hedgerow.admission.webhook import Webhook, apply_rules, mutating
from hedgerow.api.kubernetes import PODS
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import text_at, with_value

NAME: Final = "seccomp-profile"
PROFILE: Final = ("spec", "securityContext", "seccompProfile")


def review(request: AdmissionRequest) -> Decision:
    """Let a pod without a profile of its own run with the container runtime's; profiles of containers do not count.

    Args:
        request: the creation of a Pod.

    Source: webhooks-and-tokens §6.6.
    """
    return apply_rules(request.object, [("runtime-default", runtime_default)])


def runtime_default(pod: Manifest) -> Manifest:
    """The pod with the profile `RuntimeDefault`, unless it has one already."""
    return pod if text_at(pod, *PROFILE, "type") else with_value(pod, PROFILE, {"type": "RuntimeDefault"})


def webhook() -> Webhook:
    """The webhook, which looks nothing up."""
    return Webhook(NAME, "/webhooks/seccomp-profile", mutating(PODS, lambda request, _snapshot: review(request)))
