"""Processes that make their own certificates, and the API server that asks them."""

import contextlib
import http.client
import time
from base64 import b64decode
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from cryptography import x509

from hedgerow.admission.provisioning import MARK, provisioning_permissions
from hedgerow.admission.registration import Mode, build_webhook_configurations
from hedgerow.installation.permissions import Holder, roles
from hedgerow.machinery.documents.yaml_texts import sorted_yaml
from hedgerow.machinery.objects import ObjectKey
from tests.control_plane import PATIENCE, wait_until
from tests.e2e.admission import OF_WORKLOADS, deployment
from tests.e2e.permissions import ACCOUNT, ROLES
from tests.e2e.resource_manager import ResourceManager
from tests.e2e.sandbox import LABEL, Manifest, Sandbox

CONFIGURATIONS: Final = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
WEBHOOKS: Final = {"highAvailabilityConfig": {"enabled": True}}
SECRET: Final = "webhook-certificates"  # noqa: S105 -- a name
EMPTY_SECRET: Final = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET}, "type": "Opaque"}


class Installed:
    """What an installation puts beside a process: its rights, and a registration object without webhooks."""

    def __init__(self, sandbox: Sandbox, port: int, ca_bundle: bytes = b"") -> None:
        """Webhooks that are reached at a port of this machine."""
        self.sandbox = sandbox
        self.port: Final = port
        self.name: Final = sandbox.prefix
        (registration,) = build_webhook_configurations(
            Mode.STANDALONE, "", sandbox.home, ca_bundle, OF_WORKLOADS, url=f"https://127.0.0.1:{port}"
        )
        selector = {"matchLabels": {LABEL: sandbox.prefix}}
        webhooks = [{**webhook, "namespaceSelector": selector} for webhook in registration["webhooks"]]
        self.registration: Final[Manifest] = {**registration, "metadata": {"name": self.name}, "webhooks": webhooks}
        self.file: Final[Path] = sandbox.folder / f"{self.name}-registrations.yaml"
        self.file.write_text(sorted_yaml(self.registration), encoding="utf-8")
        key = ObjectKey(sandbox.home, SECRET)
        subject = {"kind": "ServiceAccount", "name": ACCOUNT, "namespace": sandbox.home}
        holder = Holder(f"certificates:{sandbox.home}", subject, {})
        self._roles = tuple(roles(holder, provisioning_permissions(key, [self.registration])))

    def tls(self, **own: Any) -> Mapping[str, Any]:
        """What the configuration of a process says."""
        told = {"secretName": SECRET, "secretNamespace": self.sandbox.home, "registrations": str(self.file)}
        return {"provision": "self", "self": {**told, **own}}

    def process(
        self, name: str = "resource-manager", *, webhook_port: int | None = None, writes: bool = True, **own: Any
    ) -> ResourceManager:
        """A process that has not been started; unless a port is given, it is the one that the API server asks."""
        config = self.sandbox.configuration(webhooks=WEBHOOKS)
        port, folder = webhook_port or self.port, self.sandbox.folder
        return ResourceManager(folder, config, name=name, writes=writes, tls=self.tls(**own), webhook_port=port)

    @property
    def unfilled(self) -> Manifest:
        """The registration object as an installation has it."""
        return {**self.registration, "metadata": {"name": self.name, "annotations": MARK}, "webhooks": []}

    @contextlib.contextmanager
    def __call__(self, *, webhooks: bool = False) -> Iterator[None]:
        """Everything is there; the registration object has its webhooks only if that is said."""
        registration = self.registration if webhooks else self.unfilled
        self.apply_secret()
        for manifest in self._roles:
            path = ROLES[manifest["kind"]].format(namespace=manifest["metadata"].get("namespace", ""))
            self._post(path, manifest)
        self._post(CONFIGURATIONS, registration)
        try:
            yield
        finally:
            self.plane.request("DELETE", f"{CONFIGURATIONS}/{self.name}")
            for manifest in self._roles:
                path = ROLES[manifest["kind"]].format(namespace=manifest["metadata"].get("namespace", ""))
                self.plane.request("DELETE", f"{path}/{manifest['metadata']['name']}")
            self.plane.request("DELETE", self.secret_path)

    @property
    def plane(self) -> Any:
        return self.sandbox.control_plane

    def _post(self, path: str, manifest: Any) -> None:
        status, answer = self.plane.request("POST", path, manifest)
        assert status == http.client.CREATED, answer

    def apply_secret(self) -> None:
        """Put the Secret there as an installation does."""
        self._post(f"/api/v1/namespaces/{self.sandbox.home}/secrets", EMPTY_SECRET)

    # What there is.

    @property
    def secret_path(self) -> str:
        return f"/api/v1/namespaces/{self.sandbox.home}/secrets/{SECRET}"

    def secret(self) -> Manifest | None:
        """The Secret; none: there is none."""
        status, answer = self.plane.request("GET", self.secret_path)
        return answer if status == http.client.OK else None

    def certificates(self, name: str) -> list[x509.Certificate]:
        """Those of a key of the Secret."""
        secret = self.secret()
        assert secret is not None
        return x509.load_pem_x509_certificates(b64decode(secret["data"][name]))

    def live(self) -> Manifest:
        """The registration object as it is now."""
        status, answer = self.plane.request("GET", f"{CONFIGURATIONS}/{self.name}")
        assert status == http.client.OK, answer
        return dict(answer)

    def bundle(self) -> list[x509.Certificate]:
        """The authorities that the API server is told to trust; none: no webhook is registered."""
        webhooks = self.live().get("webhooks")
        if not webhooks:
            return []
        return x509.load_pem_x509_certificates(b64decode(webhooks[0]["clientConfig"]["caBundle"]))

    def wait_registered(self) -> None:
        """Returns once the API server asks the process, which takes moments after the registration."""
        wait_until(
            lambda: bool(self.bundle()), timeout=PATIENCE, otherwise=lambda: AssertionError("nothing is registered")
        )

    def wait_asked(self, namespace: str) -> None:
        """Returns once a webhook has answered about a new object of a namespace."""
        wait_until(
            lambda: self.replicas(namespace) == 2,
            timeout=PATIENCE,
            otherwise=lambda: AssertionError("the API server does not ask"),
        )

    def replicas(self, namespace: str) -> int | str:
        """The replicas of a new Deployment of one, which the webhook makes two; or what the API server says."""
        path = f"/apis/apps/v1/namespaces/{namespace}/deployments?dryRun=All"
        status, answer = self.plane.request("POST", path, deployment(namespace, f"d{time.monotonic_ns()}"))
        return answer["spec"]["replicas"] if status == http.client.CREATED else str(answer)
