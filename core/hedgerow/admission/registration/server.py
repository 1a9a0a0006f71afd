"""What the webhook server is called, and how API servers find it.

Source: webhooks-and-tokens §3.1, §4.
"""

from base64 import b64encode
from dataclasses import dataclass
from typing import Any, Final

from hedgerow.admission.registration.mode import Mode

_SERVER: Final = "gardener-resource-manager"
_SERVICE_PORT: Final = 443


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
