"""Controllers at work in the in-memory cluster, on virtual time: manifests in, the settled world out."""

from hedgerow_adapters.simulation.happenings import SentAction
from hedgerow_adapters.simulation.seeding import seeded_cluster
from hedgerow_adapters.simulation.settling import Settlement, settle, world_of
from hedgerow_adapters.simulation.surroundings import Imagined, Surroundings
from hedgerow_adapters.simulation.turns import DecidedStep, Decision, decided, performed
from hedgerow_adapters.simulation.webhooks import LocalWebhooks

__all__ = [
    "DecidedStep",
    "Decision",
    "Imagined",
    "LocalWebhooks",
    "SentAction",
    "Settlement",
    "Surroundings",
    "decided",
    "performed",
    "seeded_cluster",
    "settle",
    "world_of",
]
