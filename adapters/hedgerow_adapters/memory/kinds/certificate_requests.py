"""CertificateSigningRequests as the API server refuses them, and the parts of them that are written alone.

Who asks is what a client says: the cluster knows no users, where a server writes its own findings into the spec. What
is encoded in a request or a certificate is not looked at.

Source: Kubernetes documentation, "Certificates and Certificate Signing Requests"; certificates.k8s.io/v1.
"""

import base64
import re
from collections.abc import Iterator
from typing import Any, Final

from hedgerow.api.kubernetes import CERTIFICATE_SIGNING_REQUESTS
from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.memory.field_errors import FieldError, duplicate, forbidden, invalid, required
from hedgerow_adapters.memory.field_rules import checked, needed, needed_as, one_of
from hedgerow_adapters.memory.kinds.core import encoded
from hedgerow_adapters.memory.kinds.kind import Fields, Kind, Part
from hedgerow_adapters.memory.shapes import anything, number, optional_text, text, texts, time

_SPEC: Final = {
    "request": encoded,
    "expirationSeconds": number,
    **dict.fromkeys(("usages", "groups"), texts),
    "extra": anything,
    **dict.fromkeys(("signerName", "username", "uid"), text),
}
_CONDITION: Final = {
    **dict.fromkeys(("type", "status"), optional_text),
    **dict.fromkeys(("reason", "message"), text),
    **dict.fromkeys(("lastUpdateTime", "lastTransitionTime"), time),
}
_TOO_SHORT: Final = "may not specify a duration less than 600 seconds (10 minutes)"
_USAGES: Final = (
    *("any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment"),
    *("decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel"),
    *("ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime"),
    *("server auth", "signing", "timestamping"),
)
_DECISIONS: Final = ("Approved", "Denied")
_FINAL: Final = (*_DECISIONS, "Failed")
_PEM: Final = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----\n.*-----END \1-----", re.DOTALL)
_SIGNER: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+/[^/].*")


def _complete(request: Fields, old: Manifest | None) -> None:
    """What was asked for never changes, whatever an update says."""
    request["spec"] = request.get("spec", {}) if old is None else old["spec"]


def _errors(request: Manifest, old: Manifest | None) -> Iterator[FieldError]:
    """Usages are named once; what was decided stays decided."""
    if old is None:
        usages = request["spec"].get("usages", [])
        for index, usage in enumerate(usages):
            if usage in _USAGES and usage in usages[:index]:
                yield duplicate(f"spec.usages[{index}]", usage)
        return
    for name in _FINAL:
        if name in _types_of(old) - _types_of(request):
            yield forbidden("status.conditions", f'updates may not remove a condition of type "{name}"')


def _conditions_errors(conditions: Any, path: str) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, condition in enumerate(conditions or ()):
        place, name = f"{path}[{index}]", condition.get("type", "")
        if not name:
            yield required(f"{place}.type")
        elif name in seen:
            yield duplicate(f"{place}.type", name)
        elif name in _DECISIONS and {name, *seen}.issuperset(_DECISIONS):
            yield invalid(path, name, "Approved and Denied conditions are mutually exclusive")
        allowed = ("True",) if name in _FINAL else ("False", "True", "Unknown")
        yield from needed_as(one_of(*allowed))(condition.get("status"), f"{place}.status")
        seen.add(name)


def _decision_errors(request: Manifest, old: Manifest) -> Iterator[FieldError]:
    """Through the status nobody decides."""
    certificate = request.get("status", {}).get("certificate")
    if certificate is not None and _pem_type(certificate) != "CERTIFICATE":
        problem = "must contain at least one CERTIFICATE PEM block"
        yield invalid("status.certificate", "<certificate data>", problem)
    for name in _DECISIONS:
        if name in _types_of(request) - _types_of(old):
            yield forbidden("status.conditions", f'updates may not add a condition of type "{name}"')


def _with_decision(given: Manifest, old: Manifest, now: str) -> Fields:
    """A request whose conditions alone are those of an update."""
    status = {name: value for name, value in old["status"].items() if name != "conditions"}
    decided = _stamped(given.get("status", {}).get("conditions", []), old, now)
    return {**old, "metadata": given["metadata"], "status": {**({"conditions": decided} if decided else {}), **status}}


def _with_status(given: Manifest, old: Manifest, now: str) -> Fields:
    """A request whose status is that of an update."""
    status = dict(given.get("status", {}))
    if "conditions" in status:
        status["conditions"] = _stamped(status["conditions"], old, now)
    return {**old, "metadata": given["metadata"], "status": status}


def _stamped(conditions: list[Fields], old: Manifest, now: str) -> list[Fields]:
    """Conditions that all say when they were updated, and since when their status is what it is."""
    known = {condition["type"]: condition for condition in old["status"].get("conditions", [])}
    stamped = []
    for condition in conditions:
        before = known.get(condition.get("type", ""), {})
        unchanged = before.get("status") == condition.get("status")
        since = before.get("lastTransitionTime", now) if unchanged else now
        stamped.append({"lastUpdateTime": now, "lastTransitionTime": since} | condition)
    return stamped


def _types_of(request: Manifest) -> set[str]:
    return {condition.get("type", "") for condition in request.get("status", {}).get("conditions", [])}


def _request_errors(request: Any, path: str) -> Iterator[FieldError]:
    if _pem_type(request or "") != "CERTIFICATE REQUEST":
        yield invalid(path, request, "PEM block type must be CERTIFICATE REQUEST")


def _signer_problem(signer: str) -> str | None:
    if not _SIGNER.fullmatch(signer):
        return "must be a fully qualified domain and path of the form 'example.com/signer-name'"
    is_legacy = signer == "kubernetes.io/legacy-unknown"
    return "the legacy signerName is not allowed via this API version" if is_legacy else None


def _pem_type(written: str) -> str:
    """What the first PEM block of an encoded text holds; empty where there is none."""
    found = _PEM.search(base64.b64decode(written).decode(errors="replace"))
    return found[1] if found else ""


CERTIFICATE_REQUESTS: Final = Kind(
    CERTIFICATE_SIGNING_REQUESTS,
    fields={"spec": _SPEC, "status": {"conditions": [_CONDITION], "certificate": encoded}},
    selectable=("spec.signerName",),
    completion=_complete,
    field_rules={
        "spec.request": _request_errors,
        "spec.usages": needed,
        "spec.usages[]": one_of(*_USAGES),
        "spec.signerName": needed_as(checked(_signer_problem)),
        "spec.expirationSeconds": checked(lambda seconds: _TOO_SHORT if seconds < 10 * 60 else None),
        "status.conditions": _conditions_errors,
    },
    rules=_errors,
    has_status=True,
    initial_status={},
    parts={"status": Part(_with_status, _decision_errors), "approval": Part(_with_decision)},
)
