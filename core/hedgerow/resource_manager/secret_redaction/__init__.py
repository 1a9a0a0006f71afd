"""Secret redaction: keeps the values of Secrets, and tokens, out of records and of what commands print.

Tables list what may be shown (`redactor`); everything else in a Secret is confidential.

A record has a fingerprint in place of each confidential value, the same for the same value within a run of the process.
Nobody can find out the value without the key of that run, which is stored nowhere. The parts of a value that decisions
read stay readable: the manifests that ManagedResources refer to, and all of a kubeconfig but its credentials.

A command prints a mark in place of each confidential value. It says whether the value changes.
"""

from hedgerow.resource_manager.secret_redaction.fingerprints import Compression, Fingerprints
from hedgerow.resource_manager.secret_redaction.journals import SecretRedaction
from hedgerow.resource_manager.secret_redaction.redactor import CHANGED, REDACTED, redacted

__all__ = ["CHANGED", "REDACTED", "Compression", "Fingerprints", "SecretRedaction", "redacted"]
