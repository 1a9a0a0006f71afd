"""The replicas of one test: who leads, and what may be said of all of them when it is over."""

import http.client
import itertools
import json
from contextlib import ExitStack
from types import TracebackType
from typing import Final, Self

from tests.e2e.canaries import Canaries
from tests.e2e.managed_resources.sandbox import WRITES, ManagedResourceSandbox
from tests.e2e.permissions import refusals_of
from tests.e2e.replicas import Record, is_covered, moment_of
from tests.e2e.resource_manager import errors_of
from tests.e2e.whole_process.shoot import Replica, Shoot

_numbers: Final = itertools.count(1)


class ReplicaSet:
    """A context manager: replicas that are started while it is entered are gone when it is left."""

    def __init__(self, shoot: Shoot) -> None:
        self._shoot = shoot
        self._record = Record(shoot)
        self._position = shoot.target.control_plane.audit_position()
        self._stack = ExitStack()
        self._told: dict[Replica, list[str]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, traceback)

    def start(self) -> Replica:
        """A further replica, which is ready."""
        replica = self._stack.enter_context(self._shoot.replica(f"replica-{next(_numbers)}"))
        self._told[replica] = []
        replica.wait_ready()
        return replica

    @property
    def at_work(self) -> list[Replica]:
        """Those who have not ended."""
        return [each for each in self._told if each.running]

    def start_leader(self) -> Replica:
        """The first replica, which leads."""
        leader = self.start()
        leader.wait_until_leading()
        return leader

    def listen(self) -> None:
        """Take down what those say who are at work, as it is gone when they are."""
        for replica in self.at_work:
            probes = [replica.probe(f"{path}?verbose")[1] for path in ("/healthz", "/readyz")]
            self._told[replica] += [replica.metrics(), *probes]

    def disband(self) -> None:
        """Have those end in good order who are still at work."""
        self.listen()
        for replica in self.at_work:
            assert replica.terminate() == 0

    # What they have done and said; they have ended.

    def worries(self) -> list[str]:
        """What they have told as errors and warnings."""
        return [f"{each.name}: {error}" for each in self._told for error in errors_of(each.log_lines())]

    def forbidden(self) -> list[str]:
        """What they wanted to do and were not allowed to."""
        planes = [cluster.control_plane for cluster in (self._shoot.source, self._shoot.target)]
        return [refusal for each in self._told for plane in planes for refusal in refusals_of(plane, each.name)]

    def written_without_lease(self) -> list[str]:
        """What one of them asked to be written, in either cluster, while it did not hold the Lease for sure."""
        users = [each.user for each in self._told]
        leases = self._record.leases(users)
        self._shoot.target.writes(self._position)  # the log is complete
        in_target = self._shoot.target.control_plane.audit_events(verbs=WRITES, since=self._position)
        return [
            *self._record.writes_without_lease(users),
            *(
                f"{moment_of(event)} {user}: {event['verb']} {event['requestURI']}"
                for event in in_target
                if (user := event["user"]["username"]) in users and not is_covered(moment_of(event), user, leases)
            ),
        ]

    def leaked(self, canaries: Canaries) -> set[str]:
        """The places of secrets that they have told somebody."""
        told = [text for each, texts in self._told.items() for text in (each.output(), *texts)]
        return canaries.seen_in([*told, *(_events_in(each) for each in (self._shoot.source, self._shoot.target))])


def _events_in(cluster: ManagedResourceSandbox) -> str:
    status, events = cluster.control_plane.request("GET", "/apis/events.k8s.io/v1/events")
    assert status == http.client.OK, events
    return json.dumps(events)
