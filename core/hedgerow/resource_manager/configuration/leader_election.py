"""Which Lease the processes compete for, and how long they hold it: the section `leaderElection`.

Source: managed-resources §3.1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from hedgerow.machinery.durations import format_duration
from hedgerow.machinery.fields import FieldError, invalid, unsupported
from hedgerow.machinery.names import dns_label_problem, dns_subdomain_problem
from hedgerow.resource_manager.configuration.shape import Duration, Purpose, Section

LEASE_DURATION: Final = timedelta(seconds=15)
RENEW_DEADLINE: Final = timedelta(seconds=10)
RETRY_PERIOD: Final = timedelta(seconds=2)
JITTER_FACTOR: Final = 1.2
"""client-go holds no election unless the renew deadline is longer than the retry period times this."""
LEASES: Final = "leases"
RESOURCE_NAME: Final = "gardener-resource-manager"
_UNSET: Final = timedelta(0)


@dataclass(frozen=True, slots=True)
class LeaderElection:
    """Whether one of several processes leads, and by which Lease."""

    leader_elect: bool
    lease_duration: timedelta
    """So long others wait after a lease was last renewed before they take it over."""
    renew_deadline: timedelta
    """So long a leader that cannot renew its lease goes on leading."""
    retry_period: timedelta
    """Between two attempts to take or renew a lease."""
    resource_lock: str
    resource_name: str
    resource_namespace: str
    """Empty only where nobody competes: without leader election, or offline."""


class LeaderElectionSection(Section):
    """The section as written. A zero duration, an empty lock and an empty name are unset, as in the reference."""

    leader_elect: bool = True
    """Whether replicas compete. If not, the controllers of every replica work, and the fields below do not matter."""
    lease_duration: Duration = _UNSET
    """So long others wait after the Lease was last renewed before they take it over. Longer than `renewDeadline`."""
    renew_deadline: Duration = _UNSET
    """So long a leader that cannot renew the Lease goes on. Longer than 1.2 times `retryPeriod`."""
    retry_period: Duration = _UNSET
    """Between two attempts to take or renew the Lease. Longer than 0."""
    resource_lock: str = ""
    """What they compete for. One of `leases`."""
    resource_name: str = ""
    """Name of the Lease."""
    resource_namespace: str = ""
    """Namespace of the Lease, in the source cluster. Must be set; the chart and `hedgerow install` do so."""

    def settings(self) -> LeaderElection:
        """The leader election with its defaults; the namespace of the Lease has none."""
        return LeaderElection(
            leader_elect=self.leader_elect,
            lease_duration=self.lease_duration or LEASE_DURATION,
            renew_deadline=self.renew_deadline or RENEW_DEADLINE,
            retry_period=self.retry_period or RETRY_PERIOD,
            resource_lock=self.resource_lock or LEASES,
            resource_name=self.resource_name or RESOURCE_NAME,
            resource_namespace=self.resource_namespace,
        )

    def problems(self, path: str, purpose: Purpose, /) -> Iterator[FieldError]:
        """Durations that cannot work, another lock, names no Lease can have; nothing where nobody competes."""
        if purpose is Purpose.OFFLINE or not self.leader_elect:
            return
        election = self.settings()
        for name, duration in (
            ("leaseDuration", election.lease_duration),
            ("renewDeadline", election.renew_deadline),
            ("retryPeriod", election.retry_period),
        ):
            if duration < _UNSET:
                yield invalid(f"{path}.{name}", duration, "must be greater than zero")
        if election.lease_duration <= election.renew_deadline:
            # The other field's value at this one's path, as the reference reports it.
            detail = "LeaseDuration must be greater than RenewDeadline"
            yield invalid(f"{path}.leaseDuration", election.renew_deadline, detail)
        if election.retry_period > _UNSET and election.renew_deadline <= election.retry_period * JITTER_FACTOR:
            # client-go refuses this later, when it starts to elect.
            detail = f"RenewDeadline must be greater than {JITTER_FACTOR:g} times RetryPeriod"
            yield invalid(f"{path}.renewDeadline", election.renew_deadline, detail)
        if election.resource_lock != LEASES:
            yield unsupported(f"{path}.resourceLock", election.resource_lock, (LEASES,))
        if problem := dns_subdomain_problem(election.resource_name):
            yield invalid(f"{path}.resourceName", election.resource_name, problem)
        if not election.resource_namespace:
            yield invalid(f"{path}.resourceNamespace", "", "resourceNamespace is required")
        elif problem := dns_label_problem(election.resource_namespace):
            yield invalid(f"{path}.resourceNamespace", election.resource_namespace, problem)


def manifest(election: LeaderElection) -> dict[str, Any]:
    """The section that states a leader election in full."""
    return {
        "leaderElect": election.leader_elect,
        "leaseDuration": format_duration(election.lease_duration),
        "renewDeadline": format_duration(election.renew_deadline),
        "retryPeriod": format_duration(election.retry_period),
        "resourceLock": election.resource_lock,
        "resourceName": election.resource_name,
        "resourceNamespace": election.resource_namespace,
    }
