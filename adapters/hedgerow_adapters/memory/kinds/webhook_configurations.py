"""The registration of webhooks: which fields it has, how it is completed, when it is refused.

Conditions in CEL are refused, as nothing evaluates them.

Source: Kubernetes API, MutatingWebhookConfiguration and ValidatingWebhookConfiguration of admissionregistration.k8s.io.
"""

from collections.abc import Iterator
from typing import Any, Final

from hedgerow.admission.registration import GROUP
from hedgerow.admission.review import VERSIONS
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow_adapters.memory.field_errors import FieldError, duplicate, invalid, required
from hedgerow_adapters.memory.field_rules import checked, needed, one_of, port_problem
from hedgerow_adapters.memory.kinds.fields import LABEL_SELECTOR, label_selector_errors
from hedgerow_adapters.memory.kinds.kind import Kind
from hedgerow_adapters.memory.shapes import anything, number, optional_text, text, texts
from hedgerow_adapters.registrations.registered import url_client

_FEWEST_PARTS: Final = 3
"""Of the name of a webhook."""
_LONGEST_TIMEOUT: Final = 30
_KNOWN_VERSIONS: Final = [version.rpartition("/")[2] for version in VERSIONS]
_SERVICE: Final = {**dict.fromkeys(("name", "namespace"), text), "path": optional_text, "port": number}
_RULE: Final = {
    **dict.fromkeys(("operations", "apiGroups", "apiVersions", "resources"), texts),
    "scope": optional_text,
}
_VALIDATING: Final = {
    "name": text,
    "clientConfig": {"url": optional_text, "caBundle": text, "service": _SERVICE},
    "rules": [_RULE],
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
    "clientConfig": {"service?": {"port": 443}},
}


def _name_errors(name: Any, path: str) -> Iterator[FieldError]:
    if len((name or "").split(".")) < _FEWEST_PARTS:
        yield invalid(path, name or "", "should be a domain with at least three segments separated by dots")


def _side_effects_errors(side_effects: Any, path: str) -> Iterator[FieldError]:
    if side_effects is None:
        yield required(path, "must specify one of None, NoneOnDryRun")
    yield from one_of("None", "NoneOnDryRun")(side_effects, path)


def _timeout_problem(seconds: int) -> str | None:
    return None if 1 <= seconds <= _LONGEST_TIMEOUT else "the timeout value must be between 1 and 30 seconds"


def _client_errors(client: Manifest, path: str) -> Iterator[FieldError]:
    if ("url" in client) == ("service" in client):
        yield required(path, "exactly one of url or service is required")
    elif "service" in client:
        yield from _service_errors(client["service"], f"{path}.service")
    elif not client["url"].startswith("https://"):
        problem = "'https' is the only allowed URL scheme; desired format: https://host[/path]"
        yield invalid(f"{path}.url", client["url"].partition(":")[0], problem)
    elif url_client(client["url"]) is None:
        yield invalid(f"{path}.url", client["url"], "must be an https URL without query, fragment or user")


def _service_errors(service: Manifest, path: str) -> Iterator[FieldError]:
    for field in ("namespace", "name"):
        if field not in service:
            # The server blames the name either way.
            yield required(f"{path}.name", f"service {field} is required")
    if not (service.get("path") or "/").startswith("/"):
        yield invalid(f"{path}.path", service["path"], "must start with a '/'")
    yield from checked(port_problem)(service["port"], f"{path}.port")


def _version_errors(versions: Any, path: str) -> Iterator[FieldError]:
    if not versions:
        yield required(path, f"must specify one of {', '.join(_KNOWN_VERSIONS)}")
    elif not set(versions) & set(_KNOWN_VERSIONS):
        yield invalid(path, versions, f"must include at least one of {', '.join(_KNOWN_VERSIONS)}")


def _condition_errors(conditions: Any, path: str) -> Iterator[FieldError]:
    if conditions:
        yield invalid(path, conditions, "cannot be evaluated")


_WEBHOOK_RULES: Final = {
    "name": _name_errors,
    **{f"rules[].{name}": needed for name in ("operations", "apiGroups", "apiVersions", "resources")},
    "rules[].operations[]": one_of("*", "CONNECT", "CREATE", "DELETE", "UPDATE"),
    "rules[].scope": one_of("*", "Cluster", "Namespaced"),
    "rules[].apiVersions[]": needed,
    "rules[].resources[]": needed,
    "failurePolicy": one_of("Fail", "Ignore"),
    "matchPolicy": one_of("Equivalent", "Exact"),
    "reinvocationPolicy": one_of("IfNeeded", "Never"),
    "sideEffects": _side_effects_errors,
    "timeoutSeconds": checked(_timeout_problem),
    "namespaceSelector": label_selector_errors,
    "objectSelector": label_selector_errors,
    "clientConfig": _client_errors,
    "admissionReviewVersions": _version_errors,
    "matchConditions": _condition_errors,
}


def _name_twice_errors(configuration: Manifest, _old: Manifest | None) -> Iterator[FieldError]:
    webhooks = configuration.get("webhooks", [])
    names = [webhook.get("name", "") for webhook in webhooks]
    yield from (duplicate(f"webhooks[{i}].name", name) for i, name in enumerate(names) if name in names[:i])


def _configurations(prefix: str, webhook: dict[str, Any], **defaults: str) -> Kind:
    name = f"{prefix}WebhookConfiguration"
    return Kind(
        Resource(GROUP, "v1", f"{name.lower()}s", name, namespaced=False),
        fields={"webhooks": [webhook]},
        defaults={"webhooks[]": {**_DEFAULTS, **defaults}},
        field_rules={f"webhooks[].{name}": rule for name, rule in _WEBHOOK_RULES.items()},
        rules=_name_twice_errors,
        has_generation=True,
        spec_differs=lambda _given, new, old: bool(new.get("webhooks") != old.get("webhooks")),
    )


MUTATING_CONFIGURATIONS: Final = _configurations("Mutating", _MUTATING, reinvocationPolicy="Never")
VALIDATING_CONFIGURATIONS: Final = _configurations("Validating", _VALIDATING)
KINDS: Final = (MUTATING_CONFIGURATIONS, VALIDATING_CONFIGURATIONS)
