"""Reads the version of an API server.

Source: Kubernetes API, `/version`, which every authenticated client may read.
"""

from collections.abc import Mapping
from typing import Final

from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.transport import Transport, TransportError

PATIENCE: Final = 10.0
"""Seconds for the answer."""


async def server_version(transport: Transport) -> str | None:
    """The version that an API server gives itself, such as `v1.36.0`; none if it did not tell."""
    try:
        response = await transport.send(requests.version(), timeout=PATIENCE)
    except TransportError:
        return None
    body = response.body
    version = body.get("gitVersion") if response.is_success and isinstance(body, Mapping) else None
    return version if isinstance(version, str) else None
