"""How a webhook is called, and what its answer says, or why it says nothing: the server checks it before it uses it.

Source: Kubernetes documentation, "Dynamic Admission Control", response.
"""

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

from hedgerow.admission import Denied
from hedgerow.admission.review import KIND
from hedgerow_adapters.registrations.registered import Entry


@dataclass(frozen=True, slots=True)
class WebhookCall:
    """One call of one webhook."""

    entry: Entry
    """The webhook as it is registered."""
    review: Mapping[str, Any]
    """The AdmissionReview document that is sent; it must not be changed."""


class CallFailedError(Exception):
    """A webhook gave no answer; the text says why."""


CallWebhook: TypeAlias = Callable[[WebhookCall], bytes | Mapping[str, Any]]
"""Returns the AdmissionReview document of the answer, as text or parsed; raises CallFailedError if there is none."""


def nobody(_call: WebhookCall) -> NoReturn:
    """The caller of a cluster without one: no webhook can be reached."""
    raise CallFailedError("connect: connection refused")


class UnusableAnswerError(Exception):
    """An answer that counts as none; the text says why."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a webhook answers."""

    denied: Denied | None
    """None: it allows the operation."""
    patch: bytes = b""
    """Of the object; empty: no change."""


def verdict_of(answer: bytes | Mapping[str, Any], question: Mapping[str, Any], *, mutating: bool) -> Verdict:
    """What an answer says.

    Raises:
        UnusableAnswerError: it does not answer that question.
    """
    document = _document(answer)
    response = document.get("response")
    if not isinstance(response, Mapping):
        raise _invalid("webhook response was absent")
    uid = question["request"]["uid"]
    if response.get("uid", "") != uid:
        raise _invalid(f'expected response.uid="{uid}", got "{response.get("uid", "")}"')
    expected, given = (f"{each.get('apiVersion', '')}, Kind={each.get('kind', '')}" for each in (question, document))
    if given != expected:
        raise _invalid(f"expected webhook response of {expected}, got {given}")
    patch = _patch(response, mutating=mutating)
    return Verdict(None, patch) if response.get("allowed") is True else Verdict(_denial(response))


def _document(answer: bytes | Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        document = answer if isinstance(answer, Mapping) else json.loads(answer)
    except ValueError as error:
        raise UnusableAnswerError(f"failed to call webhook: couldn't decode the answer: {error}") from None
    if not isinstance(document, Mapping):
        raise UnusableAnswerError(f"failed to call webhook: the answer is no {KIND}")
    return document


def _patch(response: Mapping[str, Any], *, mutating: bool) -> bytes:
    patch, patch_type = response.get("patch") or "", response.get("patchType")
    if not mutating:
        for name in ("patch", "patchType"):
            if response.get(name):
                raise _invalid(f"validating webhook may not return response.{name}")
    if patch and patch_type is None:
        raise _invalid("webhook returned response.patch but not response.patchType")
    if patch_type is not None and not patch:
        raise _invalid("webhook returned response.patchType but not response.patch")
    if patch and patch_type != "JSONPatch":
        raise _invalid(f'webhook returned invalid response.patchType of "{patch_type}"')
    try:
        return base64.b64decode(patch, validate=True)
    except (binascii.Error, TypeError) as error:
        raise UnusableAnswerError(f"failed to call webhook: illegal base64 data: {error}") from None


def _denial(response: Mapping[str, Any]) -> Denied:
    status = response.get("status") or {}
    return Denied(
        code=status.get("code") or 0,
        message=status.get("message") or "",
        reason=status.get("reason") or "",
        details=status.get("details"),
    )


def _invalid(problem: str) -> UnusableAnswerError:
    return UnusableAnswerError(f"received invalid webhook response: {problem}")
