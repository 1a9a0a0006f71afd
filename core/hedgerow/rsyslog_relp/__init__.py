"""The extension shoot-rsyslog-relp: nodes of a Shoot forward their logs to a RELP server.

`decode` and `config_problems` read the provider configuration of a Shoot. `node_files` renders everything that a node
gets: rsyslog's configuration, scripts, audit rules. Two webhooks put them into OperatingSystemConfigs and refuse
invalid Shoots. The exported names follow semantic versioning.

Source: rsyslog-relp.
"""

from hedgerow.rsyslog_relp.config import RsyslogRelpConfig, decode, decode_text
from hedgerow.rsyslog_relp.naming import HostPaths
from hedgerow.rsyslog_relp.operating_system_config import node_files, operating_system_config_webhook
from hedgerow.rsyslog_relp.rendering import ShootIdentity, rsyslog_configuration
from hedgerow.rsyslog_relp.shoot_admission import shoot_admission_webhook
from hedgerow.rsyslog_relp.validation import config_problems

__all__ = [
    "HostPaths",
    "RsyslogRelpConfig",
    "ShootIdentity",
    "config_problems",
    "decode",
    "decode_text",
    "node_files",
    "operating_system_config_webhook",
    "rsyslog_configuration",
    "shoot_admission_webhook",
]
