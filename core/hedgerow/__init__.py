"""hedgerow: Kubernetes control-plane controllers whose decisions are pure functions.

This package is the core. It decides, and touches nothing: no network, no files, no clock. Take what you need from the
context that decides it, for example:

    from hedgerow.resource_manager import network_policies

    network_policies.desired_network_policies(service, namespaces)
"""

from hedgerow.version import __version__

__all__ = ["__version__"]
