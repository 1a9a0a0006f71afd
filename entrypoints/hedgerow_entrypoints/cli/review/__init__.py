"""`hedgerow review`: what webhooks would decide about the objects in files, before any API server asks them."""
