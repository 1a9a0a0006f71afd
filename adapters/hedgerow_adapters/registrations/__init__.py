"""Registration objects of webhooks: how they are read, and which requests they match.

`parsing` reads registration objects into `registered`, `problems` says what is wrong with them, `dispatch` says which
webhooks an API server calls for a request. Used by the in-memory cluster and by `hedgerow review`.
"""

from hedgerow_adapters.registrations.parsing import parse_registrations
from hedgerow_adapters.registrations.problems import entries_problems, is_base_url
from hedgerow_adapters.registrations.registered import Client, Entry, Registrations

__all__ = ["Client", "Entry", "Registrations", "entries_problems", "is_base_url", "parse_registrations"]
