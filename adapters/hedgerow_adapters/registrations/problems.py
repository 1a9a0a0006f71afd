"""What is wrong with the webhooks of a registration object, as the API server would say when it is stored.

Checks what `parsing` reads, and nothing else.

Source: Kubernetes API, MutatingWebhook, ValidatingWebhook and RuleWithOperations of admissionregistration.k8s.io/v1.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from hedgerow.admission.registration import ANY, Scope
from hedgerow.admission.request import CONNECT, CREATE, DELETE, UPDATE
from hedgerow.machinery.failures import Problem
from hedgerow.machinery.selectors import parse_label_selector

URL: Final = re.compile(
    r"https://(?P<host>\[[0-9a-fA-F:.]+\]|[^\[\]/:?#@]+)(?::(?P<port>[0-9]{1,5}))?(?P<path>/[^?#]*)?"
)
_CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "failurePolicy": ("Fail", "Ignore"),
    "matchPolicy": ("Equivalent", "Exact"),
    "reinvocationPolicy": ("Never", "IfNeeded"),
}
_SIDE_EFFECTS: Final = ("None", "NoneOnDryRun")
_OPERATIONS: Final = (CREATE, UPDATE, DELETE, CONNECT, ANY)
_LONGEST_TIMEOUT: Final = 30
_LARGEST_PORT: Final = 65535


def entries_problems(webhooks: Any, field: str) -> Iterator[Problem]:
    """What is wrong with the webhooks of one registration object; absent ones are none."""
    if webhooks is None:
        return
    if not isinstance(webhooks, list):
        yield Problem(field, "must be a list")
        return
    for index, webhook in enumerate(webhooks):
        if isinstance(webhook, Mapping):
            yield from _entry_problems(webhook, f"{field}[{index}].")
        else:
            yield Problem(f"{field}[{index}]", "must be an object")


def _entry_problems(webhook: Mapping[str, Any], inside: str) -> Iterator[Problem]:
    yield from _text_problems(webhook, "name", inside)
    yield from _client_problems(webhook.get("clientConfig"), f"{inside}clientConfig")
    yield from _rules_problems(webhook.get("rules"), f"{inside}rules")
    for name in ("namespaceSelector", "objectSelector"):
        if webhook.get(name) is not None:
            yield from parse_label_selector(webhook[name], f"{inside}{name}").swap().value_or(())
    for name, choices in _CHOICES.items():
        if webhook.get(name) is not None:
            yield from _choice_problems(webhook[name], choices, f"{inside}{name}")
    yield from _choice_problems(webhook.get("sideEffects"), _SIDE_EFFECTS, f"{inside}sideEffects")
    if webhook.get("timeoutSeconds") is not None:
        yield from _number_problems(webhook["timeoutSeconds"], _LONGEST_TIMEOUT, f"{inside}timeoutSeconds")
    yield from _texts_problems(webhook, "admissionReviewVersions", inside)
    if webhook.get("matchConditions"):
        yield Problem(f"{inside}matchConditions", "cannot be evaluated")


def _client_problems(client: Any, field: str) -> Iterator[Problem]:
    if not isinstance(client, Mapping):
        yield Problem(field, "must be an object")
        return
    url, service = client.get("url"), client.get("service")
    if (url is None) is (service is None):
        yield Problem(field, "must have either url or service")
    if url is not None and not (isinstance(url, str) and _is_url(url)):
        yield Problem(f"{field}.url", "must be an https URL without query, fragment or user")
    if service is not None:
        yield from _service_problems(service, f"{field}.service")
    if not isinstance(client.get("caBundle") or "", str):
        yield Problem(f"{field}.caBundle", "must be a string")


def is_base_url(text: str) -> bool:
    """Whether a text says where a server is reached, and nothing beyond: `https://HOST` or `https://HOST:PORT`."""
    parts = URL.fullmatch(text)
    return parts is not None and parts["path"] is None and _is_url(text)


def _is_url(text: str) -> bool:
    parts = URL.fullmatch(text)
    return parts is not None and 1 <= int(parts["port"] or 1) <= _LARGEST_PORT


def _service_problems(service: Any, field: str) -> Iterator[Problem]:
    if not isinstance(service, Mapping):
        yield Problem(field, "must be an object")
        return
    yield from _text_problems(service, "name", f"{field}.")
    yield from _text_problems(service, "namespace", f"{field}.")
    path = service.get("path") or "/"
    if not (isinstance(path, str) and path.startswith("/")):
        yield Problem(f"{field}.path", "must start with a slash")
    if service.get("port") is not None:
        yield from _number_problems(service["port"], _LARGEST_PORT, f"{field}.port")


def _rules_problems(rules: Any, field: str) -> Iterator[Problem]:
    if rules is None:
        return
    if not isinstance(rules, list):
        yield Problem(field, "must be a list")
        return
    for index, rule in enumerate(rules):
        if not isinstance(rule, Mapping):
            yield Problem(f"{field}[{index}]", "must be an object")
            continue
        inside = f"{field}[{index}]."
        for name in ("apiGroups", "apiVersions", "resources"):
            yield from _texts_problems(rule, name, inside)
        yield from _operations_problems(rule, inside)
        if rule.get("scope") is not None:
            yield from _choice_problems(rule["scope"], tuple(Scope), f"{inside}scope")


def _operations_problems(rule: Mapping[str, Any], inside: str) -> Iterator[Problem]:
    if problems := tuple(_texts_problems(rule, "operations", inside)):
        yield from problems
        return
    for index, operation in enumerate(rule["operations"]):
        yield from _choice_problems(operation, _OPERATIONS, f"{inside}operations[{index}]")


def _text_problems(container: Mapping[str, Any], name: str, inside: str) -> Iterator[Problem]:
    value = container.get(name)
    if not (isinstance(value, str) and value):
        yield Problem(f"{inside}{name}", "must be a non-empty string")


def _texts_problems(container: Mapping[str, Any], name: str, inside: str) -> Iterator[Problem]:
    values = container.get(name)
    if not (isinstance(values, list) and values and all(isinstance(value, str) for value in values)):
        yield Problem(f"{inside}{name}", "must be a non-empty list of strings")


def _choice_problems(value: Any, choices: tuple[str, ...], field: str) -> Iterator[Problem]:
    if not (isinstance(value, str) and value in choices):
        *others, last = choices
        yield Problem(field, f"must be {', '.join(others)} or {last}")


def _number_problems(value: Any, largest: int, field: str) -> Iterator[Problem]:
    if not (isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= largest):
        yield Problem(field, f"must be an integer from 1 to {largest}")
