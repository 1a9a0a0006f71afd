"""What a record shows of the decisions of the resource manager: everything but the values of Secrets, and tokens.

Instead of a value it shows a fingerprint, the same for the same value within a run of the process, from which nobody
can find out the value without the key of that run, which is written nowhere. What decisions read of a value stays
readable: the manifests that ManagedResources refer to, and all of a kubeconfig but its credentials.
"""

from hedgerow.resource_manager.disguise.fingerprints import Fingerprints
from hedgerow.resource_manager.disguise.turn import SecretsDisguised
from hedgerow.resource_manager.disguise.values import Compression

__all__ = ["Compression", "Fingerprints", "SecretsDisguised"]
