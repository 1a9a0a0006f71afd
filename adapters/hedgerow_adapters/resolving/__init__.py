"""Where the API server is that is reached by name: which name that is, and what it is resolved to as time goes by."""

from hedgerow_adapters.resolving.place import Place, place_of_api_server
from hedgerow_adapters.resolving.resolver import HostResolver, Lookup, looked_up

__all__ = ["HostResolver", "Lookup", "Place", "looked_up", "place_of_api_server"]
