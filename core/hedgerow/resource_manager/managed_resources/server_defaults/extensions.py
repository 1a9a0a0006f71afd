"""How an API server stores what extends it: webhooks, admission policies, definitions and further servers.

Source: Kubernetes API, groups admissionregistration.k8s.io, apiextensions.k8s.io and apiregistration.k8s.io,
version 1.36.
"""

from typing import Final

from hedgerow.resource_manager.managed_resources.server_defaults.rules import Stored

_CLIENT_CONFIG: Final = Stored(omitted=frozenset({"caBundle"}), members={"service": Stored({"port": 443})})

_WEBHOOK: Final = Stored(
    {
        "failurePolicy": "Fail",
        "matchPolicy": "Equivalent",
        "namespaceSelector": {},
        "objectSelector": {},
        "timeoutSeconds": 10,
    },
    members={"clientConfig": _CLIENT_CONFIG, "rules": Stored({"scope": "*"})},
)

VALIDATING_WEBHOOKS: Final = Stored(members={"webhooks": _WEBHOOK})

MUTATING_WEBHOOKS: Final = Stored(
    members={"webhooks": Stored({**_WEBHOOK.defaults, "reinvocationPolicy": "Never"}, members=_WEBHOOK.members)}
)

_NESTED_SCHEMAS: Final[dict[str, Stored]] = {}
_SCHEMA: Final = Stored(
    omitted=frozenset(
        {
            "allOf",
            "anyOf",
            "definitions",
            "dependencies",
            "description",
            "enum",
            "exclusiveMaximum",
            "exclusiveMinimum",
            "format",
            "id",
            "nullable",
            "oneOf",
            "pattern",
            "patternProperties",
            "properties",
            "required",
            "title",
            "type",
            "uniqueItems",
            "x-kubernetes-embedded-resource",
            "x-kubernetes-int-or-string",
            "x-kubernetes-list-map-keys",
            "x-kubernetes-validations",
        }
    ),
    members=_NESTED_SCHEMAS,
    verbatim=True,
)
_SCHEMAS_BY_NAME: Final = Stored(others=_SCHEMA, verbatim=True)
_NESTED_SCHEMAS.update(  # schemas consist of schemas
    dict.fromkeys(("additionalItems", "additionalProperties", "allOf", "anyOf", "items", "not", "oneOf"), _SCHEMA),
    **dict.fromkeys(("definitions", "patternProperties", "properties"), _SCHEMAS_BY_NAME),
)

CUSTOM_RESOURCE_DEFINITION: Final = Stored(
    members={
        "spec": Stored(
            {"conversion": {"strategy": "None"}},
            omitted=frozenset({"preserveUnknownFields"}),
            members={
                "conversion": Stored(members={"webhook": Stored(members={"clientConfig": _CLIENT_CONFIG})}),
                "names": Stored(
                    {
                        "listKind": lambda names: f"{names.get('kind')}List",
                        "singular": lambda names: str(names.get("kind")).lower(),
                    },
                    omitted=frozenset({"listKind", "singular"}),
                ),
                "versions": Stored(
                    omitted=frozenset({"additionalPrinterColumns", "deprecated", "selectableFields"}),
                    members={
                        "additionalPrinterColumns": Stored(omitted=frozenset({"description", "format", "priority"})),
                        "schema": Stored(members={"openAPIV3Schema": _SCHEMA}),
                        "subresources": Stored(verbatim=True),
                    },
                    verbatim=True,
                ),
            },
        )
    }
)

API_SERVICE: Final = Stored(
    members={
        "spec": Stored(
            omitted=frozenset({"caBundle", "insecureSkipTLSVerify"}), members={"service": Stored({"port": 443})}
        )
    }
)

_ANY_SCOPE: Final = Stored({"scope": "*"})
_MATCHING: Final = Stored(
    {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}},
    members={"excludeResourceRules": _ANY_SCOPE, "resourceRules": _ANY_SCOPE},
)

ADMISSION_POLICY: Final = Stored(
    members={"spec": Stored({"failurePolicy": "Fail"}, members={"matchConstraints": _MATCHING})}
)

ADMISSION_POLICY_BINDING: Final = Stored(members={"spec": Stored(members={"matchResources": _MATCHING})})
