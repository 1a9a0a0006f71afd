"""HTTP servers of a process, with limits that hold whatever clients do.

Expected flow: a `FileBudget` for all listeners of the process, then an `HttpServer` for each. Guarantees: connections
are counted from their acceptance on; one that sends no request in time is closed; if there are too many, those that
have sent nothing are closed first; all listeners together leave the process the files for its own connections.

`accepting` accepts connections, `connection` and `connections` keep each and all of them within limits, `server` puts
them together.
"""
