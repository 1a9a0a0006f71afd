"""How the pods of an extension reach the garden: by a kubeconfig, and a token that a token requestor keeps fresh.

Workloads get both, beside the name of their Seed.

Source: controller-registration §8.6, §8.8.
"""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from returns.result import Failure

from hedgerow.api.kubernetes import LEASES, SECRETS
from hedgerow.api.reference_annotations import inject_annotations, pod_spec_path
from hedgerow.api.references import group_kind_of
from hedgerow.api.tokens import ACCOUNT_NAME, CLASS, KUBECONFIG, PURPOSE, TOKEN, TOKEN_REQUESTOR
from hedgerow.machinery.documents.yaml_texts import sorted_yaml
from hedgerow.machinery.failures import Problem
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.patches import apply_merge_patch
from hedgerow.machinery.questions import NotAnswered
from hedgerow.machinery.reading import (
    UnreadableError,
    object_at,
    objects_at,
    text_at,
    with_each,
    with_value,
    without,
)
from hedgerow.resource_manager.builder import deploying
from hedgerow.resource_manager.builder.secret import OPAQUE, new_secret

ACCESS_SECRET: Final = "garden-access-extension"  # noqa: S105 -- the name of a Secret
MOUNTED_AT: Final = "/var/run/secrets/gardener.cloud/garden/generic-kubeconfig"
"""Where pods find the kubeconfig and, beside it, the token."""
_CLASS: Final = "garden"
"""Of the token requestor that issues tokens of the garden."""
_REASON: Final = "garden-access"
_VOLUME: Final = "garden-kubeconfig"
_VARIABLE: Final = "GARDEN_KUBECONFIG"
_GROUPS: Final = frozenset({"apps", "batch"})
_CONTAINERS: Final = ("initContainers", "containers")


@dataclass(frozen=True, slots=True)
class GardenAccess:
    """The address of the garden, as extensions reach it."""

    server: str
    certificate_authorities: bytes = b""
    """As PEM; empty: those that everybody trusts."""
    is_insecure: bool = False
    """True if extensions do not verify the certificate of the server."""
    token_requestor: ObjectKey | None = None
    """The Lease in the seed that the token requestor of class `garden` holds; none: it is not checked."""

    def overridden(self, server: str, certificate_authorities: bytes) -> Self:
        """The address with what is configured in place of the connection's own; empty: nothing is."""
        overridden = replace(self, server=server or self.server)
        if not certificate_authorities:
            return overridden
        return replace(overridden, certificate_authorities=certificate_authorities, is_insecure=False)


def kubeconfig_secret(namespace: str, access: GardenAccess) -> Manifest:
    """The immutable Secret with the kubeconfig, named after its content."""
    cluster: dict[str, Any] = {"server": access.server}
    if access.certificate_authorities:
        cluster["certificate-authority-data"] = b64encode(access.certificate_authorities).decode()
    if access.is_insecure:
        cluster["insecure-skip-tls-verify"] = True
    kubeconfig = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "garden", "cluster": cluster}],
        "contexts": [{"name": "garden", "context": {"cluster": "garden", "user": "extension"}}],
        "current-context": "garden",
        "preferences": {},
        "users": [{"name": "extension", "user": {"tokenFile": f"{MOUNTED_AT}/{TOKEN}"}}],
    }
    data = {KUBECONFIG: sorted_yaml(kubeconfig).encode()}
    return new_secret(namespace, "generic-garden-kubeconfig", data, with_prefix=False)


def access_secret(namespace: str, existing: Manifest | None) -> Manifest:
    """The Secret that asks for a token; what others wrote into the existing one stays, but for a kubeconfig."""
    plain = {
        "apiVersion": SECRETS.api_version,
        "kind": SECRETS.kind,
        "metadata": {"namespace": namespace, "name": ACCESS_SECRET},
        "type": OPAQUE,
    }
    labels, annotations = {PURPOSE: TOKEN_REQUESTOR, CLASS: _CLASS}, {ACCOUNT_NAME: namespace}
    secret = apply_merge_patch(existing or plain, {"metadata": {"labels": labels, "annotations": annotations}})
    return without(secret, ("data", KUBECONFIG)) if KUBECONFIG in object_at(secret, "data") else secret


