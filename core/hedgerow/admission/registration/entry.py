"""One webhook as it is registered, and how registration objects spell that.

Source: webhooks-and-tokens §4, common to all entries.
"""

from dataclasses import dataclass
from typing import Any, Final

from hedgerow.admission.registration.mode import Mode
from hedgerow.admission.registration.registered import Rule
from hedgerow.admission.registration.server import Server
from hedgerow.machinery.selectors import LabelSelector

FAIL: Final = "Fail"
IGNORE: Final = "Ignore"
EXACT: Final = "Exact"
EQUIVALENT: Final = "Equivalent"
NEVER: Final = "Never"
DOMAIN: Final = "resources.gardener.cloud"
EVERYTHING: Final = LabelSelector()
_REVIEW_VERSIONS: Final = ("v1beta1", "v1")


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
