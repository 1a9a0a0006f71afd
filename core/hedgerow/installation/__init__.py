"""What has to be in a cluster for a component's process to run there: roles, pods, webhook registrations.

A component declares a subclass of `Installation` and one of `Values`. `Installation.permissions` are derived from what
its controllers and webhooks declare. `manifests` makes all objects of an installation from the values that the Helm
chart takes as well.

Source: managed-resources §4, §19; webhooks-and-tokens §4.4; rsyslog-relp §3.
"""