async def give_access(namespace: str, access: GardenAccess) -> str | None:
    """Write both Secrets into the Namespace of an installation; why that failed."""
    kubeconfig, token = kubeconfig_secret(namespace, access), ObjectKey(namespace, ACCESS_SECRET)
    if error := await deploying.write(SECRETS, key_of(kubeconfig), lambda stored: stored or kubeconfig, _REASON):
        return f"failed to reconcile generic garden kubeconfig: {error}"
    error = await _absence(access.token_requestor) or await deploying.write(
        SECRETS, token, lambda stored: access_secret(namespace, stored), _REASON
    )
    return error and f"failed to reconcile garden access secret: {error}"


async def _absence(token_requestor: ObjectKey | None) -> str | None:
    """Why pods would wait for their token in vain."""
    if token_requestor is None:
        return None
    lease = await deploying.look(LEASES, token_requestor)
    if isinstance(lease, NotAnswered):
        return lease.message
    is_held = lease is not None and text_at(lease, "spec", "holderIdentity")
    return None if is_held else f"no token requestor of class {_CLASS} holds Lease {token_requestor}"


@dataclass(frozen=True, slots=True)
class Injection:
    """What the workloads of one installation get."""

    namespace: str
    """Of the installation; workloads elsewhere get nothing."""
    kubeconfig_secret: str
    seed: str

    def into(self, manifest: Manifest) -> Manifest:
        """The object with all that, if it is such a workload; its own kubeconfig, if it names one, stays.

        Raises:
            UnreadableError: the object has another shape than an API server stores.
        """
        path, group = pod_spec_path(manifest), group_kind_of(manifest).group
        if path is None or group not in _GROUPS or key_of(manifest).namespace != self.namespace:
            return manifest
        pod_spec = object_at(manifest, *path)
        if not _has_kubeconfig(pod_spec):
            manifest = with_value(manifest, path, self._with_kubeconfig(pod_spec))
        annotated = inject_annotations(manifest)
        if isinstance(annotated, Failure):
            raise UnreadableError(Problem("", annotated.failure()))
        manifest = annotated.unwrap()
        seed_name = {"name": "SEED_NAME", "value": self.seed}
        return with_value(manifest, path, _with_containers(object_at(manifest, *path), env=seed_name))

    def _with_kubeconfig(self, pod_spec: Manifest) -> Manifest:
        sources = [
            {"secret": {"name": secret, "items": [{"key": key, "path": key}], "optional": False}}
            for secret, key in ((self.kubeconfig_secret, KUBECONFIG), (ACCESS_SECRET, TOKEN))
        ]
        volume = {"name": _VOLUME, "projected": {"defaultMode": 0o644, "sources": sources}}
        return _with_containers(
            _with_item(pod_spec, "volumes", volume),
            volumeMounts={"name": _VOLUME, "mountPath": MOUNTED_AT, "readOnly": True},
            env={"name": _VARIABLE, "value": f"{MOUNTED_AT}/{KUBECONFIG}"},
        )


def _has_kubeconfig(pod_spec: Manifest) -> bool:
    return any(
        variable.get("name") == _VARIABLE
        for field in _CONTAINERS
        for container in objects_at(pod_spec, field)
        for variable in objects_at(container, "env")
    )


def _with_containers(pod_spec: Manifest, **items: Mapping[str, Any]) -> Manifest:
    """The spec of a pod whose containers all have some items, each in the list that it is named after."""

    def with_items(container: Manifest) -> Manifest:
        for field, item in items.items():
            container = _with_item(container, field, item)
        return container

    for field in _CONTAINERS:
        pod_spec = with_each(pod_spec, (field,), with_items)
    return pod_spec


def _with_item(holder: Manifest, field: str, item: Mapping[str, Any]) -> Manifest:
    """The object with an item in a list, in place of the one of its name or behind all others."""
    items: Sequence[Mapping[str, Any]] = objects_at(holder, field)
    if any(other.get("name") == item["name"] for other in items):
        items = [item if other.get("name") == item["name"] else other for other in items]
    else:
        items = [*items, item]
    return with_value(holder, (field,), items)
