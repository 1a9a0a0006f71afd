"""Gives processes the permissions of `examples/rbac.yaml`, each to a service account of its own."""

import copy
import http.client
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import yaml

from tests.control_plane import ControlPlane
from tests.control_plane.credentials import User, kubeconfig, write_private

MANIFEST: Final = Path(__file__).parents[2] / "examples" / "rbac.yaml"
HOME: Final = "garden"
"""The namespace of the process in the example."""
ACCOUNT: Final = "gardener-resource-manager"
_COLLECTIONS: Final = {
    "ServiceAccount": "/api/v1/namespaces/{namespace}/serviceaccounts",
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    "Role": "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/roles",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}/rolebindings",
}


def user_of(namespace: str) -> str:
    """What the service account of a namespace is called in the audit log."""
    return f"system:serviceaccount:{namespace}:{ACCOUNT}"


def grant(control_plane: ControlPlane, namespace: str, *, without: tuple[str, str] | None = None) -> None:
    """Give a service account in an existing namespace the permissions, less one verb on one resource if asked for."""
    for manifest in _manifests_for(namespace):
        if without is not None and _speaks_of(manifest, without[1]):
            manifest["rules"] = _rules_without(manifest["rules"], *without)
        status, answer = control_plane.request("POST", _collection(manifest), manifest)
        assert status == http.client.CREATED, answer


def grant_within(control_plane: ControlPlane, home: str, namespaces: Sequence[str]) -> None:
    """Give a new service account of a namespace what it needs to look after some namespaces, and nothing else."""
    subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": home}
    of_namespaces = {"apiGroups": [""], "resources": ["namespaces"], "resourceNames": [*namespaces]}
    rules = {
        "by-name": [{**of_namespaces, "verbs": ["list", "watch"]}],
        "within": [
            {"apiGroups": [""], "resources": ["services", "secrets"], "verbs": ["list", "watch"]},
            {
                "apiGroups": ["resources.gardener.cloud", "autoscaling", "autoscaling.k8s.io"],
                "resources": ["managedresources", "horizontalpodautoscalers", "hvpas"],
                "verbs": ["list", "watch"],
            },
            {
                "apiGroups": ["networking.k8s.io"],
                "resources": ["networkpolicies"],
                "verbs": ["list", "watch", "create", "patch", "delete"],
            },
        ],
    }
    manifests: list[dict[str, Any]] = [{"kind": "ServiceAccount", "metadata": {"name": ACCOUNT, "namespace": home}}]
    for name, allowed in rules.items():
        manifests.append({"kind": "ClusterRole", "metadata": {"name": f"{name}:{home}"}, "rules": allowed})
    manifests.append(_binding("ClusterRoleBinding", {"name": f"by-name:{home}"}, f"by-name:{home}", subject))
    for namespace in namespaces:
        metadata = {"name": ACCOUNT, "namespace": namespace}
        manifests.append(_binding("RoleBinding", metadata, f"within:{home}", subject))
    for manifest in manifests:
        status, answer = control_plane.request("POST", _collection(manifest), manifest)
        assert status == http.client.CREATED, answer


def _binding(kind: str, metadata: dict[str, str], role: str, subject: dict[str, str]) -> dict[str, Any]:
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
    return {"kind": kind, "metadata": metadata, "roleRef": reference, "subjects": [subject]}


def revoke(control_plane: ControlPlane, namespace: str) -> None:
    """Take back what `grant` gave outside the namespace."""
    for manifest in _manifests_for(namespace):
        if manifest["metadata"].get("namespace") != namespace:
            control_plane.request("DELETE", f"{_collection(manifest)}/{manifest['metadata']['name']}")


def account_kubeconfig(control_plane: ControlPlane, namespace: str, folder: Path) -> Path:
    """A kubeconfig with a token of the service account of a namespace."""
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{ACCOUNT}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
    status, answer = control_plane.request("POST", path, request)
    assert status == http.client.CREATED, answer
    user = User(ACCOUNT, token=answer["status"]["token"])
    content = kubeconfig(user, url=control_plane.url, ca_pem=control_plane.ca_pem)
    return write_private(folder / f"{namespace}.kubeconfig", content)


def refusals_of(control_plane: ControlPlane, namespace: str) -> list[str]:
    """What the service account of a namespace wanted to do and was not allowed to."""
    return [
        f"{event['verb']} {event.get('objectRef', {}).get('resource', event['requestURI'])}"
        for event in control_plane.audit_events(user_of(namespace))
        if event.get("responseStatus", {}).get("code") == http.client.FORBIDDEN
    ]


def _manifests_for(namespace: str) -> list[dict[str, Any]]:
    """The manifests of the example, moved from `garden` to a namespace; names elsewhere get its name added."""
    return [_moved(copy.deepcopy(manifest), namespace) for manifest in yaml.safe_load_all(MANIFEST.read_text("utf-8"))]


def _moved(manifest: dict[str, Any], namespace: str) -> dict[str, Any]:
    is_shared = not _is_at_home(manifest)
    if is_shared:
        manifest["metadata"]["name"] += f":{namespace}"
    else:
        manifest["metadata"]["namespace"] = namespace
    if is_shared and "roleRef" in manifest:
        manifest["roleRef"]["name"] += f":{namespace}"
    for subject in manifest.get("subjects", ()):
        subject["namespace"] = namespace
    return manifest


def _is_at_home(manifest: dict[str, Any]) -> bool:
    """Whether it is in the namespace of the process, and not one of the cluster or of everybody."""
    return bool(manifest["metadata"].get("namespace") == HOME)


def _speaks_of(manifest: dict[str, Any], resource: str) -> bool:
    return any(resource in rule["resources"] for rule in manifest.get("rules", ()))


def _rules_without(rules: list[dict[str, Any]], verb: str, resource: str) -> list[dict[str, Any]]:
    """The rules, one for each resource, less one verb on one of them."""
    single = [{**rule, "resources": [each]} for rule in rules for each in rule["resources"]]
    kept = [
        {**rule, "verbs": [each for each in rule["verbs"] if (each, rule["resources"]) != (verb, [resource])]}
        for rule in single
    ]
    assert kept != single, f"no rule allows to {verb} {resource}"
    return [rule for rule in kept if rule["verbs"]]


def _collection(manifest: dict[str, Any]) -> str:
    namespace = manifest["metadata"].get("namespace", "")
    return _COLLECTIONS[manifest["kind"]].format(namespace=namespace)
