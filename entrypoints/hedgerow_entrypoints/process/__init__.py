"""A component as a process in a cluster."""
