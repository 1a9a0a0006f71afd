"""The way of one request through the registered webhooks: changed by one after the other, then checked by all.

A changed object is read, completed and converted anew, as the API server does it.

Source: Kubernetes documentation, "Dynamic Admission Control".
"""

import copy
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from hedgerow.admission import AdmissionRequest
from hedgerow.admission.request import GroupVersionKind, GroupVersionResource
from hedgerow.admission.review import V1, VERSIONS
from hedgerow.api.kubernetes import NAMESPACES
from hedgerow.machinery.objects import Manifest, ObjectKey, Resource, labels_of
from hedgerow_adapters.memory import statuses
from hedgerow_adapters.memory.admission.calls import (
    CallFailedError,
    CallWebhook,
    UnusableAnswerError,
    Verdict,
    WebhookCall,
    verdict_of,
)
from hedgerow_adapters.memory.clock import Identities
from hedgerow_adapters.memory.kinds.kind import Fields, Kind
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
from hedgerow_adapters.registrations.registered import Registrations, parse_registrations

_CONFIGURATIONS: Final = (MUTATING_CONFIGURATIONS.stored_as, VALIDATING_CONFIGURATIONS.stored_as)
_SILENT: Final = Verdict(None)
"""Of a webhook that failed and may."""


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

    @property
    def namespace(self) -> str:
        """The namespace in requests: a Namespace is in itself."""
        return self.key.name if self.kind.resource == NAMESPACES else self.key.namespace

    def request(self, new: Any, old: Any, *, dry_run: bool) -> AdmissionRequest:
        """The request that asks webhooks about it."""
        shown, addressed = self.kind.resource, self.workload or self.kind.resource
        return AdmissionRequest(
            kind=GroupVersionKind(shown.group, shown.version, shown.kind),
            resource=GroupVersionResource(addressed.group, addressed.version, addressed.plural),
            operation=self.verb,
            namespace=self.namespace,
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

        Args:
            operation: on the object.
            new: the complete new object; none for deletions.
            old: the stored object; none for creations.
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
                seen = self._seen_by(call, operation.kind, attributes.request)
                self._verdict(call, seen, mutating=False)
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
        namespace = self._storage.get(NAMESPACES, ObjectKey("", operation.namespace))
        others = (kind.resource for kind in self._kinds.versions_of(operation.kind))
        return Attributes(
            operation.request(new, old, dry_run=self._storage.is_trial),
            labels_of(namespace or {}),
            tuple(resource for resource in others if resource != operation.kind.resource),
        )

    def _changed(self, call: Call, kind: Kind, request: AdmissionRequest) -> Manifest | None:
        """The object after a mutating webhook; none if it does not change it."""
        seen = self._seen_by(call, kind, request)
        verdict = self._verdict(call, seen, mutating=True)
        operations = _operations(verdict.patch) if verdict.patch else []
        if not operations:
            return None
        if seen.object is None:
            raise statuses.internal_error(
                f'admission webhook "{call.entry.name}" attempted to modify the object, '
                "which is not supported for this operation"
            )
        shown = self._shown_kind(call, kind)
        patched = _patched(shown, seen.object, operations)
        if patched == seen.object:
            return None
        shown.complete(patched, seen.old_object)
        return _converted(patched, shown, kind)

    def _seen_by(self, call: Call, kind: Kind, request: AdmissionRequest) -> AdmissionRequest:
        """The request as one webhook sees it: in the version of its registration, with a UID of its own.

        The new object is a copy, as the server changes its own.
        """
        shown = self._shown_kind(call, kind)
        old_object, new_object = (
            manifest and _converted(manifest, kind, shown)
            for manifest in (request.old_object, copy.deepcopy(request.object))
        )
        return replace(
            request,
            uid=self._identities.uid(),
            kind=call.kind,
            resource=call.resource,
            object=new_object,
            old_object=old_object,
        )

    def _shown_kind(self, call: Call, kind: Kind) -> Kind:
        if (call.kind.group, call.kind.version) == (kind.resource.group, kind.resource.version):
            return kind
        return self._kinds.at(call.kind.api_version, call.resource.resource) or kind

    def _verdict(self, call: Call, request: AdmissionRequest, *, mutating: bool) -> Verdict:
        """What a webhook answers; refused if it denies the request, or fails and may not."""
        entry = call.entry
        review = review_document(request, _review_version(entry.review_versions))
        try:
            verdict = verdict_of(self._answer(WebhookCall(entry, review)), review, mutating=mutating)
        except UnusableAnswerError as error:
            failure = failed(entry, str(error))
            if failure is None:
                return _SILENT
            raise statuses.internal_error(failure.message) from None
        if verdict.denied is not None:
            denied = rejected(entry, verdict.denied)
            raise statuses.refused(denied.code, denied.reason, denied.message, denied.details)
        return verdict

    def _answer(self, call: WebhookCall) -> Any:
        try:
            return self.call_webhook(call)
        except CallFailedError as error:
            client = call.entry.client
            url = f"https://{client.host}:{client.port}{client.path}?timeout={call.entry.timeout_seconds}s"
            raise UnusableAnswerError(f'failed to call webhook: Post "{url}": {error}') from None


def _review_version(accepted: tuple[str, ...]) -> str:
    """The first version of AdmissionReview that a webhook accepts and the server knows."""
    return next((version for name in accepted for version in VERSIONS if version.endswith(f"/{name}")), V1)


def _operations(patch: bytes) -> Sequence[Manifest]:
    try:
        operations = json.loads(patch)
    except ValueError as error:
        raise statuses.internal_error(f"invalid patch: {error}") from None
    if operations is None:
        return []
    if not isinstance(operations, list) or not all(isinstance(operation, dict) for operation in operations):
        raise statuses.internal_error("json: cannot unmarshal the patch into Go value of type jsonpatch.Patch")
    return operations


def _patched(kind: Kind, manifest: Manifest, operations: Sequence[Manifest]) -> Fields:
    """An object after a webhook's patch, read as if a client had sent it; it is not complete yet."""
    document = apply_json_patch(manifest, operations).lash(_refuse_patch).unwrap()
    try:
        return decoded(kind, document)
    except ShapeError as error:
        raise statuses.internal_error(str(error)) from None


def _refuse_patch(problem: str) -> Any:
    raise statuses.internal_error(problem)


def _converted(manifest: Manifest, kind: Kind, wanted: Kind) -> Manifest:
    return manifest if kind is wanted else wanted.from_stored(kind.to_stored(manifest))
