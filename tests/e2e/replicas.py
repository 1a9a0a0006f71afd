"""Several processes that compete for one Lease, each known to the API server by a name of its own.

The audit log tells who wrote, the Lease's history what it said: together they show who held it at any moment.
"""

import http.client
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol

import yaml

from tests.control_plane import PATIENCE, ControlPlane
from tests.e2e.gateways import Gateway
from tests.e2e.permissions import ACCOUNT, account_kubeconfig, grant, revoke, user_of
from tests.e2e.resource_manager import ResourceManager
from tests.e2e.sandbox import WRITES, Manifest, Sandbox, path_of

LEASE: Final = "gardener-resource-manager"
RENEW_DEADLINE: Final = timedelta(seconds=10)
"""So long the default lets a leader write after it sent its last renewal."""


class Replica(ResourceManager):
    """One of the processes: a context manager that starts it, and ends it as a crash would if it still runs."""

    def __init__(
        self,
        sandbox: Sandbox,
        name: str,
        *,
        network_policy: Mapping[str, Any] | None = None,
        source: Mapping[str, Any] | None = None,
        gateway: Gateway | None = None,
        webhooks: Mapping[str, Any] | None = None,
    ) -> None:
        """A replica that has not been started, with an account of its own that may compete for the Lease.

        Args:
            sandbox: what it looks after; its home has the Lease.
            name: of the replica.
            network_policy: adds to what the configuration says of the controller.
            source: adds to what it says of the connection.
            gateway: by which it reaches the API server; none: it does so itself.
            webhooks: those that it serves.
        """
        self._control_plane = sandbox.control_plane
        self._account = sandbox.namespace(name, handled=False)
        self.user: Final = user_of(self._account)
        grant(self._control_plane, self._account)
        _allow_lease(sandbox, self._account)
        kubeconfig = account_kubeconfig(self._control_plane, self._account, sandbox.folder)
        if gateway is not None:
            lead_through(gateway, kubeconfig)
        election = {"leaderElect": True, "resourceNamespace": sandbox.home}
        config = sandbox.configuration(network_policy, leaderElection=election, webhooks=webhooks or {})
        connection = {"kubeconfig": str(kubeconfig), **(source or {})}
        super().__init__(sandbox.folder, {**config, "sourceClientConnection": connection}, name=name)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, traceback)
        revoke(self._control_plane, self._account)

    def wait_until_leading(self, timeout: float = PATIENCE) -> None:
        self.wait_for(lambda: self.metric("leader_election_master_status", name=LEASE) == 1, "does not lead", timeout)


def lead_through(gateway: Gateway, kubeconfig: Path) -> None:
    """Change a kubeconfig so that it leads to the API server by way of a gateway."""
    document = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    document["clusters"][0]["cluster"] = {"server": gateway.url}
    kubeconfig.write_text(yaml.safe_dump(document), encoding="utf-8")


def _allow_lease(sandbox: Sandbox, account: str) -> None:
    """Let a service account of another namespace compete for the Lease in the sandbox's home."""
    group = "rbac.authorization.k8s.io"
    binding = {
        "apiVersion": f"{group}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": account, "namespace": sandbox.home},
        "roleRef": {"apiGroup": group, "kind": "Role", "name": f"{ACCOUNT}:{sandbox.home}"},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": account}],
    }
    path = f"/apis/{group}/v1/namespaces/{sandbox.home}/rolebindings"
    status, answer = sandbox.control_plane.request("POST", path, binding)
    assert status == http.client.CREATED, answer


@dataclass(frozen=True)
class LeaseWrite:
    """A version of the Lease, who wrote it, and when the API server was asked to."""

    moment: datetime
    user: str
    spec: Manifest

    @property
    def holder(self) -> str:
        return str(self.spec["holderIdentity"])


class Home(Protocol):
    """Where the processes live that compete for a Lease."""

    @property
    def control_plane(self) -> ControlPlane:
        """The cluster that has the Lease."""
        ...

    @property
    def home(self) -> str:
        """The namespace of the Lease."""
        ...

    def wait_for_the_audit_log(self) -> None:
        """Returns once the audit log tells of every request before this one."""
        ...


class Record:
    """What processes have written to the API server that has their Lease, from when the record was made."""

    def __init__(self, sandbox: Home) -> None:
        self._sandbox = sandbox
        self._audit = sandbox.control_plane.audit_position()
        _, leases = sandbox.control_plane.request("GET", path_of("Lease", sandbox.home))
        self._version = leases["metadata"]["resourceVersion"]

    def leases(self, users: Sequence[str]) -> list[LeaseWrite]:
        """Every version of the Lease in the order of time, all the work of these users, who have ended."""
        accepted = {http.client.OK, http.client.CREATED}
        written = [
            event
            for event in self._events(users)
            if _is_of_leases(event) and event["responseStatus"]["code"] in accepted
        ]
        plane: ControlPlane = self._sandbox.control_plane
        changes = plane.watch(path_of("Lease", self._sandbox.home), resource_version=self._version)
        return [
            LeaseWrite(moment_of(event), event["user"]["username"], change["object"]["spec"])
            for event, change in zip(written, changes, strict=True)
        ]

    def writes(self, user: str) -> list[Manifest]:
        """What a user has asked to be written, refused or not, leases aside, in the order of time."""
        return [event for event in self._events([user]) if not _is_of_leases(event)]

    def writes_without_lease(self, users: Sequence[str]) -> list[str]:
        """What one of these users asked to be written while it did not hold the Lease, or no longer for sure."""
        leases = self.leases(users)
        return [
            f"{moment_of(event)} {user}: {event['verb']} {event['requestURI']}"
            for user in users
            for event in self.writes(user)
            if not is_covered(moment_of(event), user, leases)
        ]

    def _events(self, users: Sequence[str]) -> list[Manifest]:
        self._sandbox.wait_for_the_audit_log()
        events = self._sandbox.control_plane.audit_events(verbs=WRITES, since=self._audit)
        return sorted((event for event in events if event["user"]["username"] in users), key=moment_of)


def is_covered(moment: datetime, user: str, leases: Sequence[LeaseWrite]) -> bool:
    """Whether a user held the Lease at a moment, for sure."""
    latest = max((lease for lease in leases if lease.moment <= moment), key=lambda lease: lease.moment, default=None)
    return (
        latest is not None and latest.user == user and latest.holder != "" and moment < latest.moment + RENEW_DEADLINE
    )


def _is_of_leases(event: Manifest) -> bool:
    return bool(event["objectRef"]["resource"] == "leases")


def moment_of(event: Manifest) -> datetime:
    """When the API server received a request."""
    return datetime.fromisoformat(event["requestReceivedTimestamp"])
