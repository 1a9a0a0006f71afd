"""Controllers at work where nothing that they do lasts, on virtual time: until they settle, for days, or as a plan."""

from hedgerow_adapters.simulation.clusters import ReadingError, World, Worlds, in_memory
from hedgerow_adapters.simulation.happenings import SentAction
from hedgerow_adapters.simulation.overlay import imagined
from hedgerow_adapters.simulation.planning import KeyPlan, Planner, planning
from hedgerow_adapters.simulation.seeding import seeded_cluster
from hedgerow_adapters.simulation.settling import Settlement, settle

__all__ = [
    "KeyPlan",
    "Planner",
    "ReadingError",
    "SentAction",
    "Settlement",
    "World",
    "Worlds",
    "imagined",
    "in_memory",
    "planning",
    "seeded_cluster",
    "settle",
]
