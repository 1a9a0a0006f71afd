"""Controllers at work where nothing that they do lasts, on virtual time: until they settle, for days, or as a plan.

settle(cluster, controllers)                                                    # in an in-memory cluster
with Planner(controller, in_memory(cluster), now) as planner: ...               # key by key, in one
with RealTime() as real_time:                                                   # over a live cluster
transport = real_time.over(real_time.enter(...))
with Planner(controller, imagined(dict.fromkeys(Cluster, transport), now), now) as planner: ...
"""

from hedgerow_adapters.simulation.clusters import ReadingError, SimulationError, World, Worlds, in_memory
from hedgerow_adapters.simulation.happenings import CrashedTurnError, SentAction
from hedgerow_adapters.simulation.overlay import imagined
from hedgerow_adapters.simulation.planning import KeyPlan, Planner, Settlement, settle
from hedgerow_adapters.simulation.seeding import seeded_cluster
from hedgerow_adapters.simulation.virtual_time import RealTime

__all__ = [
    "CrashedTurnError",
    "KeyPlan",
    "Planner",
    "ReadingError",
    "RealTime",
    "SentAction",
    "Settlement",
    "SimulationError",
    "World",
    "Worlds",
    "imagined",
    "in_memory",
    "seeded_cluster",
    "settle",
]
