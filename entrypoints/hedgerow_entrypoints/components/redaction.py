"""The redaction of records of components that read Secrets."""
# ruff: noqa: PLC0415 -- a factory imports what it builds, as `registry` says

import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hedgerow.machinery.recording.playback import Redaction


def secret_redaction() -> "Redaction":
    """The redaction of one run of a process."""
    from hedgerow.resource_manager.secret_redaction import Compression, Fingerprints, SecretRedaction
    from hedgerow_adapters.compression import brotli_compressed, brotli_decompressed

    # The key is nowhere but here: who has the record cannot try out which value a fingerprint is of.
    fingerprints = Fingerprints(secrets.token_bytes(32))
    return SecretRedaction(fingerprints, Compression(brotli_decompressed, brotli_compressed))
