"""The component configuration in the schema of the chart's values: types, and what templates rely on.

Helm renders the chart without decoding the configuration. What this schema refuses, `hedgerow install` refuses as well;
not the reverse.

Source: managed-resources §3.1.
"""

from typing import Any, Final

from hedgerow.machinery.configuration.schema import Schema, document_schema, nullable
from hedgerow.resource_manager.configuration import ResourceManagerConfiguration
from hedgerow.resource_manager.configuration.process import PORTS

_PORT: Final = nullable({"type": "integer", "minimum": 0, "maximum": PORTS[-1]})
_INGRESS_CONTROLLER: Final[Schema] = {
    "required": ["namespace", "podSelector"],
    "properties": {"namespace": {"type": "string", "minLength": 1}, "podSelector": {"type": "object"}},
}
_NETWORK_POLICY: Final[Schema] = {
    "if": {"properties": {"enabled": {"const": True}}, "required": ["enabled"]},
    "then": {"properties": {"ingressControllerSelector": _INGRESS_CONTROLLER}},
}


def config_schema() -> dict[str, Any]:
    """The schema of the component configuration among the values."""
    schema = document_schema(ResourceManagerConfiguration)
    sections = schema["properties"]
    for endpoint in sections["server"]["properties"].values():
        endpoint["properties"]["port"] = _PORT
    sections["controllers"]["properties"]["networkPolicy"] |= _NETWORK_POLICY
    return schema
