"""What the ManagedResource controller is configured with.

Source: managed-resources §3.1.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from returns.result import Failure, Result

from hedgerow.api.managed_resources import ClassFilter
from hedgerow.machinery.documents.budget import ReadingBudget
from hedgerow.resource_manager.managed_resources.decoding import Decompress

SYNC_PERIOD: Final = 60.0


def _not_decompressed(_compressed: bytes) -> tuple[Result[bytes, str], ...]:
    return (Failure("nothing is at hand to decompress it"),)


@dataclass(frozen=True, slots=True)
class ManagedResourceConfig:
    """Whose ManagedResources are applied, and how."""

    class_filter: ClassFilter = field(default_factory=ClassFilter)
    cluster_id: str = ""
    """The id of the source cluster that origins carry; empty: they carry none."""
    managed_by: str = "gardener"
    """The value of the label that says who manages an object."""
    sync_period: float = SYNC_PERIOD
    """Seconds after which a ManagedResource is looked at again without any event."""
    always_update: bool = False
    """Whether objects are written even if that changes nothing."""
    garbage_collection: bool = False
    """Whether the garbage collector looks after ConfigMaps and Secrets that are labelled for it."""
    decompress: Decompress = _not_decompressed
    budget: Callable[[], ReadingBudget] = ReadingBudget
    """Limits what is read of the Secrets for one decision."""
