"""The image of every component as an OCI layout: `make image`. It needs no container builder, no daemon and no root.

Layers depend on the pins and the commit alone: not on time, folder, user or umask of who builds them.
"""
