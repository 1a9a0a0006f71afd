"""Asks an API server which resources it serves, without remembering anything.

Source: Kubernetes documentation, "The Kubernetes API", discovery; decision "absence".
"""

from typing import Final

from hedgerow.machinery.objects import Resource
from hedgerow.machinery.questions import NotAnswered
from hedgerow_adapters.protocol import requests
from hedgerow_adapters.protocol.discovery_documents import Served, lacks_version, served
from hedgerow_adapters.protocol.status_errors import status_error
from hedgerow_adapters.protocol.transport import Transport, TransportError
from hedgerow_adapters.protocol.write_results import not_answered

PATIENCE: Final = 10.0
"""Seconds for one request."""
_NO_ANSWER: Final = 500


async def look(transport: Transport, api_version: str) -> Served | NotAnswered:
    """What the server serves of a group and version.

    A 404 in place of the document is no knowledge: then the list of all groups tells whether there is such a version.
    """
    try:
        response = await transport.send(requests.resources_of(api_version), timeout=PATIENCE)
        if response.is_success:
            return served(api_version, response.body)
        error = status_error(response)
        if error.is_unproven_absence:
            groups = await transport.send(requests.groups(), timeout=PATIENCE)
            if groups.is_success and lacks_version(groups.body, api_version):
                return Served({}, frozenset())
    except TransportError as lost:
        return NotAnswered(_NO_ANSWER, "", str(lost))
    return not_answered(error)


async def lacks(transport: Transport, resource: Resource) -> bool:
    """True if a discovery document of the server lacks a resource; asked after a 404 that names no object."""
    looked = await look(transport, resource.api_version)
    return isinstance(looked, Served) and looked.resources.get(resource.kind) != resource
