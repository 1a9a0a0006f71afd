"""The resource manager: the controllers that look after what runs in a cluster."""
