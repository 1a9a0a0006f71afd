"""`hedgerow health`: whether what files hold, or what ManagedResources deliver into a cluster, is as it should be."""
