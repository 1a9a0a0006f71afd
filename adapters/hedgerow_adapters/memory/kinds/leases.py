"""Leases as the API server refuses them. Unlike most kinds they are never updated without a resourceVersion."""

from collections.abc import Iterator
from typing import Final

from hedgerow.api import kubernetes
from hedgerow.machinery.objects import Manifest
from hedgerow_adapters.memory.field_errors import FieldError, invalid
from hedgerow_adapters.memory.kinds.kind import Fields, Kind
from hedgerow_adapters.memory.shapes import micro_time, number, optional_text, structure

_SPEC: Final = structure(
    {
        "holderIdentity": optional_text,
        "leaseDurationSeconds": number,
        "acquireTime": micro_time,
        "renewTime": micro_time,
        "leaseTransitions": number,
        "strategy": optional_text,
        "preferredHolder": optional_text,
    }
)


def complete(lease: Fields, _old: Manifest | None) -> None:
    """A Lease always has a spec."""
    lease.setdefault("spec", {})


def errors(lease: Manifest, _old: Manifest | None) -> Iterator[FieldError]:
    """Durations are positive, transitions are counted."""
    duration = lease["spec"].get("leaseDurationSeconds")
    if duration is not None and duration <= 0:
        yield invalid("spec.leaseDurationSeconds", duration, "must be greater than 0")
    transitions = lease["spec"].get("leaseTransitions")
    if transitions is not None and transitions < 0:
        yield invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0")


LEASES: Final = Kind(
    kubernetes.LEASES,
    fields={"spec": _SPEC},
    defaults=complete,
    rules=errors,
    unconditional_update=False,
)
