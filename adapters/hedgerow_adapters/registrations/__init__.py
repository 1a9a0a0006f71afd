"""Registration objects of webhooks: what they register, and which requests an API server calls webhooks for.

Used by the in-memory cluster and by `hedgerow review`.
"""
