"""Registration objects of webhooks: what they register, and which requests an API server calls webhooks for."""
