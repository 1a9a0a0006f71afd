"""The registration of webhooks: which fields it has, how it is completed, when it is refused.

Conditions in CEL are refused, as nothing evaluates them.

Source: Kubernetes API, MutatingWebhookConfiguration and ValidatingWebhookConfiguration of admissionregistration.k8s.io.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hedgerow.admission.review import VERSIONS
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow_adapters.memory.field_errors import FieldError, duplicate, invalid, missing, one_of, required
from hedgerow_adapters.memory.kinds.fields import LABEL_SELECTOR, label_selector_errors
from hedgerow_adapters.memory.kinds.kind import Kind, filled
from hedgerow_adapters.memory.shapes import (
    Shape,
    anything,
    list_of,
    number,
    optional_text,
    structure,
    text,
    texts,
)
from hedgerow_adapters.registrations import entries_problems

_GROUP: Final = "admissionregistration.k8s.io"
_FEWEST_PARTS: Final = 3
"""Of the name of a webhook."""
_LONGEST_TIMEOUT: Final = 30
_OPERATIONS: Final = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_SCOPES: Final = ("*", "Cluster", "Namespaced")
_CHOICES: Final = {
    "failurePolicy": ("Fail", "Ignore"),
    "matchPolicy": ("Equivalent", "Exact"),
    "reinvocationPolicy": ("IfNeeded", "Never"),
    "sideEffects": ("None", "NoneOnDryRun"),
}

_CLIENT: Final = structure(
    {
        "url": optional_text,
        "caBundle": text,
        "service": structure(
            {**dict.fromkeys(("name", "namespace"), text), "path": optional_text, "port": number},
        ),
    }
)
_RULE: Final = structure(
    {**dict.fromkeys(("operations", "apiGroups", "apiVersions", "resources"), texts), "scope": optional_text}
)
_VALIDATING: Final[Mapping[str, Shape]] = {
    "name": text,
    "clientConfig": _CLIENT,
    "rules": list_of(_RULE),
    **dict.fromkeys(("namespaceSelector", "objectSelector"), LABEL_SELECTOR),
    **dict.fromkeys(("failurePolicy", "matchPolicy", "sideEffects"), optional_text),
    "timeoutSeconds": number,
    "admissionReviewVersions": texts,
    "matchConditions": anything,
}
_MUTATING: Final = {**_VALIDATING, "reinvocationPolicy": optional_text}
_DEFAULTS: Final = {
    "failurePolicy": "Fail",
    "matchPolicy": "Equivalent",
    "timeoutSeconds": 10,
    "namespaceSelector": {},
    "objectSelector": {},
    "rules[]": {"scope": "*"},
    "clientConfig?": {"service?": {"port": 443}},
}


def errors(configuration: Manifest, _old: Manifest | None) -> Iterator[FieldError]:
    """Everything that would keep the server from calling a webhook, or from telling it from others."""
    webhooks = configuration.get("webhooks", [])
    found = [error for index, webhook in enumerate(webhooks) for error in _errors(webhook, f"webhooks[{index}]")]
    names = [webhook.get("name", "") for webhook in webhooks]
    found += [duplicate(f"webhooks[{index}].name", name) for index, name in enumerate(names) if name in names[:index]]
    # What is left is rare, and still must not be stored: nobody could call it.
    rest = () if found else entries_problems(webhooks, "webhooks")
    yield from found
    yield from (FieldError("FieldValueInvalid", each.path, f"Invalid value: {each.text}") for each in rest)


def _errors(webhook: Manifest, path: str) -> Iterator[FieldError]:
    name = webhook.get("name", "")
    if len(name.split(".")) < _FEWEST_PARTS:
        yield invalid(f"{path}.name", name, "should be a domain with at least three segments separated by dots")
    for index, rule in enumerate(webhook.get("rules", ())):
        yield from _rule_errors(rule, f"{path}.rules[{index}]")
    for field, choices in _CHOICES.items():
        yield from one_of(f"{path}.{field}", webhook.get(field, choices[0]), choices)
    if "sideEffects" not in webhook:
        yield required(f"{path}.sideEffects", "must specify one of None, NoneOnDryRun")
    if not 1 <= webhook["timeoutSeconds"] <= _LONGEST_TIMEOUT:
        problem = "the timeout value must be between 1 and 30 seconds"
        yield invalid(f"{path}.timeoutSeconds", webhook["timeoutSeconds"], problem)
    for selector in ("namespaceSelector", "objectSelector"):
        yield from label_selector_errors(webhook[selector], f"{path}.{selector}")
    yield from _client_errors(webhook.get("clientConfig", {}), f"{path}.clientConfig")
    yield from _version_errors(webhook.get("admissionReviewVersions", []), f"{path}.admissionReviewVersions")


def _rule_errors(rule: Manifest, path: str) -> Iterator[FieldError]:
    yield from missing(rule, path, "operations", "apiGroups", "apiVersions", "resources")
    for index, operation in enumerate(rule.get("operations", ())):
        yield from one_of(f"{path}.operations[{index}]", operation, _OPERATIONS)
    yield from one_of(f"{path}.scope", rule["scope"], _SCOPES)
    for field in ("apiVersions", "resources"):
        for index, name in enumerate(rule.get(field, ())):
            if not name:
                yield required(f"{path}.{field}[{index}]")


def _client_errors(client: Manifest, path: str) -> Iterator[FieldError]:
    if ("url" in client) == ("service" in client):
        yield required(path, "exactly one of url or service is required")
    elif "service" in client:
        for field in ("namespace", "name"):
            if field not in client["service"]:
                # The server blames the name either way.
                yield required(f"{path}.service.name", f"service {field} is required")
    elif not client["url"].startswith("https://"):
        scheme = client["url"].partition(":")[0]
        problem = "'https' is the only allowed URL scheme; desired format: https://host[/path]"
        yield invalid(f"{path}.url", scheme, problem)


def _version_errors(versions: Sequence[str], path: str) -> Iterator[FieldError]:
    known = [version.rpartition("/")[2] for version in VERSIONS]
    if not versions:
        yield required(path, f"must specify one of {', '.join(known)}")
    elif not set(versions) & set(known):
        yield invalid(path, versions, f"must include at least one of {', '.join(known)}")


def _differs(_given: Any, new: Manifest, old: Manifest) -> bool:
    """What counts is the webhooks: there is no spec."""
    return bool(new.get("webhooks") != old.get("webhooks"))


def _resource(prefix: str) -> Resource:
    name = f"{prefix}WebhookConfiguration"
    return Resource(_GROUP, "v1", f"{name.lower()}s", name, namespaced=False)


MUTATING_CONFIGURATIONS: Final = Kind(
    _resource("Mutating"),
    fields={"webhooks": list_of(structure(_MUTATING))},
    defaults=filled({"webhooks[]": {**_DEFAULTS, "reinvocationPolicy": "Never"}}),
    rules=errors,
    has_generation=True,
    spec_differs=_differs,
)
VALIDATING_CONFIGURATIONS: Final = Kind(
    _resource("Validating"),
    fields={"webhooks": list_of(structure(_VALIDATING))},
    defaults=filled({"webhooks[]": _DEFAULTS}),
    rules=errors,
    has_generation=True,
    spec_differs=_differs,
)
