"""ServiceAccounts, Secrets with their tokens, and pods that mount these."""

from collections.abc import Mapping
from typing import Any, Final

from hedgerow.api.kubernetes import PODS, SECRETS, SERVICE_ACCOUNTS
from hedgerow.machinery.objects import Manifest, ObjectKey
from tests.unit.core.resource_manager.turns import Clusters

KEY: Final = ObjectKey("shop", "robot-token")
PURPOSE: Final = "resources.gardener.cloud/purpose"
CONSIDER: Final = "token-invalidator.resources.gardener.cloud/consider"
SKIP: Final = "token-invalidator.resources.gardener.cloud/skip"
MARKED: Final = {PURPOSE: "token-invalidator"}
CONSIDERED: Final = {**MARKED, CONSIDER: "true"}
TOKEN: Final = {"token": "dmFsaWQ=", "ca.crt": "Y2E="}


def token_secret(
    labels: Mapping[str, str] | None = None, *, account: str = "robot", name: str = KEY.name, **metadata: Any
) -> dict[str, Any]:
    """A Secret with a token, as a server stores it."""
    identity = {"namespace": "shop", "name": name, "uid": name, "resourceVersion": "7"}
    annotations = {"kubernetes.io/service-account.name": account} if account else {}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {**identity, "annotations": annotations, "labels": dict(labels or {}), **metadata},
        "type": "kubernetes.io/service-account-token",
        "data": dict(TOKEN),
    }


def service_account(
    *secrets: str, automount: bool | None = None, labels: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The ServiceAccount, which lists Secrets of these names."""
    mounting = {} if automount is None else {"automountServiceAccountToken": automount}
    listed = {"secrets": [{"name": name} for name in secrets]} if secrets else {}
    metadata = {"namespace": "shop", "name": "robot", "labels": dict(labels or {})}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata, **mounting, **listed}


def mounting_pod(namespace: str = "shop", *, phase: str = "Running", projected: bool = False) -> dict[str, Any]:
    """A pod with the Secret as a volume, or as a part of one."""
    projection = {"projected": {"sources": [{"secret": {"name": KEY.name}}]}}
    volume = {"name": "v", **(projection if projected else {"secret": {"secretName": KEY.name}})}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": namespace, "name": "p"},
        "spec": {"containers": [{"name": "c", "image": "registry.example.com/c"}], "volumes": [volume]},
        "status": {"phase": phase},
    }


def shop(secret: Manifest | None, account: Manifest | None, *pods: Manifest) -> Clusters:
    """A namespace with at most one of each, and pods."""
    world = {SECRETS: [secret] if secret else [], SERVICE_ACCOUNTS: [account] if account else [], PODS: pods}
    return Clusters.of(target=world)


def labels(clusters: Clusters, key: ObjectKey = KEY) -> dict[str, str]:
    """The labels of the Secret as it is stored."""
    return dict(clusters.target[SECRETS][key]["metadata"].get("labels") or {})
