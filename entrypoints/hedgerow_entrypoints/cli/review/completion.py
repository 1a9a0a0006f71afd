"""What an API server fills in before it asks webhooks about an object, as far as they read that.

A webhook that may change the object sees it as it was read, with defaults. One that only denies also sees what the
server alone decides: the name of an object that comes without one, and what an update does not change.

Source: Kubernetes API conventions, "Metadata"; Kubernetes API, SecretSpec, DeploymentSpec, StatefulSetSpec and
HorizontalPodAutoscalerSpec.
"""

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from hedgerow.admission.request import CREATE, UPDATE, AdmissionRequest
from hedgerow.api import kubernetes
from hedgerow.machinery.objects import Manifest

_ONE_BY_DEFAULT: Final = {
    kubernetes.DEPLOYMENTS.kind: "replicas",
    kubernetes.STATEFUL_SETS.kind: "replicas",
    kubernetes.HORIZONTAL_POD_AUTOSCALERS.kind: "minReplicas",
}
_IDENTITY: Final = ("uid", "resourceVersion")
"""Clients may leave it out, but what they say counts."""
_DECIDED_BY_SERVER: Final = ("creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds")
"""Whatever clients say."""


def as_defaulted(manifest: Manifest) -> Manifest:
    """The object as it was read: with one replica where none are given, and the plain values of a Secret encoded."""
    if manifest["kind"] == kubernetes.SECRETS.kind:
        return _encoded(manifest)
    field = filled_in(manifest)
    return {**manifest, "spec": {**manifest["spec"], field: 1}} if field else manifest


def filled_in(manifest: Manifest) -> str:
    """The field of the spec that a server sets to 1, as the object leaves it out; empty: none."""
    field, spec = _ONE_BY_DEFAULT.get(manifest["kind"], ""), manifest.get("spec")
    return field if field and isinstance(spec, Mapping) and spec.get(field) is None else ""


def without_default(manifest: Manifest, field: str) -> Manifest:
    """The object as it was written, as long as the field holds what was filled in."""
    spec = manifest.get("spec")
    if not isinstance(spec, Mapping) or spec.get(field) != 1:
        return manifest
    return {**manifest, "spec": {name: value for name, value in spec.items() if name != field}}


def _encoded(secret: Manifest) -> Manifest:
    """The Secret with its plain values among the others, before which they count; no server reads any but texts."""
    plain, data = secret.get("stringData"), secret.get("data") or {}
    if not isinstance(plain, Mapping) or not isinstance(data, Mapping):
        return secret
    if not all(value is None or isinstance(value, str) for value in plain.values()):
        return secret
    encoded = {name: b64encode((value or "").encode(errors="replace")).decode() for name, value in plain.items()}
    rest = {name: value for name, value in secret.items() if name != "stringData"}
    return {**rest, "data": {**data, **encoded}} if encoded else rest


def as_to_be_stored(request: AdmissionRequest) -> AdmissionRequest:
    """The request once no one changes its object any more; of what is no readable object, as it is."""
    if request.subresource:
        return request
    new, old = _metadata(request.object), _metadata(request.old_object)
    if request.operation == UPDATE and new and old:
        # Perhaps only one of the two objects has been stored by a server, or none, which has a version then.
        decided = {**_stated(new, _DECIDED_BY_SERVER), **_stated(old, _DECIDED_BY_SERVER)}
        of_new, of_old = _stated(new, _IDENTITY), _stated(old, _IDENTITY)
        return replace(
            request,
            object=_with_metadata(request.object, {"resourceVersion": "1", **of_old, **of_new, **decided}),
            old_object=_with_metadata(request.old_object, {**of_new, **of_old, **decided}),
        )
    prefix = new.get("generateName")
    if request.operation != CREATE or new.get("name") or not prefix or not isinstance(prefix, str):
        return request
    name = f"{prefix[:58]}xxxxx"  # a server adds five random characters; here they are always the same
    return replace(request, name=name, object=_with_metadata(request.object, {"name": name}))


def _metadata(value: Any) -> Mapping[str, Any]:
    metadata = value.get("metadata") if isinstance(value, Mapping) else None
    return metadata if isinstance(metadata, Mapping) else {}


def _stated(metadata: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: metadata[name] for name in names if metadata.get(name) not in (None, "")}


def _with_metadata(manifest: Manifest, fields: Mapping[str, Any]) -> Manifest:
    return {**manifest, "metadata": {**manifest["metadata"], **fields}}
