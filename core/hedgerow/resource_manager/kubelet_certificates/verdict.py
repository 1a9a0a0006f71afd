"""What is read of a CertificateSigningRequest, what is kept of it, and the condition that is the verdict on it.

A verdict is final: an API server refuses to take it back. What reads a request raises UnreadableError where it has a
shape that no API server stores.

Source: network-and-nodes §6.3.
"""

from base64 import b64decode
from typing import Any, Final

from returns.result import Failure, Result, Success

from hedgerow.api.kubernetes import CERTIFICATE_SIGNING_REQUESTS, KUBELET_SERVING
from hedgerow.machinery.conditions import conditions_of
from hedgerow.machinery.objects import Manifest, resource_version_of, uid_of
from hedgerow.machinery.plan import Update
from hedgerow.machinery.reading import list_at, text_at, with_value

APPROVAL: Final = "approval"
"""The subresource by which a verdict is given."""
APPROVED: Final = "Approved"
DENIED: Final = "Denied"
_VERDICTS: Final = frozenset({APPROVED, DENIED})


def awaits_verdict(csr: Manifest) -> bool:
    """True if a kubelet asks for a serving certificate and nobody has decided; failed signing is no verdict."""
    return text_at(csr, "spec", "signerName") == KUBELET_SERVING and not is_decided(csr)


def is_decided(csr: Manifest) -> bool:
    """Whether a request was approved or denied, whatever the status of the condition, or has its certificate."""
    return bool(text_at(csr, "status", "certificate")) or any(each.type in _VERDICTS for each in conditions_of(csr))


def transform_request(csr: Manifest) -> Manifest:
    """Of an undecided request all but its managed fields, as it is written back; of others that they are."""
    metadata: dict[str, Any] = {**(csr.get("metadata") or {})}
    if not is_decided(csr):
        metadata.pop("managedFields", None)
        return {**csr, "metadata": metadata}
    status = csr["status"]
    decisive = "conditions" if status.get("conditions") else "certificate"
    return {
        "metadata": {"name": metadata.get("name"), "uid": uid_of(csr), "resourceVersion": resource_version_of(csr)},
        "spec": {"signerName": text_at(csr, "spec", "signerName")},
        "status": {decisive: status[decisive]},
    }


def groups_of(csr: Manifest) -> frozenset[str]:
    """The groups of the user who has made a request, as the API server knows them."""
    return frozenset(each for each in list_at(csr, "spec", "groups") if isinstance(each, str))


def encoded_request(csr: Manifest) -> Result[bytes, str]:
    """What a kubelet has encoded, or why that cannot be told."""
    try:
        return Success(b64decode(text_at(csr, "spec", "request") or "", validate=True))
    except ValueError:
        return Failure("not encoded in base64")


def approval(csr: Manifest) -> Update:
    """The write that approves a request, which is complete and of the version that was decided about."""
    message = "Approving kubelet server certificate CSR (all checks passed)"
    return _with_condition(csr, APPROVED, "RequestApproved", message, "certificate-approved")


def denial(csr: Manifest, reason: str) -> Update:
    """The write that denies a request, likewise; the reason is a clause."""
    message = f"Denying kubelet server certificate CSR ({reason})"
    return _with_condition(csr, DENIED, "RequestDenied", message, "certificate-denied")


def _with_condition(csr: Manifest, condition_type: str, reason: str, message: str, rule: str) -> Update:
    """The request with one more condition; the API server adds the times."""
    condition = {"type": condition_type, "status": "True", "reason": reason, "message": message}
    decided = with_value(csr, ("status", "conditions"), [*list_at(csr, "status", "conditions"), condition])
    resource = CERTIFICATE_SIGNING_REQUESTS
    return Update(
        resource,
        {**decided, "apiVersion": resource.api_version, "kind": resource.kind},
        reason=rule,
        subresource=APPROVAL,
    )
