"""Webhooks as registration objects register them, with the defaults of admissionregistration.k8s.io/v1.

Source: webhooks-and-tokens §4; Kubernetes API, MutatingWebhookConfiguration and ValidatingWebhookConfiguration.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from hedgerow.admission.registration import API_VERSION, MUTATING, VALIDATING, Rule, Scope
from hedgerow.machinery.objects import Manifest, key_of
from hedgerow.machinery.selectors import LabelSelector, parse_label_selector

_URL: Final = re.compile(
    r"https://(?P<host>\[[0-9a-fA-F:.]+\]|[^\[\]/:?#@]+)(?::(?P<port>[0-9]{1,5}))?(?P<path>/[^?#]*)?"
)
_HTTPS: Final = 443
LARGEST_PORT: Final = 65535


@dataclass(frozen=True, slots=True)
class Client:
    """Where a webhook is reached: always over TLS."""

    host: str
    """Of a Service: `<name>.<namespace>.svc`."""
    path: str
    port: int = _HTTPS
    ca_bundle: str = ""
    """The certificates that the server must be signed by, as the registration object holds them (base64 of PEM)."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One webhook as a registration object registers it."""

    configuration: str
    name: str
    client: Client
    rules: tuple[Rule, ...]
    namespace_selector: LabelSelector = LabelSelector()  # noqa: RUF009 -- immutable
    object_selector: LabelSelector = LabelSelector()  # noqa: RUF009 -- immutable
    matches_equivalents: bool = True
    """matchPolicy `Equivalent`: other versions of a resource in the rules count, and are converted for the call."""
    ignores_failures: bool = False
    """failurePolicy `Ignore`: a webhook that gives no answer is left out."""
    is_repeated: bool = False
    """reinvocationPolicy `IfNeeded`: called again if webhooks after it have changed the object."""
    timeout_seconds: int = 10
    review_versions: tuple[str, ...] = ("v1",)
    """Of AdmissionReview, the preferred one first."""


@dataclass(frozen=True, slots=True)
class Registrations:
    """All webhooks that an API server knows, in the order in which it calls them."""

    mutating_entries: tuple[Entry, ...] = ()
    validating_entries: tuple[Entry, ...] = ()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All of them, mutating ones first."""
        return (*self.mutating_entries, *self.validating_entries)


def parse_registrations(manifests: Iterable[Manifest]) -> Registrations:
    """The webhooks that registration objects of v1 among valid objects of any kind register."""
    found = [manifest for manifest in manifests if manifest.get("apiVersion") == API_VERSION]
    found.sort(key=lambda manifest: key_of(manifest).name)
    mutating, validating = (
        tuple(
            _entry(key_of(manifest).name, webhook)
            for manifest in found
            if manifest["kind"] == kind
            for webhook in manifest.get("webhooks") or ()
        )
        for kind in (MUTATING, VALIDATING)
    )
    return Registrations(mutating, validating)


def url_client(url: str) -> Client | None:
    """The client of an https URL without query, fragment and user; none if it is another text."""
    parts = _URL.fullmatch(url)
    if parts is None or not 1 <= int(parts["port"] or _HTTPS) <= LARGEST_PORT:
        return None
    return Client(parts["host"], parts["path"] or "", int(parts["port"] or _HTTPS))


def _entry(configuration: str, webhook: Manifest) -> Entry:
    return Entry(
        configuration=configuration,
        name=webhook["name"],
        client=_client(webhook["clientConfig"]),
        rules=tuple(_rule(rule) for rule in webhook.get("rules") or ()),
        namespace_selector=parse_label_selector(webhook.get("namespaceSelector") or {}).unwrap(),
        object_selector=parse_label_selector(webhook.get("objectSelector") or {}).unwrap(),
        matches_equivalents=webhook.get("matchPolicy") != "Exact",
        ignores_failures=webhook.get("failurePolicy") == "Ignore",
        is_repeated=webhook.get("reinvocationPolicy") == "IfNeeded",
        timeout_seconds=webhook.get("timeoutSeconds") or 10,
        review_versions=tuple(webhook["admissionReviewVersions"]),
    )


def _client(config: Manifest) -> Client:
    ca_bundle = config.get("caBundle") or ""
    if service := config.get("service"):
        host = f"{service['name']}.{service['namespace']}.svc"
        return Client(host, service.get("path") or "/", service.get("port") or _HTTPS, ca_bundle)
    client = url_client(config["url"])
    assert client  # noqa: S101 -- the registration is valid
    return Client(client.host, client.path or "/", client.port, ca_bundle)


def _rule(rule: Manifest) -> Rule:
    return Rule(
        operations=tuple(rule["operations"]),
        groups=tuple(rule["apiGroups"]),
        versions=tuple(rule["apiVersions"]),
        resources=tuple(rule["resources"]),
        scope=Scope(rule.get("scope") or Scope.ALL),
    )
