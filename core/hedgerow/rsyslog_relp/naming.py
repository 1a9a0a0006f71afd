"""The names under which the extension and its objects are known.

Source: rsyslog-relp §0, "Identifiers".
"""

from typing import Final

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
