"""How the pods of an extension reach the garden: a Secret with a kubeconfig, and one that a token requestor fills.

Source: controller-registration §8.6.
"""

from base64 import b64encode
from dataclasses import dataclass, replace
from typing import Any, Final, Self

from hedgerow.api.kubernetes import LEASES, SECRETS
from hedgerow.api.tokens import ACCOUNT_NAME, CLASS, KUBECONFIG, PURPOSE, TOKEN, TOKEN_REQUESTOR
from hedgerow.machinery.documents.yaml_texts import sorted_yaml
from hedgerow.machinery.objects import Manifest, ObjectKey, key_of
from hedgerow.machinery.questions import NotAnswered
from hedgerow.machinery.reading import object_at, text_at, with_value, without
from hedgerow.resource_manager.builder import deploying
from hedgerow.resource_manager.builder.secret import OPAQUE, make_unique

ACCESS_SECRET: Final = "garden-access-extension"  # noqa: S105 -- the name of a Secret
MOUNTED_AT: Final = "/var/run/secrets/gardener.cloud/garden/generic-kubeconfig"
"""Where pods find the kubeconfig and, beside it, the token."""
_CLASS: Final = "garden"
"""Of the token requestor that issues tokens of the garden."""
_REASON: Final = "garden-access"


@dataclass(frozen=True, slots=True)
class GardenAccess:
    """The address of the garden, as extensions reach it."""

    server: str
    certificate_authorities: bytes = b""
    """As PEM; empty: those that everybody trusts."""
    is_insecure: bool = False
    """True if nobody verifies who answers."""
    token_requestor: ObjectKey | None = None
    """The Lease in the seed that the token requestor of class `garden` holds; none: nobody checks that it runs."""

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
    plain = {
        "apiVersion": SECRETS.api_version,
        "kind": SECRETS.kind,
        "metadata": {"namespace": namespace, "name": "generic-garden-kubeconfig"},
        "data": {KUBECONFIG: b64encode(sorted_yaml(kubeconfig).encode()).decode()},
    }
    return make_unique(plain).unwrap()


def access_secret(namespace: str, existing: Manifest | None) -> Manifest:
    """The Secret that asks for a token; what others wrote into the existing one stays, but for a kubeconfig."""
    secret = existing or {
        "apiVersion": SECRETS.api_version,
        "kind": SECRETS.kind,
        "metadata": {"namespace": namespace, "name": ACCESS_SECRET},
        "type": OPAQUE,
    }
    for field, added in (
        ("labels", {PURPOSE: TOKEN_REQUESTOR, CLASS: _CLASS}),
        ("annotations", {ACCOUNT_NAME: namespace}),
    ):
        path = ("metadata", field)
        secret = with_value(secret, path, {**object_at(secret, *path), **added})
    return without(secret, ("data", KUBECONFIG)) if KUBECONFIG in object_at(secret, "data") else secret


async def give_access(namespace: str, access: GardenAccess) -> str | None:
    """Write both Secrets into the Namespace of an installation; why that failed."""
    if error := await _write_kubeconfig(namespace, access):
        return f"failed to reconcile generic garden kubeconfig: {error}"
    if error := await _absence(access.token_requestor) or await _ask_for_token(namespace):
        return f"failed to reconcile garden access secret: {error}"
    return None


async def _write_kubeconfig(namespace: str, access: GardenAccess) -> str | None:
    wanted = kubeconfig_secret(namespace, access)
    stored = await deploying.look(SECRETS, key_of(wanted))
    if isinstance(stored, NotAnswered):
        return stored.message
    return await deploying.merge(SECRETS, None, wanted, _REASON) if stored is None else None


async def _absence(token_requestor: ObjectKey | None) -> str | None:
    """Why pods would wait for their token in vain."""
    if token_requestor is None:
        return None
    lease = await deploying.look(LEASES, token_requestor)
    if isinstance(lease, NotAnswered):
        return lease.message
    is_held = lease is not None and text_at(lease, "spec", "holderIdentity")
    return None if is_held else f"no token requestor of class {_CLASS} holds Lease {token_requestor}"


async def _ask_for_token(namespace: str) -> str | None:
    stored = await deploying.look(SECRETS, ObjectKey(namespace, ACCESS_SECRET))
    if isinstance(stored, NotAnswered):
        return stored.message
    return await deploying.merge(SECRETS, stored, access_secret(namespace, stored), _REASON)
