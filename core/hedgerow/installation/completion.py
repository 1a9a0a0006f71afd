"""What a component configuration gets that leaves it out, as the chart completes it as well.

Source: managed-resources §4.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from hedgerow.installation.installation import Installation
from hedgerow.installation.values import WebhookValues
from hedgerow.machinery.configuration.process import Provision

NAMESPACE: Final = "$(namespace)"
NAME: Final = "$(name)"
"""Stand for the namespace of the process and the name of its objects in what completes a configuration."""
REGISTRATIONS: Final = "webhooks.yaml"
"""The file beside the component configuration out of which a process registers its webhooks itself."""


def folder(process: str) -> str:
    """Where a process has its configuration and its certificate."""
    return f"/etc/{process}"


def mounted_registrations(process: str) -> str:
    """Where a process finds the registrations of its webhooks."""
    return f"{folder(process)}/config/{REGISTRATIONS}"


def completion(declared: type[Installation[Any, Any]], namespace: str, name: str) -> dict[str, Any]:
    """What a component configuration gets that leaves it out, for objects of a name in a namespace."""
    general: dict[str, Any] = {"leaderElection": {"resourceNamespace": NAMESPACE}}
    if issubclass(declared.values_type, WebhookValues):
        own = {
            "secretName": f"{NAME}-webhook-certificates",
            "secretNamespace": NAMESPACE,
            "registrations": mounted_registrations(declared.process),
        }
        tls = {"provision": Provision.SELF.value, "serverCertDir": f"{folder(declared.process)}/certificates"}
        general["server"] = {"webhooks": {"tls": {**tls, "self": own}}}
    return _placed(filled(declared.completion, general), namespace, name)


def _placed(document: Mapping[str, Any], namespace: str, name: str) -> dict[str, Any]:
    return {
        field: _placed(value, namespace, name)
        if isinstance(value, Mapping)
        else value.replace(NAMESPACE, namespace).replace(NAME, name)
        for field, value in document.items()
    }


def filled(document: Any, defaults: Mapping[str, Any]) -> dict[str, Any]:
    """A document with defaults for what it leaves out or leaves empty, the same as the chart's."""
    result = dict(document) if isinstance(document, Mapping) else {}
    for name, default in defaults.items():
        stated = result.get(name)
        result[name] = filled(stated, default) if isinstance(default, Mapping) else stated or default
    return result


def fingerprint(document: Mapping[str, Any]) -> str:
    """A checksum of a component configuration, the same as the chart's."""
    text = json.dumps(_as_go_writes(document), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _as_go_writes(value: Any) -> Any:
    """Whole numbers without a decimal point."""
    if isinstance(value, Mapping):
        return {name: _as_go_writes(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_as_go_writes(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
