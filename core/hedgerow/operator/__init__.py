"""The operator: what keeps a garden's runtime cluster in order."""
