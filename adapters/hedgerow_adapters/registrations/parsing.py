"""Which webhooks registration objects register, or everything that keeps an API server from calling them.

Fills in the defaults of admissionregistration.k8s.io/v1. Conditions in CEL are refused, because nothing here evaluates
them. Entries are read only if `problems` finds nothing wrong with them.

Source: webhooks-and-tokens §4; Kubernetes API, MutatingWebhookConfiguration and ValidatingWebhookConfiguration.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from returns.result import Failure, Result, Success

from hedgerow.admission.registration import API_VERSION, MUTATING, VALIDATING, Rule, Scope
from hedgerow.machinery.failures import Problem
from hedgerow.machinery.objects import Manifest, key_of
from hedgerow.machinery.selectors import LabelSelector, parse_label_selector
from hedgerow_adapters.registrations.problems import URL, entries_problems
from hedgerow_adapters.registrations.registered import Client, Entry, Registrations

_HTTPS: Final = 443
_TIMEOUT_SECONDS: Final = 10


@dataclass(frozen=True, slots=True)
class RegistrationProblem:
    """What is wrong with one field of a registration object."""

    kind: str
    name: str
    problem: Problem

    def __str__(self) -> str:
        """Object, field and problem."""
        return f"{self.kind} {self.name}".rstrip() + f": {self.problem}"


def parse_registrations(manifests: Iterable[Manifest]) -> Result[Registrations, tuple[RegistrationProblem, ...]]:
    """The webhooks that the registration objects among some objects register, or all problems with them.

    Args:
        manifests: objects of any kind; only registration objects of v1 count. Their order does not matter.
    """
    found = [manifest for manifest in manifests if _is_registration(manifest)]
    if nameless := tuple(problem for manifest in found for problem in _metadata_problems(manifest)):
        return Failure(nameless)
    registrations = sorted(found, key=lambda manifest: key_of(manifest).name)
    if problems := tuple(problem for manifest in registrations for problem in _problems(manifest)):
        return Failure(problems)
    return Success(Registrations(_entries(registrations, MUTATING), _entries(registrations, VALIDATING)))


def _is_registration(manifest: Manifest) -> bool:
    """True if an object registers webhooks."""
    return manifest.get("apiVersion") == API_VERSION and manifest.get("kind") in (MUTATING, VALIDATING)


def _metadata_problems(manifest: Manifest) -> Iterator[RegistrationProblem]:
    """What keeps an object from having a name, or none."""
    metadata = manifest.get("metadata")
    if not (metadata is None or isinstance(metadata, Mapping)):
        yield RegistrationProblem(manifest["kind"], "", Problem("metadata", "must be an object"))
    elif not isinstance(key_of(manifest).name, str):
        yield RegistrationProblem(manifest["kind"], "", Problem("metadata.name", "must be a string"))


def _problems(manifest: Manifest) -> Iterator[RegistrationProblem]:
    for problem in entries_problems(manifest.get("webhooks"), "webhooks"):
        yield RegistrationProblem(manifest["kind"], key_of(manifest).name, problem)


def _entries(registrations: Iterable[Manifest], kind: str) -> tuple[Entry, ...]:
    return tuple(
        _entry(key_of(manifest).name, webhook)
        for manifest in registrations
        if manifest["kind"] == kind
        for webhook in manifest.get("webhooks") or ()
    )


def _entry(configuration: str, webhook: Manifest) -> Entry:
    return Entry(
        configuration=configuration,
        name=webhook["name"],
        client=_client(webhook["clientConfig"]),
        rules=tuple(_rule(rule) for rule in webhook.get("rules") or ()),
        namespace_selector=_selector(webhook.get("namespaceSelector")),
        object_selector=_selector(webhook.get("objectSelector")),
        matches_equivalents=webhook.get("matchPolicy") != "Exact",
        ignores_failures=webhook.get("failurePolicy") == "Ignore",
        is_repeated=webhook.get("reinvocationPolicy") == "IfNeeded",
        timeout_seconds=webhook.get("timeoutSeconds") or _TIMEOUT_SECONDS,
        review_versions=tuple(webhook["admissionReviewVersions"]),
    )


def _client(client: Manifest) -> Client:
    ca_bundle = client.get("caBundle") or ""
    if service := client.get("service"):
        return Client(
            host=f"{service['name']}.{service['namespace']}.svc",
            path=service.get("path") or "/",
            port=service.get("port") or _HTTPS,
            ca_bundle=ca_bundle,
        )
    parts = URL.fullmatch(client["url"])
    assert parts  # noqa: S101 -- it has been checked
    return Client(parts["host"], parts["path"] or "/", int(parts["port"] or _HTTPS), ca_bundle)


def _rule(rule: Manifest) -> Rule:
    return Rule(
        operations=tuple(rule["operations"]),
        groups=tuple(rule["apiGroups"]),
        versions=tuple(rule["apiVersions"]),
        resources=tuple(rule["resources"]),
        scope=Scope(rule.get("scope") or Scope.ALL),
    )


def _selector(value: Mapping[str, Any] | None) -> LabelSelector:
    return parse_label_selector(value or {}).unwrap()
