"""The process as it is deployed for a shoot: everything switched on, two clusters, replicas under one Lease.

Whoever leads does all the work, nobody else writes, nobody asks for what it may not have, and where nothing changes
nothing is written. What is asked for while a leader dies or is replaced is done all the same.
"""

import itertools
import os
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import pytest

from tests.control_plane import PATIENCE, wait_until
from tests.e2e.canaries import Canaries
from tests.e2e.managed_resources.urls import Manifest
from tests.e2e.whole_process.errand import Errand
from tests.e2e.whole_process.load import Load
from tests.e2e.whole_process.replica_set import ReplicaSet
from tests.e2e.whole_process.shoot import NOT_READY, SYSTEM, Replica, Shoot, critical_daemon_set, new_shoot, node

QUIET: Final = float(os.environ.get("HEDGEROW_QUIET_SECONDS", "15"))
"""So long nothing is written: more than two of the periods after which replicas look at everything again."""
_numbers: Final = itertools.count(1)


@pytest.fixture(scope="module")
def shoot(servers: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shoot]:
    with new_shoot(tmp_path_factory.mktemp("shoot")) as shoot:
        yield shoot


@pytest.fixture
def replicas(shoot: Shoot) -> Iterator[ReplicaSet]:
    with ReplicaSet(shoot) as replicas:
        yield replicas


def errands(shoot: Shoot, count: int) -> list[Errand]:
    """Errands that nobody has gone on yet."""
    return [Errand(shoot, next(_numbers)) for _ in range(count)]


def wait_for(condition: Callable[[], bool], what: str) -> None:
    wait_until(condition, timeout=PATIENCE, otherwise=lambda: AssertionError(f"not within {PATIENCE} s: {what}"))


def wait_until_done(asked: Iterable[Errand]) -> None:
    """Returns when everything is done that was asked for."""
    for errand in asked:
        errand.wait_until_done(PATIENCE)


def secrets_of(asked: Iterable[Errand]) -> Canaries:
    """What nobody may tell: the tokens that there are."""
    canaries = Canaries()
    for errand in asked:
        canaries.known(f"token {errand.number}", errand.token())
        canaries.known(f"static token {errand.number}", errand.static_text)
    return canaries


def assert_good_conduct(replicas: ReplicaSet, canaries: Canaries) -> None:
    """Nobody wrote without the Lease, asked for what it may not have, told a secret, or had anything to regret."""
    assert replicas.written_without_lease() == []
    assert replicas.forbidden() == []
    assert replicas.leaked(canaries) == set()
    assert replicas.worries() == []


def taints_of(shoot: Shoot) -> list[str]:
    return [taint["key"] for taint in shoot.target.get(node())["spec"].get("taints", ())]


def assert_went_through_the_webhooks(pod: Manifest) -> None:
    spec = pod["spec"]
    environment = {each["name"]: each.get("value") for each in spec["containers"][0].get("env", ())}
    assert environment["KUBERNETES_SERVICE_HOST"] == "api.example.com"
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["nodeSelector"] == {"worker.gardener.cloud/system-components": "true"}
    assert "example.com/pool" in [each.get("key") for each in spec["tolerations"]]


def writes_of(shoot: Shoot, replica: Replica, positions: tuple[int, int]) -> list[str]:
    clusters = (shoot.source, shoot.target)
    return [
        write
        for cluster, since in zip(clusters, positions, strict=True)
        for write in cluster.writes(since, user=replica.user)
    ]


@pytest.mark.slow
def test_everything_that_a_shoot_asks_for_is_done_and_then_nothing_is_written(
    shoot: Shoot, replicas: ReplicaSet
) -> None:
    leader = replicas.start_leader()
    standby = replicas.start()
    shoot.register(leader)
    shoot.pods.hold_back(SYSTEM)
    shoot.target.create(critical_daemon_set("network"))
    shoot.join(NOT_READY)
    asked = errands(shoot, 3)
    for errand in asked:
        errand.ask()
    wait_for(lambda: "UnreadyNodeCriticalPods" in shoot.reasons_of_node_events(), "the node waits")
    assert NOT_READY in taints_of(shoot)
    shoot.pods.let_go(SYSTEM)
    wait_for(lambda: NOT_READY not in taints_of(shoot), "pods may come to the node")
    wait_until_done(asked)
    assert [errand.account_of(errand.token()) for errand in asked] == [errand.account for errand in asked]
    assert_went_through_the_webhooks(shoot.target.get(asked[0].pod))

    positions = shoot.source.control_plane.audit_position(), shoot.target.control_plane.audit_position()
    until = time.monotonic() + QUIET
    leader.wait_for(lambda: time.monotonic() >= until, "has not rested", QUIET + PATIENCE)
    assert {each.name: writes_of(shoot, each, positions) for each in (leader, standby)} == {
        leader.name: [],
        standby.name: [],
    }
    replicas.disband()
    assert_good_conduct(replicas, secrets_of(asked))


@pytest.mark.slow
def test_what_is_asked_for_while_a_leader_dies_is_done_by_the_next_one(shoot: Shoot, replicas: ReplicaSet) -> None:
    leader, standby = replicas.start_leader(), replicas.start()
    shoot.register(leader)
    asked = errands(shoot, 2)
    for errand in asked:
        errand.ask()
    wait_until_done(asked)
    old = secrets_of(asked)
    before = {errand.token() for errand in asked}
    replicas.listen()

    leader.kill()
    for errand in asked:
        errand.renew()
    late = errands(shoot, 1)
    for errand in late:
        errand.ask()
    standby.wait_until_leading()
    wait_for(lambda: not before & {errand.token() for errand in asked}, "there are new tokens")
    wait_until_done([*asked, *late])

    replicas.disband()
    assert replicas.leaked(old) == set()
    assert_good_conduct(replicas, secrets_of([*asked, *late]))


@pytest.mark.slow
def test_replicas_are_replaced_one_by_one_under_load_and_nothing_is_refused_or_forgotten(
    shoot: Shoot, replicas: ReplicaSet
) -> None:
    old = [replicas.start_leader(), replicas.start()]
    shoot.register(old[0])
    with Load(shoot, _numbers) as load:
        for replica in reversed(old):
            load.wait_for_more()
            replicas.start()
            replicas.listen()
            assert replica.terminate() == 0
        wait_for(lambda: any(each.leads for each in replicas.at_work), "somebody leads")
        load.wait_for_more()

    assert load.refused == []
    wait_until_done(load.errands)
    replicas.disband()
    assert_good_conduct(replicas, secrets_of(load.errands))
