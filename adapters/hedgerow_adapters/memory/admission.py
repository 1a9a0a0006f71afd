"""The way of one request through the registered webhooks: changed by one after the other, then checked by all.

A changed object is read, completed and converted anew, as the API server does it. The order is that of
`hedgerow_adapters.registrations.dispatch`.

Source: Kubernetes documentation, "Dynamic Admission Control".
"""

import base64
import binascii
import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NoReturn, TypeAlias

from returns.result import Failure

from hedgerow.admission import AdmissionRequest, Denied
from hedgerow.admission.request import GroupVersionKind, GroupVersionResource
from hedgerow.admission.review import KIND, V1, VERSIONS
from hedgerow.api.kubernetes import NAMESPACES
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, labels_of
from hedgerow_adapters.memory import statuses
from hedgerow_adapters.memory.clock import Identities
from hedgerow_adapters.memory.kinds.kind import Kind
from hedgerow_adapters.memory.kinds.webhook_configurations import MUTATING_CONFIGURATIONS, VALIDATING_CONFIGURATIONS
from hedgerow_adapters.memory.metadata import decoded
from hedgerow_adapters.memory.served import ServedKinds
from hedgerow_adapters.memory.shapes import ShapeError
from hedgerow_adapters.memory.storage import Storage
from hedgerow_adapters.protocol.json_patch import apply_json_patch
from hedgerow_adapters.registrations.dispatch import (
    Attributes,
    Call,
    Progress,
    failed,
    rejected,
    review_document,
    validating_calls,
)
from hedgerow_adapters.registrations.registered import Entry, Registrations, parse_registrations

_CONFIGURATIONS: Final = (MUTATING_CONFIGURATIONS.stored_as, VALIDATING_CONFIGURATIONS.stored_as)


@dataclass(frozen=True, slots=True)
class WebhookCall:
    """One call of one webhook."""

    entry: Entry
    review: Mapping[str, Any]
    """The AdmissionReview document that is sent; it must not be changed."""


class CallFailedError(Exception):
    """A webhook gave no answer, or one that counts as none; the text says why."""


CallWebhook: TypeAlias = Callable[[WebhookCall], bytes | Mapping[str, Any]]
"""Returns the AdmissionReview document of the answer, as text or parsed; raises CallFailedError if there is none."""


