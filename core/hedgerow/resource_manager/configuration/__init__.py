"""The component configuration of the resource manager: one class per section.

`decode` turns a parsed document into a `ResourceManagerConfiguration`, its method `manifest` turns it back. A class is
the only description of its section, as `hedgerow.machinery.configuration` explains; controllers read the same class.

Source: managed-resources §3.
"""

from hedgerow.resource_manager.configuration.document import (
    API_VERSION,
    KIND,
    Decoded,
    ResourceManagerConfiguration,
    decode,
    decode_offline,
)

__all__ = [
    "API_VERSION",
    "KIND",
    "Decoded",
    "ResourceManagerConfiguration",
    "decode",
    "decode_offline",
]
