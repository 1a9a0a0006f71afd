"""Where the API server is that is reached by name: which name that is, and what it is resolved to as time goes by."""

from hedgerow_adapters.resolving.resolver import Endpoint, HostResolver, Lookup, api_server_endpoint, looked_up

__all__ = ["Endpoint", "HostResolver", "Lookup", "api_server_endpoint", "looked_up"]
