"""Writes: how objects come to be, change and go.

The order of the checks is the server's, because the first that fails decides the answer: webhooks that change an object
are asked before anybody looks at it closely, those that check it after the server has. What is special about one kind
stands in its declaration; namespaces alone are known here, as everything lives in them.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from hedgerow.admission.request import CREATE, DELETE, UPDATE
from hedgerow.api.kubernetes import NAMESPACES as NAMESPACE_RESOURCE
from hedgerow.machinery.objects import Manifest, ObjectKey, is_terminating, key_of, resource_version_of
from hedgerow_adapters.memory import statuses
from hedgerow_adapters.memory.admission import Admission, Operation
from hedgerow_adapters.memory.clock import Identities, timestamp
from hedgerow_adapters.memory.field_errors import FieldError, invalid
from hedgerow_adapters.memory.kinds import namespaces
from hedgerow_adapters.memory.kinds.core import SERVICE_ACCOUNTS, TOKEN_REQUESTS
from hedgerow_adapters.memory.kinds.kind import Fields, Kind
from hedgerow_adapters.memory.metadata import decoded, metadata_change_errors, metadata_errors, patched
from hedgerow_adapters.memory.options import DeleteOptions
from hedgerow_adapters.memory.shapes import ShapeError
from hedgerow_adapters.memory.storage import Storage
from hedgerow_adapters.memory.subresources import scale_kind, scale_of, with_scale, with_token

_KEPT_ON_UPDATE = ("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")


class Registry:
    """Creates, updates and deletes objects of any kind."""

    def __init__(self, storage: Storage, now: Callable[[], datetime], admission: Admission) -> None:
        self.storage = storage
        self._admission = admission
        self._now = now
        self._identities = Identities()

    def get(self, kind: Kind, key: ObjectKey) -> Manifest | None:
        """The object of a key as its kind is served."""
        stored = self.storage.get(kind.stored_as, key)
        return None if stored is None else kind.from_stored(stored)

    def existing(self, kind: Kind, key: ObjectKey) -> Manifest:
        """The object of a key; refused if there is none."""
        manifest = self.get(kind, key)
        if manifest is None:
            raise statuses.not_found(kind.resource, key.name)
        return manifest

    def create(self, kind: Kind, namespace: str, body: Any) -> Manifest:
        """Create an object in a namespace."""
        given = _decoded_request(kind, body)
        _require_namespace(kind, given["metadata"], namespace)
        operation = Operation(CREATE, kind, ObjectKey(namespace, given["metadata"].get("name", "")))
        self._admit_creation(kind, operation.key)
        for name in (*_KEPT_ON_UPDATE, "uid", "namespace"):
            given["metadata"].pop(name, None)
        if namespace:
            given["metadata"]["namespace"] = namespace
        kind.complete(given, None)
        new = self._admission.mutated(operation, given, None)
        metadata = new["metadata"]
        if "name" not in metadata and "generateName" in metadata:
            metadata["name"] = self._identities.name(metadata["generateName"])
        metadata["uid"] = self._identities.uid()
        metadata["creationTimestamp"] = timestamp(self._now())
        if kind.has_generation:
            metadata["generation"] = 1
        if kind.initial_status is not None:
            new["status"] = kind.initial_status
        kind.complete(new, None)
        key = ObjectKey(namespace, metadata.get("name", ""))
        _refuse_invalid(kind, key.name, (*metadata_errors(metadata, kind), *kind.errors(new, None)))
        self._admission.check(replace(operation, key=key), new, None)
        if metadata.pop("resourceVersion", None) is not None:
            raise statuses.internal("resourceVersion should not be set on objects to be created")
        present = self.storage.get(kind.stored_as, key)
        if present is not None:
            raise statuses.already_exists(kind.resource, key.name, deleting=is_terminating(present))
        return self._put(kind, key, new)

    def replace(self, kind: Kind, key: ObjectKey, body: Any, subresource: str) -> Manifest:
        """Update an object to what the body says."""
        new = _decoded_request(kind, body)
        _require_same_key(kind, new["metadata"], key)
        old = self.existing(kind, key)
        uid, recorded = new["metadata"].get("uid"), old["metadata"]["uid"]
        if uid not in (None, recorded):
            problem = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {recorded}"
            raise statuses.conflict(kind.resource, key.name, problem)
        if subresource == "finalize":
            _require_version(kind, new["metadata"], old)
            finalizers = new.get("spec", {}).get("finalizers", [])
            return self._settle(kind, key, old, namespaces.with_finalizers(old, finalizers))
        return self._update(kind, body, old, new, subresource)

    def write_scale(self, kind: Kind, key: ObjectKey, body: Any, patch_type: str | None) -> dict[str, Any]:
        """Update the replicas of a workload, and nothing else, to what a Scale says, or a patch of one with a type."""
        workload, shape = self.existing(kind, key), scale_kind(kind)
        old = scale_of(workload)
        given = _decoded_request(shape, body if patch_type is None else patched(old, body, patch_type))
        _require_same_key(kind, given["metadata"], key)
        operation = Operation(UPDATE, shape, key, "scale", kind.resource)
        scale = self._admission.mutated(operation, given, old)
        new: Fields = with_scale(workload, scale)
        _require_version(kind, new["metadata"], workload)
        _refuse_invalid(shape, key.name, shape.errors(scale, None))
        _count_generation(kind, new, new, workload)
        self._admission.check(operation, scale_of(new), old)
        return scale_of(self._settle(kind, key, workload, new))

    def token(self, key: ObjectKey, body: Any) -> Manifest:
        """A TokenRequest with a new token of a ServiceAccount; nothing is stored."""
        request = _decoded_request(TOKEN_REQUESTS, body)
        _require_namespace(TOKEN_REQUESTS, request["metadata"], key.namespace)
        self._admit_creation(SERVICE_ACCOUNTS, key)
        account, now = self.existing(SERVICE_ACCOUNTS, key), self._now()
        made = {"uid": account["metadata"]["uid"], "creationTimestamp": timestamp(now)}
        request["metadata"] = {"name": key.name} | request["metadata"] | made
        TOKEN_REQUESTS.complete(request, None)
        name = request["metadata"]["name"]
        if name != key.name:
            problem = "must match the service account name if specified"
            raise statuses.invalid(TOKEN_REQUESTS.resource, key.name, (invalid("metadata.name", name, problem),))
        operation = Operation(CREATE, TOKEN_REQUESTS, key, "token", SERVICE_ACCOUNTS.resource)
        request = self._admission.mutated(operation, request, None)
        _refuse_invalid(TOKEN_REQUESTS, "", TOKEN_REQUESTS.errors(request, None))
        self._admission.check(operation, request, None)
        return with_token(request, account, now, self._identities.uid())

    def patch(self, kind: Kind, key: ObjectKey, patch: Any, content_type: str, subresource: str) -> Manifest:
        """Change an object as a patch says."""
        old = self.existing(kind, key)
        document = patched(old, patch, content_type)
        try:
            new = decoded(kind, document)
        except ShapeError as error:
            raise statuses.unusable_patch(invalid("patch", "{...}", str(error))) from None
        _require_same_key(kind, new["metadata"], key)
        return self._update(kind, document, old, new, subresource)

    def delete(self, kind: Kind, key: ObjectKey, options: DeleteOptions, *, of_collection: bool = False) -> Manifest:
        """Delete an object, or mark it for deletion while finalizers hold it; the answer to the client.

        Webhooks are not told the name of one of a collection that goes at once.
        """
        old = self.existing(kind, key)
        is_namespace = kind is namespaces.NAMESPACES
        if is_namespace and key.name in namespaces.INDESTRUCTIBLE:
            raise statuses.forbidden(kind.resource, key.name, "this namespace may not be deleted")
        problem = options.failed_precondition(old)
        if problem is not None:
            raise statuses.precondition_failed(kind.resource, key.name, problem)
        operation = Operation(DELETE, kind, ObjectKey(key.namespace, "") if of_collection else key)
        self._admission.mutated(operation, None, old)
        self._admission.check(operation, None, old)
        if is_namespace:
            return self._settle(kind, key, old, namespaces.terminating(old, timestamp(self._now())))
        finalizers = options.remaining_finalizers(old["metadata"].get("finalizers", ()))
        if finalizers:
            return self._settle(kind, key, old, self._marked(old, finalizers))
        self.storage.remove(kind.stored_as, key)
        if kind.answers_deleted_object:
            return old
        return statuses.deleted(kind.resource, key.name, old["metadata"]["uid"])

    def release_namespace(self, key: ObjectKey) -> None:
        """The content of a terminating namespace is gone: nothing of the server's own holds it any longer."""
        old = self.existing(namespaces.NAMESPACES, key)
        others = [name for name in old["spec"].get("finalizers", ()) if name != namespaces.CONTENT_FINALIZER]
        self._settle(namespaces.NAMESPACES, key, old, namespaces.with_finalizers(old, others))

    def rewrite_metadata(self, kind: Kind, key: ObjectKey, changes: Mapping[str, Any]) -> None:
        """Set metadata of an object as the server's own controllers do, or remove what is empty."""
        old = self.existing(kind, key)
        metadata = {name: value for name, value in {**old["metadata"], **changes}.items() if value}
        self._settle(kind, key, old, {**old, "metadata": metadata})

    def _admit_creation(self, kind: Kind, key: ObjectKey) -> None:
        if kind.resource.namespaced:
            parent = self.storage.get(NAMESPACE_RESOURCE, ObjectKey("", key.namespace))
            namespaces.admit_creation(parent, key.namespace, kind.resource, key.name)

    def _update(self, kind: Kind, given: Any, old: Manifest, new: Fields, subresource: str) -> Manifest:
        """Carry out an update: `given` is the document as the client sent it, `new` what is read of it."""
        key = key_of(old)
        operation = Operation(UPDATE, kind, key, subresource)
        kind.complete(new, old)
        new = self._admission.mutated(operation, new, old)
        _require_version(kind, new["metadata"], old)
        part = kind.parts.get(subresource)
        if part is not None:
            new = part.taken(new, old, timestamp(self._now()))
        elif subresource == "status":
            new = {**old, "metadata": new["metadata"], "status": new.get("status", {})}
        elif kind.has_status:
            new["status"] = old.get("status")
            if new["status"] is None:
                del new["status"]
        metadata = new["metadata"]
        metadata.setdefault("uid", old["metadata"]["uid"])
        metadata |= {name: old["metadata"][name] for name in _KEPT_ON_UPDATE if name in old["metadata"]}
        kind.complete(new, old)
        _count_generation(kind, given, new, old)
        errors = (
            *metadata_errors(metadata, kind),
            *metadata_change_errors(metadata, old["metadata"]),
            *kind.errors(new, old),
            *(part.rules(new, old) if part is not None else ()),
        )
        _refuse_invalid(kind, key.name, errors)
        self._admission.check(operation, new, old)
        return self._settle(kind, key, old, new)

    def _settle(self, kind: Kind, key: ObjectKey, old: Manifest, new: Manifest) -> Manifest:
        """Store a checked update, or complete the deletion that it was the last thing to hold up."""
        held = namespaces.is_needed(new) if kind is namespaces.NAMESPACES else bool(new["metadata"].get("finalizers"))
        if is_terminating(new) and not held:
            self.storage.remove(kind.stored_as, key)
            return new
        return old if new == old else self._put(kind, key, new)

    def _marked(self, old: Manifest, finalizers: list[str]) -> Manifest:
        """The object with the marks of its deletion."""
        metadata = {**old["metadata"], "finalizers": finalizers}
        if "deletionTimestamp" not in metadata:
            metadata |= {"deletionTimestamp": timestamp(self._now()), "deletionGracePeriodSeconds": 0}
            if metadata.get("generation"):
                metadata["generation"] += 1
        return {**old, "metadata": metadata}

    def _put(self, kind: Kind, key: ObjectKey, new: Manifest) -> Manifest:
        return kind.from_stored(self.storage.put(kind.stored_as, key, kind.to_stored(new)))


