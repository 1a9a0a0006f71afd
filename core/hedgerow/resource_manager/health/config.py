"""What the controllers of health and progress are told, validated already."""

from dataclasses import dataclass, field
from datetime import timedelta

from hedgerow.api.managed_resources import ClassFilter


@dataclass(frozen=True, slots=True)
class HealthConfig:
    """Whose ManagedResources are judged, and when."""

    class_filter: ClassFilter = field(default_factory=ClassFilter)
    """Of other classes others take care."""
    cluster_id: str = ""
    """The id of the cluster that the ManagedResources are in, as origins spell it."""
    sync_period: timedelta = timedelta(minutes=1)
    """How long after a look the next one follows, even if nothing happens."""
