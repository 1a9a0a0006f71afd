"""The extension shoot-rsyslog-relp: nodes of a Shoot forward their logs to a RELP server.

Source: rsyslog-relp.
"""