def _decoded_request(kind: Kind, body: Any) -> Fields:
    try:
        return decoded(kind, body)
    except ShapeError as error:
        name, version = kind.resource.kind, kind.resource.version
        raise statuses.bad_request(f'{name} in version "{version}" cannot be handled as a {name}: {error}') from None


def _require_namespace(kind: Kind, metadata: Fields, namespace: str) -> None:
    """A namespace in a body is the one of the path; for objects without one it is forgotten."""
    if not kind.resource.namespaced:
        metadata.pop("namespace", None)
    elif metadata.setdefault("namespace", namespace) != namespace:
        problem = "the namespace of the provided object does not match the namespace sent on the request"
        raise statuses.bad_request(problem)


def _require_same_key(kind: Kind, metadata: Fields, key: ObjectKey) -> None:
    name = metadata.get("name")
    if name is None:
        problem = f"the name of the object ({key.name} based on URL) was undeterminable: name must be provided"
        raise statuses.bad_request(problem)
    if name != key.name:
        raise statuses.bad_request(f"the name of the object ({name}) does not match the name on the URL ({key.name})")
    _require_namespace(kind, metadata, key.namespace)


def _require_version(kind: Kind, metadata: Fields, old: Manifest) -> None:
    """The version that an update was made for, if it says so, is the present one."""
    present, given, name = resource_version_of(old), metadata.get("resourceVersion"), key_of(old).name
    if given is None and not kind.unconditional_update:
        raise statuses.version_required(kind.resource, name)
    if given is not None and not (given.isascii() and given.isdigit()):
        raise statuses.internal(f'strconv.ParseUint: parsing "{given}": invalid syntax')
    if given not in (None, present):
        raise statuses.conflict(kind.resource, name)
    metadata["resourceVersion"] = present


def _count_generation(kind: Kind, given: Any, new: Fields, old: Manifest) -> None:
    """The generation counts changes of the spec, whatever a client says."""
    metadata, generation = new["metadata"], old["metadata"].get("generation")
    metadata.pop("generation", None)
    if generation is not None:
        changed = kind.has_generation and kind.spec_differs(given, new, old)
        metadata["generation"] = generation + 1 if changed else generation


def _refuse_invalid(kind: Kind, name: str, errors: Iterable[FieldError]) -> None:
    found = tuple(errors)
    if found:
        raise statuses.invalid(kind.stored_as, name, found)
