"""`hedgerow health`: whether what files hold, or what ManagedResources deliver into a cluster, is as it should be.

Whether an object is healthy or rolls out is decided in `hedgerow.resource_manager.health`; here its objects are found,
and the answers shown.
"""