def nobody(_call: WebhookCall) -> NoReturn:
    """The caller of a cluster without one: no webhook can be reached."""
    raise CallFailedError("connect: connection refused")


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation on one object."""

    verb: str
    """CREATE, UPDATE or DELETE."""
    kind: Kind
    """Of the objects that webhooks see."""
    key: ObjectKey
    """The name is empty where it is still to be generated, and where many objects are deleted at once."""
    subresource: str = ""
    workload: Resource | None = None
    """What is scaled, where the objects are Scales."""

    def request(self, new: Any, old: Any, *, dry_run: bool) -> AdmissionRequest:
        """The request that asks webhooks about it."""
        shown, addressed = self.kind.resource, self.workload or self.kind.resource
        return AdmissionRequest(
            kind=GroupVersionKind(shown.group, shown.version, shown.kind),
            resource=GroupVersionResource(addressed.group, addressed.version, addressed.plural),
            operation=self.verb,
            # In requests, a Namespace is in itself.
            namespace=self.key.name if shown == NAMESPACES else self.key.namespace,
            name=self.key.name,
            object=new,
            old_object=old,
            subresource=self.subresource,
            dry_run=dry_run,
        )


class Admission:
    """Calls the webhooks that are registered in a cluster."""

    def __init__(self, storage: Storage, kinds: ServedKinds, call_webhook: CallWebhook) -> None:
        self.call_webhook = call_webhook
        self._storage = storage
        self._kinds = kinds
        self._identities = Identities()
        self._registered = Registrations()
        self._versions: list[str] = []

    def mutated(self, operation: Operation, new: Any, old: Manifest | None) -> Any:
        """The object after all mutating webhooks; refused if one of them denies or fails.

        The new object is complete, and none for deletions. The old one is as stored, and none for creations.
        """
        registered = self._registrations()
        if not registered.mutating_entries:
            return new
        attributes = self._attributes(operation, new, old)
        progress = Progress(registered.mutating_entries)
        while step := progress.next_call(attributes):
            call, progress = step
            changed = self._changed(call, operation.kind, attributes.request)
            if changed is not None:
                attributes, progress = attributes.with_object(changed), progress.after_change()
        return attributes.request.object

    def check(self, operation: Operation, new: Manifest | None, old: Manifest | None) -> None:
        """Call all validating webhooks; refused if one of them denies or fails, in the words of the first."""
        registered = self._registrations()
        if not registered.validating_entries:
            return
        attributes = self._attributes(operation, new, old)
        refusals = []
        for call in validating_calls(registered, attributes):
            try:
                self._patch(call, self._seen_by(call, operation.kind, attributes.request), mutating=False)
            except statuses.RefusedError as refusal:
                refusals.append(refusal)
        if refusals:
            raise refusals[0]

    def _registrations(self) -> Registrations:
        """What is registered; read again only after it has changed."""
        stored = [manifest for resource in _CONFIGURATIONS for manifest in self._storage.all(resource)]
        versions = [manifest["metadata"]["resourceVersion"] for manifest in stored]
        if versions != self._versions:
            self._registered, self._versions = parse_registrations(stored), versions
        return self._registered

    def _attributes(self, operation: Operation, new: Any, old: Manifest | None) -> Attributes:
        request = operation.request(new, old, dry_run=self._storage.is_trial)
        namespace = self._storage.get(NAMESPACES, ObjectKey("", request.namespace))
        own = operation.kind
        others = (kind.resource for kind in self._kinds if kind.stored_as == own.stored_as and kind is not own)
        return Attributes(request, labels_of(namespace or {}), tuple(others))

    def _changed(self, call: Call, kind: Kind, request: AdmissionRequest) -> Manifest | None:
        """The object after a mutating webhook; none if it does not change it."""
        seen = self._seen_by(call, kind, request)
        patch = self._patch(call, seen, mutating=True)
        operations = _operations(patch) if patch else []
        if not operations:
            return None
        if seen.object is None:
            problem = "attempted to modify the object, which is not supported for this operation"
            raise statuses.internal_error(f'admission webhook "{call.entry.name}" {problem}')
        shown = self._shown_kind(call, kind)
        document = apply_json_patch(seen.object, operations)
        if isinstance(document, Failure):
            raise statuses.internal_error(document.failure())
        try:
            patched = decoded(shown, document.unwrap())
        except ShapeError as error:
            raise statuses.internal_error(str(error)) from None
        if patched == seen.object:
            return None
        shown.complete(patched, seen.old_object)
        return _converted(patched, shown, kind)

    def _seen_by(self, call: Call, kind: Kind, request: AdmissionRequest) -> AdmissionRequest:
        """The request as one webhook sees it: in the version of its registration, with a UID of its own.

        The new object is a copy, as the server changes its own.
        """
        shown = self._shown_kind(call, kind)
        new, old = (
            manifest and _converted(manifest, kind, shown)
            for manifest in (copy.deepcopy(request.object), request.old_object)
        )
        uid = self._identities.uid()
        return replace(request, uid=uid, kind=call.kind, resource=call.resource, object=new, old_object=old)

    def _shown_kind(self, call: Call, kind: Kind) -> Kind:
        if (call.kind.group, call.kind.version) == (kind.resource.group, kind.resource.version):
            return kind
        return self._kinds.by_path.get((call.kind.api_version, call.resource.resource), kind)

    def _patch(self, call: Call, request: AdmissionRequest, *, mutating: bool) -> bytes:
        """The patch that a webhook answers; refused if it denies the request, or fails and may not."""
        entry = call.entry
        accepted = (version for name in entry.review_versions for version in VERSIONS if version.endswith(f"/{name}"))
        review = review_document(request, next(accepted, V1))
        try:
            answer = _patch_or_denial(self._answer(WebhookCall(entry, review)), review, mutating=mutating)
        except CallFailedError as error:
            failure = failed(entry, str(error))
            if failure is None:
                return b""
            raise statuses.internal_error(failure.message) from None
        if isinstance(answer, Denied):
            denied = rejected(entry, answer)
            raise statuses.refused(denied.code, denied.reason, denied.message, denied.details)
        return answer

    def _answer(self, call: WebhookCall) -> bytes | Mapping[str, Any]:
        try:
            return self.call_webhook(call)
        except CallFailedError as error:
            client = call.entry.client
            url = f"https://{client.host}:{client.port}{client.path}?timeout={call.entry.timeout_seconds}s"
            raise CallFailedError(f'failed to call webhook: Post "{url}": {error}') from None


def _patch_or_denial(answer: Any, question: Mapping[str, Any], *, mutating: bool) -> bytes | Denied:
    """What an answer says: no patch is empty.

    Raises:
        CallFailedError: it does not answer that question.
    """
    try:
        document = answer if isinstance(answer, Mapping) else json.loads(answer)
    except ValueError as error:
        raise CallFailedError(f"failed to call webhook: couldn't decode the answer: {error}") from None
    if not isinstance(document, Mapping):
        raise CallFailedError(f"failed to call webhook: the answer is no {KIND}")
    response = document.get("response")
    if not isinstance(response, Mapping):
        raise _invalid("webhook response was absent")
    uid = question["request"]["uid"]
    if response.get("uid", "") != uid:
        raise _invalid(f'expected response.uid="{uid}", got "{response.get("uid", "")}"')
    expected, given = (f"{each.get('apiVersion', '')}, Kind={each.get('kind', '')}" for each in (question, document))
    if given != expected:
        raise _invalid(f"expected webhook response of {expected}, got {given}")
    patch = _patch_in(response, mutating=mutating)
    if response.get("allowed") is True:
        return patch
    status = response.get("status") or {}
    return Denied(
        code=status.get("code") or 0,
        message=status.get("message") or "",
        reason=status.get("reason") or "",
        details=status.get("details"),
    )


def _patch_in(response: Mapping[str, Any], *, mutating: bool) -> bytes:
    patch, patch_type = response.get("patch") or "", response.get("patchType")
    for name in () if mutating else ("patch", "patchType"):
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
        raise CallFailedError(f"failed to call webhook: illegal base64 data: {error}") from None


def _invalid(problem: str) -> CallFailedError:
    return CallFailedError(f"received invalid webhook response: {problem}")


def _operations(patch: bytes) -> list[Manifest]:
    try:
        operations = json.loads(patch)
    except ValueError as error:
        raise statuses.internal_error(f"invalid patch: {error}") from None
    operations = [] if operations is None else operations
    if not isinstance(operations, list) or not all(isinstance(each, dict) for each in operations):
        raise statuses.internal_error("json: cannot unmarshal the patch into Go value of type jsonpatch.Patch")
    return operations


def _converted(manifest: Manifest, kind: Kind, wanted: Kind) -> Manifest:
    return manifest if kind is wanted else wanted.from_stored(kind.to_stored(manifest))
