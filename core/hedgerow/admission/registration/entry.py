"""One webhook as it is registered: in which cluster, where the server is, and how registration objects spell that.

Source: webhooks-and-tokens §3.1; §4, modes and what is common to all entries.
"""

from base64 import b64encode
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from hedgerow.admission.registration.registered import Rule
from hedgerow.api.kubernetes import METADATA_NAME
from hedgerow.machinery.selectors import LabelSelector, Operator, Requirement

PURPOSE: Final = "gardener.cloud/purpose"
SYSTEM_PURPOSES: Final = ("kube-system", "kubernetes-dashboard")
MANAGED_BY: Final = "resources.gardener.cloud/managed-by"
KUBE_SYSTEM: Final = "kube-system"
_SERVER: Final = "gardener-resource-manager"
_SERVICE_PORT: Final = 443
FAIL: Final = "Fail"
IGNORE: Final = "Ignore"
EXACT: Final = "Exact"
EQUIVALENT: Final = "Equivalent"
NEVER: Final = "Never"
DOMAIN: Final = "resources.gardener.cloud"
EVERYTHING: Final = LabelSelector()
_REVIEW_VERSIONS: Final = ("v1beta1", "v1")


class Mode(StrEnum):
    """Which cluster sends its requests."""

    RUNTIME = "runtime"
    """The one that the resource manager runs in: a seed, or the runtime cluster of a garden."""
    STANDALONE = "standalone"
    """The cluster that the resource manager runs in, without Gardener: its namespaces carry no purpose labels."""
    TARGET = "target"
    """Another one, of which only what Gardener manages is anybody's business."""

    @property
    def namespaces(self) -> LabelSelector:
        """The namespaces whose objects count: all but the system's here, the system's alone there."""
        operator = Operator.IN if self is Mode.TARGET else Operator.NOT_IN
        return LabelSelector(match_expressions=(Requirement(PURPOSE, operator, SYSTEM_PURPOSES),))

    def namespaces_of_pods(self, home: str) -> LabelSelector:
        """The namespaces whose pods need an answer to start.

        The cluster of the process must be able to start without it: its network and DNS are in kube-system, and outside
        Gardener the process depends on what is beside it. In Gardener, webhooks serve the namespace `garden` too.

        Args:
            home: the namespace of the process.
        """
        if self is Mode.TARGET:
            return self.namespaces
        names = (KUBE_SYSTEM,) if self is Mode.RUNTIME else (KUBE_SYSTEM, home)
        left_out = Requirement(METADATA_NAME, Operator.NOT_IN, names)
        return LabelSelector(match_expressions=(*self.namespaces.match_expressions, left_out))

    def objects(self, *requirements: Requirement) -> LabelSelector:
        """The objects that count and meet requirements."""
        managed = ((MANAGED_BY, "gardener"),) if self is Mode.TARGET else ()
        return LabelSelector(managed, requirements)


def service_name(name_prefix: str) -> str:
    """The name of the server's Service, which is also the `app` label of its pods."""
    return f"{name_prefix}{_SERVER}"


@dataclass(frozen=True, slots=True)
class Server:
    """The webhook server as API servers see it."""

    name: str
    """Of its Service, and the `app` label of its pods."""
    namespace: str
    ca_bundle: bytes = b""
    """PEM of the authorities that may have signed its certificate; empty: those that API servers trust anyway."""
    url: str = ""
    """Where it is reached instead: `https://HOST:PORT`; empty: by its Service."""

    def client_config(self, mode: Mode, path: str) -> dict[str, Any]:
        """Where one webhook is reached: at the URL that is given, else by its Service, or by the URL of that."""
        config: dict[str, Any]
        if self.url:
            config = {"url": f"{self.url}{path}"}
        elif mode is Mode.TARGET:
            config = {"url": f"https://{self.name}.{self.namespace}:{_SERVICE_PORT}{path}"}
        else:
            config = {"service": {"name": self.name, "namespace": self.namespace, "path": path}}
        if self.ca_bundle:
            config["caBundle"] = b64encode(self.ca_bundle).decode("ascii")
        return config


@dataclass(frozen=True, slots=True)
class RegisteredWebhook:
    """Which requests a webhook is called for, and what happens if it cannot be."""

    name: str
    """Without the domain that all of them share."""
    path: str
    rules: tuple[Rule, ...]
    namespaces: LabelSelector
    objects: LabelSelector | None = None
    """None: not said, which is everything."""
    failure_policy: str = FAIL
    match_policy: str = EXACT
    timeout_seconds: int = 10
    reinvocation_policy: str | None = None
    """None: not said."""

    def manifest(self, mode: Mode, server: Server) -> dict[str, Any]:
        """The entry of a registration object."""
        return {
            "name": f"{self.name}.{DOMAIN}",
            "clientConfig": server.client_config(mode, self.path),
            "rules": [_rule(rule) for rule in self.rules],
            "namespaceSelector": self.namespaces.manifest(),
            **({} if self.objects is None else {"objectSelector": self.objects.manifest()}),
            "failurePolicy": self.failure_policy,
            "matchPolicy": self.match_policy,
            "sideEffects": "None",
            "timeoutSeconds": self.timeout_seconds,
            **({} if self.reinvocation_policy is None else {"reinvocationPolicy": self.reinvocation_policy}),
            "admissionReviewVersions": list(_REVIEW_VERSIONS),
        }


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "apiGroups": list(rule.groups),
        "apiVersions": list(rule.versions),
        "resources": list(rule.resources),
        "operations": list(rule.operations),
    }
