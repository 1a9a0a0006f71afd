"""Two replicas under one Lease: when the one that leads is killed in mid work, the other one brings it to its end."""

from collections import Counter

import pytest

from tests.e2e.managed_resources.landscape import OBJECTS, landscape
from tests.e2e.managed_resources.manager import Manager
from tests.e2e.managed_resources.manifests import named
from tests.e2e.managed_resources.sandbox import SETTLED, ManagedResourceSandbox
from tests.e2e.permissions import user_of
from tests.e2e.replicas import LEASE
from tests.e2e.resource_manager import errors_of

COUNT = 20
WRITES_PER_SECOND = 15
"""So few that the leader dies long before it has done everything, however late it is killed."""


class _Replica(Manager):
    """One of the processes, with an account of its own."""

    def __init__(self, sandbox: ManagedResourceSandbox, name: str) -> None:
        account = f"{sandbox.namespace}-{name}"
        sandbox.create(named("v1", "Namespace", "", account))
        self.user = user_of(account)
        election = {"leaderElect": True, "resourceNamespace": sandbox.namespace}
        config = sandbox.configuration(leaderElection=election)
        connection = {"kubeconfig": str(sandbox.account(account)), "qps": WRITES_PER_SECOND, "burst": 1}
        super().__init__(sandbox.folder, {**config, "sourceClientConnection": connection}, name=name)

    @property
    def leads(self) -> bool:
        return self.metric("leader_election_master_status", name=LEASE) == 1


@pytest.mark.slow
def test_a_leader_that_dies_in_mid_work_is_replaced_and_every_object_is_made_once(
    sandbox: ManagedResourceSandbox,
) -> None:
    position = sandbox.control_plane.audit_position()
    with _Replica(sandbox, "first") as first, _Replica(sandbox, "second") as second:
        first.wait_for(lambda: first.leads or second.leads, "does not lead, nor does the other one")
        leader, standby = (first, second) if first.leads else (second, first)
        standby.wait_ready()
        deliveries = landscape(COUNT, sandbox.namespace, class_name=sandbox.class_name)
        sandbox.create(*(part for each in deliveries for part in (each.secret, each.managed_resource)))
        leader.wait_for(lambda: len(sandbox.writes(position, user=leader.user)) > COUNT, "has not begun")

        leader.kill()
        assert sandbox.writes(position, user=standby.user) == []
        standby.wait_for(lambda: standby.leads, "does not lead")
        sandbox.wait_until_applied(expected=SETTLED)
        standby.wait_until_idle()
        assert standby.terminate() == 0
        assert errors_of(standby.log_lines()) == []

    creations = Counter[str]()
    for user in (leader.user, standby.user):
        creations.update(sandbox.writes(position, user=user, verb="create", stored=True))
    del creations["create events"]  # by which they tell who leads
    assert [write for write, times in creations.items() if times > 1] == []
    assert len(creations) == COUNT * OBJECTS
    assert sandbox.writes(position, user=standby.user) != []
