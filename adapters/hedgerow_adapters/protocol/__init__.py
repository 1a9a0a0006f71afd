"""The Kubernetes API as values: requests, responses, and the transport that carries them.

Everything that talks to an API server is written against this package; the HTTP client and the in-memory cluster are
two transports for the same requests.
"""
