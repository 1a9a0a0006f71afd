"""Roles of what controllers declare, and of nothing else."""

import contextlib
import http.client
from collections.abc import Iterator
from typing import Any, Final

from hedgerow.machinery.clusters import Permission
from hedgerow.machinery.controller import Controller
from tests.e2e.permissions import ACCOUNT
from tests.e2e.sandbox import Sandbox

_RBAC: Final = "/apis/rbac.authorization.k8s.io/v1"
_GROUP: Final = "rbac.authorization.k8s.io"


@contextlib.contextmanager
def allowed(sandbox: Sandbox, controller: Controller[Any]) -> Iterator[None]:
    """The processes of the test may do what a controller declares to do."""
    name = f"{controller.name}:{sandbox.home}"
    watched = [Permission.of(watch.resource, "list", "watch") for watch in controller.watches]
    rules = [
        {"apiGroups": [each.group], "resources": [each.plural], "verbs": list(each.verbs)}
        for each in (*watched, *controller.permissions)
    ]
    subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": sandbox.home}
    reference = {"apiGroup": _GROUP, "kind": "ClusterRole", "name": name}
    role = {"metadata": {"name": name}, "rules": rules}
    binding = {"metadata": {"name": name}, "roleRef": reference, "subjects": [subject]}
    places = {"clusterroles": role, "clusterrolebindings": binding}
    for plural, manifest in places.items():
        status, answer = sandbox.control_plane.request("POST", f"{_RBAC}/{plural}", manifest)
        assert status == http.client.CREATED, answer
    try:
        yield
    finally:
        for plural in places:
            sandbox.control_plane.request("DELETE", f"{_RBAC}/{plural}/{name}")
