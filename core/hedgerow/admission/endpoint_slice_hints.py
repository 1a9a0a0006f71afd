"""For which zone an endpoint is hinted: its own, so that topology-aware routing is the same at every moment.

Source: webhooks-and-tokens §7.
"""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.admission.decision import Decision
from hedgerow.admission.request import AdmissionRequest
from hedgerow.admission.webhook import Webhook, apply_rules, mutating
from hedgerow.api.kubernetes import ENDPOINT_SLICES
from hedgerow.machinery.reading import text_at, with_each, with_value

NAME: Final = "endpoint-slice-hints"


def review(request: AdmissionRequest) -> Decision:
    """Hint every endpoint that has a zone for that zone, whatever it was hinted for; others keep what they have.

    Args:
        request: the creation or change of an EndpointSlice.

    Source: webhooks-and-tokens §7.
    """
    return apply_rules(
        request.object, [("own-zone", lambda endpoint_slice: with_each(endpoint_slice, ("endpoints",), own_zone))]
    )


def own_zone(endpoint: Mapping[str, Any]) -> Mapping[str, Any]:
    """The endpoint with its own zone as its only hint, unless it has no zone."""
    zone = text_at(endpoint, "zone")
    hints = {"forZones": [{"name": zone}]}
    return with_value(endpoint, ("hints",), hints) if zone and endpoint.get("hints") != hints else endpoint


def webhook() -> Webhook:
    """The webhook, which looks nothing up."""
    return Webhook(
        NAME,
        "/webhooks/endpoint-slice-hints",
        mutating(ENDPOINT_SLICES, lambda request, _snapshot: review(request)),
    )
