"""The heartbeat of an extension: a Lease by which Gardener sees that its process is alive.

Source: rsyslog-relp §3.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from hedgerow.api.kubernetes import LEASES
from hedgerow.machinery.clusters import Cluster, Permission
from hedgerow.machinery.controller import Context, Controller
from hedgerow.machinery.failures import Failure, Problem
from hedgerow.machinery.objects import ObjectKey
from hedgerow.machinery.plan import Create, MergePatch, Plan, failed
from hedgerow.machinery.questions import Found, NotAnswered, ObjectQuestion
from hedgerow.machinery.reading import object_at
from hedgerow.machinery.scalars import parse_timestamp
from hedgerow.machinery.snapshot import Snapshot
from hedgerow.machinery.steps import Now

NAME: Final = "heartbeat"
LEASE: Final = "gardener-extension-heartbeat"


@dataclass(frozen=True, slots=True)
class HeartbeatConfig:
    """Whose heart beats, where, and how often."""

    holder: str
    """The name of the extension."""
    namespace: str
    renew_interval: timedelta


def heartbeat(config: HeartbeatConfig) -> Controller[HeartbeatConfig]:
    """The controller for a configuration; it watches nothing."""
    return Controller(
        name=NAME,
        primary=LEASES,
        watches=(),
        concurrency=1,
        config=config,
        reconcile=reconcile,
        periodic=True,
        longest_wait=config.renew_interval.total_seconds(),
        permissions=(
            Permission.of(LEASES, "create", namespace=config.namespace),
            Permission.of(LEASES, "get", "patch", names=(LEASE,), namespace=config.namespace),
        ),
    )


async def reconcile(_key: ObjectKey, _snapshot: Snapshot, context: Context[HeartbeatConfig]) -> Plan:
    """Renew the Lease, or create it; one that this extension has renewed just now can wait."""
    config = context.config
    key = ObjectKey(config.namespace, LEASE)
    answer = await ObjectQuestion(LEASES, key, Cluster.TARGET)
    if isinstance(answer, NotAnswered) and not answer.is_not_found:
        return _failed(key, answer.message)
    now = await Now()
    spec = lease_spec(config.holder, config.renew_interval, now)
    if isinstance(answer, Found):
        (lease,) = answer.objects
        rest = _rest(object_at(lease, "spec"), config, now)
        if rest > timedelta():
            return Plan(requeue_after=rest.total_seconds())
        result = await MergePatch(LEASES, key, {"spec": spec}, "heartbeat")
    else:
        metadata = {"namespace": key.namespace, "name": key.name}
        lease = {"apiVersion": LEASES.api_version, "kind": LEASES.kind, "metadata": metadata, "spec": spec}
        result = await Create(LEASES, lease, "heartbeat")
    if result.error is not None:
        return _failed(key, result.error.message)
    return Plan(requeue_after=config.renew_interval.total_seconds())


def _rest(spec: Mapping[str, Any], config: HeartbeatConfig, now: datetime) -> timedelta:
    """How long the Lease can wait for its renewal."""
    renewed = parse_timestamp(spec.get("renewTime"))
    is_ours = spec.get("holderIdentity") == config.holder and renewed is not None and renewed <= now
    return config.renew_interval - (now - renewed) if is_ours and renewed else timedelta()


def lease_spec(holder: str, renew_interval: timedelta, now: datetime) -> Mapping[str, Any]:
    """The `spec` of the Lease at a moment."""
    renewed = now.astimezone(UTC).replace(tzinfo=None)
    return {
        "holderIdentity": holder,
        "leaseDurationSeconds": int(renew_interval.total_seconds()),
        "renewTime": f"{renewed.isoformat(timespec='microseconds')}Z",
    }


def _failed(key: ObjectKey, problem: str) -> Plan:
    return failed(Failure(LEASES, key, Problem("", problem), retryable=True))
