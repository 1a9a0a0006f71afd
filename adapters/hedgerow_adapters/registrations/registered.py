"""Webhooks as registration objects register them.

Source: webhooks-and-tokens §4.3; Kubernetes API, admissionregistration.k8s.io/v1.
"""

from dataclasses import dataclass

from hedgerow.admission.registration import Rule
from hedgerow.machinery.selectors import LabelSelector


@dataclass(frozen=True, slots=True)
class Client:
    """Where a webhook is reached: always over TLS."""

    host: str
    """Of a Service: `<name>.<namespace>.svc`."""
    path: str
    port: int = 443
    ca_bundle: str = ""
    """The certificates that the server must be signed by, as the registration object holds them (base64 of PEM)."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One webhook as a registration object registers it, defaults filled in."""

    configuration: str
    """Name of the registration object."""
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
