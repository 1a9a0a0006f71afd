"""Everything that touches the world for hedgerow's core: API servers, the in-memory cluster, files, telemetry."""
