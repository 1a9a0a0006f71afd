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
from hedgerow_adapters.memory.field_errors import FieldError, duplicate, forbidden, invalid, one_of, required
from hedgerow_adapters.memory.kinds.core import encoded
from hedgerow_adapters.memory.kinds.kind import Fields, Kind, Part
from hedgerow_adapters.memory.shapes import anything, list_of, number, optional_text, structure, text, texts, time

_SPEC: Final = structure(
    {
        "request": encoded,
        "expirationSeconds": number,
        "usages": texts,
        "groups": texts,
        "extra": anything,
        **dict.fromkeys(("signerName", "username", "uid"), text),
    }
)
_STATUS: Final = structure(
    {
        "conditions": list_of(
            structure(
                {
                    **dict.fromkeys(("type", "status"), optional_text),
                    **dict.fromkeys(("reason", "message"), text),
                    **dict.fromkeys(("lastUpdateTime", "lastTransitionTime"), time),
                }
            )
        ),
        "certificate": encoded,
    }
)
_SHORTEST: Final = 600
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


def complete(request: Fields, old: Manifest | None) -> None:
    """What was asked for never changes, whatever an update says."""
    if old is None:
        request.setdefault("spec", {})
    else:
        request["spec"] = old["spec"]


def errors(request: Manifest, old: Manifest | None) -> Iterator[FieldError]:
    """A request names its signer and its usages; what was decided stays decided, and only one way."""
    if old is None:
        yield from _spec_errors(request["spec"])
        return
    conditions = request.get("status", {}).get("conditions", [])
    yield from _condition_errors(conditions)
    types = {condition["type"] for condition in conditions if "type" in condition}
    for name in _FINAL:
        if name in _types_of(old) - types:
            yield forbidden("status.conditions", f'updates may not remove a condition of type "{name}"')


def decision_errors(request: Manifest, old: Manifest) -> Iterator[FieldError]:
    """Through the status nobody decides."""
    certificate = request.get("status", {}).get("certificate")
    if certificate is not None and _pem_type(certificate) != "CERTIFICATE":
        problem = "must contain at least one CERTIFICATE PEM block"
        yield invalid("status.certificate", "<certificate data>", problem)
    for name in _DECISIONS:
        if name in _types_of(request) - _types_of(old):
            yield forbidden("status.conditions", f'updates may not add a condition of type "{name}"')


def with_decision(given: Manifest, old: Manifest, now: str) -> Fields:
    """A request whose conditions alone are those of an update."""
    status = {name: value for name, value in old["status"].items() if name != "conditions"}
    decided = _stamped(given.get("status", {}).get("conditions", []), old, now)
    return {**old, "metadata": given["metadata"], "status": {**({"conditions": decided} if decided else {}), **status}}


def with_status(given: Manifest, old: Manifest, now: str) -> Fields:
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


def _spec_errors(spec: Manifest) -> Iterator[FieldError]:
    if _pem_type(spec.get("request", "")) != "CERTIFICATE REQUEST":
        yield invalid("spec.request", spec.get("request"), "PEM block type must be CERTIFICATE REQUEST")
    usages = spec.get("usages", [])
    if not usages:
        yield required("spec.usages")
    for index, usage in enumerate(usages):
        yield from one_of(f"spec.usages[{index}]", usage, _USAGES)
        if usage in _USAGES and usage in usages[:index]:
            yield duplicate(f"spec.usages[{index}]", usage)
    yield from _signer_errors(spec.get("signerName", ""))
    seconds = spec.get("expirationSeconds")
    if seconds is not None and seconds < _SHORTEST:
        problem = "may not specify a duration less than 600 seconds (10 minutes)"
        yield invalid("spec.expirationSeconds", seconds, problem)


def _signer_errors(signer: str) -> Iterator[FieldError]:
    if not signer:
        yield required("spec.signerName")
    elif not _SIGNER.fullmatch(signer):
        problem = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        yield invalid("spec.signerName", signer, problem)
    elif signer == "kubernetes.io/legacy-unknown":
        yield invalid("spec.signerName", signer, "the legacy signerName is not allowed via this API version")


def _condition_errors(conditions: list[Manifest]) -> Iterator[FieldError]:
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        path, name = f"status.conditions[{index}]", condition.get("type", "")
        if not name:
            yield required(f"{path}.type")
        elif name in seen:
            yield duplicate(f"{path}.type", name)
        elif {name, *seen}.issuperset(_DECISIONS) and name in _DECISIONS:
            yield invalid("status.conditions", name, "Approved and Denied conditions are mutually exclusive")
        seen.add(name)
        yield from _condition_status_errors(f"{path}.status", condition.get("status", ""), name)


def _condition_status_errors(path: str, status: Any, name: str) -> Iterator[FieldError]:
    allowed = ("True",) if name in _FINAL else ("False", "True", "Unknown")
    yield from one_of(path, status, allowed) if status else (required(path),)


def _pem_type(written: str) -> str:
    """What the first PEM block of an encoded text holds; empty where there is none."""
    found = _PEM.search(base64.b64decode(written).decode(errors="replace"))
    return found[1] if found else ""


CERTIFICATE_REQUESTS: Final = Kind(
    CERTIFICATE_SIGNING_REQUESTS,
    fields={"spec": _SPEC, "status": _STATUS},
    selectable=("spec.signerName",),
    defaults=complete,
    rules=errors,
    has_status=True,
    initial_status={},
    parts={"status": Part(with_status, decision_errors), "approval": Part(with_decision)},
)
