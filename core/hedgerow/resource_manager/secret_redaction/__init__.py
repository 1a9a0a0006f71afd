"""Secret redaction: what records and commands show of objects, which is all but the values of Secrets, and tokens.

Which values are confidential is decided once, by a list of what may be shown (`redactor`).

A record shows a fingerprint of each such value, the same for the same value within a run of the process. Nobody can
find out the value without the key of that run, which is written nowhere. What decisions read of a value stays
readable: the manifests that ManagedResources refer to, and all of a kubeconfig but its credentials.

A command prints a mark in place of each such value, which says whether the value changes.
"""

from hedgerow.resource_manager.secret_redaction.fingerprints import Compression, Fingerprints
from hedgerow.resource_manager.secret_redaction.journals import SecretRedaction
from hedgerow.resource_manager.secret_redaction.marks import CHANGED, REDACTED, redacted

__all__ = ["CHANGED", "REDACTED", "Compression", "Fingerprints", "SecretRedaction", "redacted"]
