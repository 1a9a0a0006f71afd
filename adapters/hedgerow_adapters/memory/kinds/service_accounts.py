"""ServiceAccounts, and what asks for a token of one.

Source: Kubernetes documentation, "Managing Service Accounts"; TokenRequest of authentication.k8s.io/v1.
"""

from collections.abc import Iterator
from typing import Final

from hedgerow.api import kubernetes
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow_adapters.memory.field_errors import FieldError, invalid
from hedgerow_adapters.memory.kinds.kind import Fields, Kind
from hedgerow_adapters.memory.shapes import anything, flag, optional_text, structure, texts, whole_number

_SHORTEST: Final = 10 * 60
_LONGEST: Final = 1 << 32
_HOUR: Final = 60 * 60
_SERVER_ITSELF: Final = "https://kubernetes.default.svc"


def complete(request: Fields, _old: Manifest | None) -> None:
    """A token is good for an hour, and for the API server, unless something else is asked for."""
    spec = request.setdefault("spec", {})
    spec.setdefault("audiences", [_SERVER_ITSELF])
    spec.setdefault("expirationSeconds", _HOUR)
    spec.setdefault("boundObjectRef", None)


def errors(request: Manifest, _old: Manifest | None) -> Iterator[FieldError]:
    """Tokens are good for ten minutes at least."""
    seconds = request["spec"]["expirationSeconds"]
    if seconds < _SHORTEST:
        yield invalid("spec.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
    if seconds > _LONGEST:
        yield invalid("spec.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds")


SERVICE_ACCOUNTS: Final = Kind(
    kubernetes.SERVICE_ACCOUNTS,
    fields={"secrets": anything, "imagePullSecrets": anything, "automountServiceAccountToken": flag},
    answers_deleted_object=True,
)
TOKEN_REQUESTS: Final = Kind(
    Resource("authentication.k8s.io", "v1", "tokenrequests", "TokenRequest"),
    fields={
        "spec": structure({"audiences": texts, "expirationSeconds": whole_number, "boundObjectRef": anything}),
        "status": structure({"token": optional_text, "expirationTimestamp": optional_text}),
    },
    defaults=complete,
    rules=errors,
)
