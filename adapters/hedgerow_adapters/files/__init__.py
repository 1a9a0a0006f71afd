"""Manifests in files: objects out of YAML and JSON, completed as an API server would, and objects back into text."""
