"""The Kubernetes API over HTTP: credentials, the transport, and what its errors mean."""
