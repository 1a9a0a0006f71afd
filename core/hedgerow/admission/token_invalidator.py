"""Whether the token in a ServiceAccount's Secret is worth anything: not while the Secret is labelled for it.

Who is labelled is decided elsewhere, and that the Secret is concerned at all is said by its purpose label, which the
registration asks for.

Source: webhooks-and-tokens §11.2.
"""

from hedgerow.admission.decision import Decision
from hedgerow.admission.request import AdmissionRequest
from hedgerow.admission.webhook import Webhook, apply_rules, mutating
from hedgerow.api.kubernetes import SECRETS
from hedgerow.api.tokens import CONSIDER, INVALIDATED, TOKEN_INVALIDATOR
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import object_at, with_value, without


def review(request: AdmissionRequest) -> Decision:
    """Overwrite the token of a labelled Secret, and take an overwritten one away where the label is gone.

    Args:
        request: the creation or change of a Secret.

    Source: webhooks-and-tokens §11.2.
    """
    return apply_rules(request.object, [("invalidate-token", invalidated), ("revoke-invalidation", revoked)])


def invalidated(secret: Manifest) -> Manifest:
    """The labelled Secret with a token that is worth nothing, unless it has no data at all."""
    if secret.get("data") is None or not is_labelled(secret) or _token(secret) == INVALIDATED:
        return secret
    return with_value(secret, ("data", "token"), INVALIDATED)


def revoked(secret: Manifest) -> Manifest:
    """The unlabelled Secret without such a token, so that Kubernetes issues a new one."""
    return secret if _token(secret) != INVALIDATED or is_labelled(secret) else without(secret, ("data", "token"))


def is_labelled(secret: Manifest) -> bool:
    """Whether the token is not to be worth anything."""
    return CONSIDER in object_at(secret, "metadata", "labels")


def _token(secret: Manifest) -> object:
    return object_at(secret, "data").get("token")


def webhook() -> Webhook:
    """The webhook, which looks nothing up."""
    return Webhook(
        TOKEN_INVALIDATOR,
        "/webhooks/invalidate-service-account-token-secret",
        mutating(SECRETS, lambda request, _snapshot: review(request)),
    )
