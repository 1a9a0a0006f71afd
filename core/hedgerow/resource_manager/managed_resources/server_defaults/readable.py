"""What an API server hands back of an object that it was sent in other words, as far as these alone tell.

Source: Kubernetes API, ConfigMap, Secret, LimitRange and admissionregistration.k8s.io, version 1.36.
"""

import base64
from collections.abc import Callable, Mapping
from typing import Any, Final

from hedgerow.api.references import group_kind_of
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.reading import UnreadableError, object_at, with_each, with_value
from hedgerow.resource_manager.managed_resources.server_defaults.kinds import with_all_amounts

_LINE_BREAKS: Final = str.maketrans("", "", "\r\n")
_CONVERSION: Final = ("spec", "conversion", "webhook", "clientConfig")
_TRUST: Final = "caBundle"


def as_readable(manifest: Manifest) -> Manifest:
    """The object as the server hands it back where it is not as it was sent.

    In maps of texts null is the empty text, a Secret's texts become data, and encoded bytes stand in one line.
    """
    reading = _READINGS.get(group_kind_of(manifest))
    if reading is None:
        return manifest
    try:
        return reading(manifest)
    except UnreadableError:
        return manifest  # which the server refuses


def _readable_config_map(manifest: Manifest) -> Manifest:
    return _with_texts(_with_texts(manifest, "data", str), "binaryData", _in_one_line)


def _readable_secret(manifest: Manifest) -> Manifest:
    readable = _with_texts(manifest, "data", _in_one_line)
    texts = _texts(manifest.get("stringData"), _encoded)
    if not isinstance(texts, (dict, Mapping)):
        return readable
    data = readable.get("data")
    merged = {**data, **texts} if isinstance(data, (dict, Mapping)) else texts
    return {name: value for name, value in {**readable, "data": merged}.items() if name != "stringData"}


def _with_texts(manifest: Manifest, name: str, reading: Callable[[str], str]) -> Manifest:
    return {**manifest, name: _texts(manifest[name], reading)} if name in manifest else manifest


def _texts(texts: Any, reading: Callable[[str], str]) -> Any:
    if not isinstance(texts, (dict, Mapping)):
        return texts
    return {name: reading(text or "") if isinstance(text, str | None) else text for name, text in texts.items()}


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode(errors="surrogatepass")).decode()


def _in_one_line(encoded: str) -> str:
    return encoded.translate(_LINE_BREAKS) if "\n" in encoded or "\r" in encoded else encoded


def _readable_limit_range(manifest: Manifest) -> Manifest:
    return with_each(manifest, ("spec", "limits"), with_all_amounts)


def _trusting(*path: str) -> Callable[[Manifest], Manifest]:
    """The reading of an object that says at a path whom to trust."""

    def reading(manifest: Manifest) -> Manifest:
        trusted = object_at(manifest, *path).get(_TRUST)
        return with_value(manifest, (*path, _TRUST), _in_one_line(trusted)) if isinstance(trusted, str) else manifest

    return reading


def _readable_webhooks(manifest: Manifest) -> Manifest:
    return with_each(manifest, ("webhooks",), _trusting("clientConfig"))


_READINGS: Final[Mapping[tuple[str, str], Callable[[Manifest], Manifest]]] = {
    ("", "ConfigMap"): _readable_config_map,
    ("", "LimitRange"): _readable_limit_range,
    ("", "Secret"): _readable_secret,
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): _readable_webhooks,
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): _readable_webhooks,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _trusting(*_CONVERSION),
    ("apiregistration.k8s.io", "APIService"): _trusting("spec"),
}
