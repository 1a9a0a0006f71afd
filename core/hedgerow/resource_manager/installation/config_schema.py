"""The component configuration in the schema of the values: what templates read of it, and what excludes what.

Where Helm renders, nobody decodes the configuration. What this refuses, `hedgerow install` refuses as well; not the
reverse.

Source: managed-resources §3.1.
"""

from typing import Any, Final

from hedgerow.resource_manager.configuration import API_VERSION, KIND, PORTS

Schema = dict[str, Any]


def _nullable(schema: Schema) -> Schema:
    """Null stands for what is left out."""
    return {**schema, "type": [schema["type"], "null"]}


def _not_beside(field: str, other: str) -> Schema:
    """That of two spellings of the same there is only one."""
    stated = {"not": {"type": "null"}}
    both = {"type": "object", "required": [field, other], "properties": {field: stated, other: stated}}
    return {"not": both}


_BOOLEAN: Final = _nullable({"type": "boolean"})
_SECTION: Final = _nullable({"type": "object"})
_CONNECTION: Final[Schema] = {**_SECTION, **_not_beside("namespace", "namespaces")}
_SWITCHED: Final[Schema] = {
    **_SECTION,
    "additionalProperties": {
        "anyOf": [
            {"type": "object", "properties": {"enabled": _BOOLEAN}},
            {"type": ["string", "null"]},
        ]
    },
}
_INGRESS_CONTROLLER: Final[Schema] = {
    **_SECTION,
    "required": ["namespace", "podSelector"],
    "properties": {"namespace": {"type": "string", "minLength": 1}, "podSelector": {"type": "object"}},
}
_NETWORK_POLICY: Final[Schema] = {
    "if": {"properties": {"enabled": {"const": True}}, "required": ["enabled"]},
    "then": {"properties": {"ingressControllerSelector": _INGRESS_CONTROLLER}},
}
_INVALIDATOR: Final = _not_beside("tokenInvalidator", "tokenValidator")
_ENDPOINT: Final[Schema] = {
    **_SECTION,
    "properties": {"port": _nullable({"type": "integer", "minimum": 0, "maximum": PORTS[-1]})},
}
CONFIG_SCHEMA: Final[Schema] = {
    "required": ["apiVersion", "kind"],
    "properties": {
        "apiVersion": {"const": API_VERSION},
        "kind": {"const": KIND},
        "sourceClientConnection": _CONNECTION,
        "targetClientConnection": _CONNECTION,
        "leaderElection": {**_SECTION, "properties": {"leaderElect": _BOOLEAN}},
        "server": {**_SECTION, "additionalProperties": _ENDPOINT},
        "controllers": {
            "allOf": [
                _SWITCHED,
                _INVALIDATOR,
                _not_beside("managedResource", "managedResources"),
                {"properties": {"networkPolicy": _NETWORK_POLICY}},
            ]
        },
        "webhooks": {**_SWITCHED, **_INVALIDATOR},
    },
}
