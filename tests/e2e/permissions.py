"""Gives processes the permissions that `hedgerow install` prints for them, each to a service account of its own.

What ManagedResources deliver is left out: tests say themselves who may do what with it.
"""

import http.client
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hedgerow.installation.manifests import manifests
from hedgerow.installation.values import default_values
from hedgerow.resource_manager.installation import Values
from hedgerow_entrypoints.cli.install import installation
from hedgerow_entrypoints.components.resource_manager import COMPONENT
from tests.control_plane import ControlPlane
from tests.control_plane.credentials import User, kubeconfig, write_private

READING_WEBHOOKS: Final = (
    "crdDeletionProtection",
    "highAvailabilityConfig",
    "projectedTokenMount",
    "systemComponentsConfig",
)
SEED: Final[Mapping[str, Any]] = {
    "controllers": {
        "clusterID": "<default>",
        "networkPolicy": {
            "enabled": True,
            "ingressControllerSelector": {"namespace": "garden", "podSelector": {"matchLabels": {"app": "nginx"}}},
        },
    },
    "webhooks": {name: {"enabled": True} for name in READING_WEBHOOKS},
}
"""What has to be allowed in most tests."""
ACCOUNT: Final = "gardener-resource-manager"
ROLES: Final = {
    "ServiceAccount": "/api/v1/namespaces/{namespace}/serviceaccounts",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "Role": "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/roles",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/rolebindings",
}


def user_of(namespace: str, account: str = ACCOUNT) -> str:
    """What a service account of a namespace is called in the audit log."""
    return f"system:serviceaccount:{namespace}:{account}"


def grant(control_plane: ControlPlane, namespace: str, *, without: Collection[tuple[str, str]] = ()) -> None:
    """Give a service account in an existing namespace the permissions, less some, each a verb on a resource."""
    for manifest in roles_for(namespace):
        if "rules" in manifest:
            manifest["rules"] = _rules_without(manifest["rules"], without)
        status, answer = control_plane.request("POST", _collection(manifest), manifest)
        assert status == http.client.CREATED, answer


def grant_within(control_plane: ControlPlane, home: str, namespaces: Sequence[str]) -> None:
    """Give a new service account of a namespace what it needs to look after some namespaces, and nothing else."""
    for manifest in roles_for(home, namespaces):
        status, answer = control_plane.request("POST", _collection(manifest), manifest)
        assert status == http.client.CREATED, answer


def revoke(control_plane: ControlPlane, namespace: str) -> None:
    """Take back what `grant` gave outside the namespace."""
    for manifest in roles_for(namespace):
        if manifest["metadata"].get("namespace") != namespace:
            control_plane.request("DELETE", f"{_collection(manifest)}/{manifest['metadata']['name']}")


def account_kubeconfig(control_plane: ControlPlane, namespace: str, folder: Path, account: str = ACCOUNT) -> Path:
    """A kubeconfig with a token of a service account of a namespace."""
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
    status, answer = control_plane.request("POST", path, request)
    assert status == http.client.CREATED, answer
    user = User(account, token=answer["status"]["token"])
    content = kubeconfig(user, url=control_plane.url, ca_pem=control_plane.ca_pem)
    return write_private(folder / f"{namespace}.kubeconfig", content)


def refusals_of(control_plane: ControlPlane, namespace: str, account: str = ACCOUNT) -> list[str]:
    """What a service account of a namespace wanted to do and was not allowed to."""
    return [
        f"{event['verb']} {event.get('objectRef', {}).get('resource', event['requestURI'])}"
        for event in control_plane.audit_events(user_of(namespace, account))
        if event.get("responseStatus", {}).get("code") == http.client.FORBIDDEN
    ]


def granted(roles: Iterable[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """Every verb on every resource that roles allow."""
    rules = [rule for each in roles for rule in each.get("rules", ())]
    return {(verb, resource) for rule in rules for verb in rule["verbs"] for resource in rule["resources"]}


def used(control_plane: ControlPlane, namespace: str, account: str = ACCOUNT) -> set[tuple[str, str]]:
    """Every verb on every resource that a service account of a namespace made use of."""
    events = control_plane.audit_events(user_of(namespace, account))
    asked = [(event["verb"], event["objectRef"]) for event in events if "objectRef" in event]
    return {(verb, "/".join(of[part] for part in ("resource", "subresource") if part in of)) for verb, of in asked}


def roles_for(namespace: str, within: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The account of a process in a namespace, and its roles and bindings there and elsewhere.

    Args:
        namespace: of the process.
        within: the only namespaces that it looks after; none: all.
    """
    values = default_values(Values)
    server = {"webhooks": {"tls": {"provision": "files"}}}
    config = {**values["config"], **SEED, "server": server, "sourceClientConnection": {"namespaces": [*within]}}
    stated = {**values, "config": config, "managedResources": {"clusterAdmin": True}}
    wanted = installation(COMPONENT, Values.model_validate(stated), namespace)
    return [
        {**manifest}
        for manifest in manifests(wanted, config_text="").unwrap()
        if manifest["kind"] in ROLES and "managed-objects" not in manifest["metadata"]["name"]
    ]


def _rules_without(rules: list[dict[str, Any]], without: Collection[tuple[str, str]]) -> list[dict[str, Any]]:
    """The rules, one for each resource, less some verbs on some of them."""
    kept = [
        {**rule, "resources": [resource], "verbs": [verb for verb in rule["verbs"] if (verb, resource) not in without]}
        for rule in rules
        for resource in rule["resources"]
    ]
    return [rule for rule in kept if rule["verbs"]]


def _collection(manifest: dict[str, Any]) -> str:
    namespace = manifest["metadata"].get("namespace", "")
    return ROLES[manifest["kind"]].format(namespace=namespace)
