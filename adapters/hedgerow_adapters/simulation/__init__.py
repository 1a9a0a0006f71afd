"""Controllers at work in the in-memory cluster, without an event loop: manifests in, the settled world out."""

from hedgerow_adapters.simulation.seeding import seeded_cluster
from hedgerow_adapters.simulation.settling import Settlement, Step, settle, world_of
from hedgerow_adapters.simulation.webhooks import LocalWebhooks

__all__ = ["LocalWebhooks", "Settlement", "Step", "seeded_cluster", "settle", "world_of"]
