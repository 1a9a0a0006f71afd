"""HTTP servers of a process, with limits that hold whatever clients do.

Expected flow: a `FileBudget` for all listeners of the process, then an `HttpServer` for each. Guarantees: connections
are counted from their acceptance on; one that brings no request in time is closed; where there are too many, those that
have brought nothing go first; all listeners together leave the process the files for its own connections.

`addresses` says where to listen, `accepting` takes connections, `connection` and `connections` keep each and all of
them within `limits`, `files` divides the open files, `server` puts them together.
"""

from hedgerow_adapters.listening.addresses import Listener, ListenError, explained, listener
from hedgerow_adapters.listening.connection import Connection, RefusedError, refusal
from hedgerow_adapters.listening.files import FileBudget
from hedgerow_adapters.listening.limits import Limits
from hedgerow_adapters.listening.observer import ConnectionObserver
from hedgerow_adapters.listening.server import HttpServer

__all__ = [
    "Connection",
    "ConnectionObserver",
    "FileBudget",
    "HttpServer",
    "Limits",
    "ListenError",
    "Listener",
    "RefusedError",
    "explained",
    "listener",
    "refusal",
]
