"""Lists and watches that keep a cache in step with an API server."""
