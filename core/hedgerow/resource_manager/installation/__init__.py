"""What has to be in a cluster for the resource manager to run there: roles, pods, webhook registrations.

`permissions_of` says what a process has to be allowed, out of what its controllers and webhooks declare; `manifests`
makes all objects of an installation out of the values that the Helm chart takes as well.

Source: managed-resources §4, §19; webhooks-and-tokens §4.4.
"""
