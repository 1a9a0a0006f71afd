"""The names under which the extension and its objects are known, and where its files are on a node.

Source: rsyslog-relp §0; decision D-1.
"""

from dataclasses import dataclass, fields
from typing import Final, Self

TYPE: Final = "shoot-rsyslog-relp"
"""Type and name of the Extension, and origin of what the extension deploys."""
FINALIZER: Final = f"extensions.gardener.cloud/{TYPE}"
NAMESPACE_LABEL: Final = f"extensions.gardener.cloud/{TYPE}"
"""`"true"` on the namespaces of Shoots that have the extension."""
SHOOT_LABEL: Final = f"extensions.extensions.gardener.cloud/{TYPE}"
"""`"true"` on such Shoots."""
MONITORING_CONFIG_MAP: Final = "shoot-rsyslog-relp-prometheus"
CLEANER: Final = "rsyslog-relp-configuration-cleaner"
CLEANER_MANAGED_RESOURCE: Final = "extension-shoot-rsyslog-relp-configuration-cleaner"
UNIT: Final = "rsyslog-configurator.service"
REFERENCE_PREFIX: Final = "ref-"
"""How the copy of a referenced Secret in the namespace of a Shoot is named, before the name of the original."""


@dataclass(frozen=True, slots=True)
class HostPaths:
    """The paths on a node. "Staged" files come with the OperatingSystemConfig, a script installs them."""

    osc_dir: str = "/var/lib/rsyslog-relp-configurator"
    conf_staged: str = "/var/lib/rsyslog-relp-configurator/rsyslog.d/60-audit.conf"
    conf_installed: str = "/etc/rsyslog.d/60-audit.conf"
    configure_script: str = "/var/lib/rsyslog-relp-configurator/configure-rsyslog.sh"
    pstats_script: str = "/var/lib/rsyslog-relp-configurator/process-rsyslog-pstats.sh"
    tls_staged_dir: str = "/var/lib/rsyslog-relp-configurator/tls"
    tls_installed_dir: str = "/etc/ssl/rsyslog"
    audit_staged_dir: str = "/var/lib/rsyslog-relp-configurator/rules.d"
    audit_installed_dir: str = "/etc/audit/rules.d"
    audit_backup_dir: str = "/etc/audit/rules.d.original"
    audit_syslog_plugin: str = "/etc/audit/plugins.d/syslog.conf"
    textfile_dir: str = "/var/lib/node-exporter/textfile-collector"
    pstats_output: str = "/var/lib/node-exporter/textfile-collector/rsyslog_pstats.prom"
    unit_file: str = "/etc/systemd/system/rsyslog-configurator.service"
    journal_socket: str = "/run/systemd/journal/syslog"

    @classmethod
    def below(cls, root: str) -> Self:
        """The paths below another root, such as a temporary folder."""
        return cls(**{field.name: f"{root}{field.default}" for field in fields(cls)})


DEFAULT_PATHS = HostPaths()
