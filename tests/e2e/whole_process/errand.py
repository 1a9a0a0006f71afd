"""One of everything that a shoot asks of its resource manager, and whether it has been done."""

import base64
import http.client
from dataclasses import dataclass
from typing import Final

from tests.control_plane import wait_until
from tests.e2e.managed_resources import manifests as of
from tests.e2e.managed_resources.sandbox import SETTLED
from tests.e2e.managed_resources.urls import Manifest
from tests.e2e.whole_process.shoot import ADDRESS, CONTROL_PLANE, NODE, SYSTEM, Shoot

GROUP: Final = "resources.gardener.cloud"
ACCOUNTS: Final = f"serviceaccount.{GROUP}"
RENEWAL: Final = f"{ACCOUNTS}/token-renew-timestamp"
ASTRAY: Final = "evil.example.com"
"""A name that is not the node's."""


@dataclass(frozen=True)
class Errand:
    """A number, which is in the names of all its objects."""

    shoot: Shoot
    number: int

    # What is asked for.

    def ask(self) -> None:
        """Create everything; whatever is refused is an error."""
        source, target = self.shoot.source, self.shoot.target
        carrier = of.secret_of(CONTROL_PLANE, f"managedresource-{self._name}", self._delivered)
        source.create(carrier, self.managed_resource, self.token_secret)
        target.create(self.pod, self.service, self._abandoned_account, self.static_token)
        kubelet = self.shoot.kubelet
        kubelet.ask(self._request, [NODE], [ADDRESS])
        kubelet.ask(self._request_for_others, [NODE, ASTRAY], [ADDRESS])

    def renew(self) -> None:
        """Ask for another token."""
        self.shoot.source.patch(self.token_secret, {"metadata": {"annotations": {RENEWAL: None}}})

    # What has come of it.

    def left(self) -> list[str]:
        """What has not been done yet."""
        conditions = {kind: self.shoot.source.condition(self.managed_resource, kind) for kind in SETTLED}
        found = {
            f"the objects are applied, healthy and rolled out: {conditions}": all(
                conditions[kind][0] == status for kind, status in SETTLED.items()
            ),
            "there is a token": bool(self.token()),
            "the static token is worthless": self.shoot.target.get(self.static_token)["data"].get("token") == "AAAA",
            "the policies are there": all(self.shoot.target.find(each) for each in self._policies),
            "the kubelet has its certificate": "certificate" in self.shoot.kubelet.status_of(self._request),
            "the other one is denied": self._verdicts(self._request_for_others) == ["Denied"],
        }
        return [what for what, is_so in found.items() if not is_so]

    def wait_until_done(self, timeout: float) -> None:
        """Returns when nothing is left."""
        wait_until(
            lambda: not self.left(),
            timeout=timeout,
            otherwise=lambda: AssertionError(f"errand {self.number} lacks: {self.left()}"),
        )

    def token(self) -> str:
        """The token that the control plane was given; empty if none yet."""
        data = self.shoot.source.get(self.token_secret).get("data", {})
        return base64.b64decode(data.get("token", "")).decode()

    def account_of(self, token: str) -> str:
        """Whom the shoot's API server takes somebody for who has the token."""
        client = self.shoot.target.control_plane._client
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        status, answer = client.request(
            "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review, token=token
        )
        assert status == http.client.CREATED, answer
        return str(answer["status"]["userInfo"]["username"])

    def _verdicts(self, request: str) -> list[str]:
        return [each["type"] for each in self.shoot.kubelet.status_of(request).get("conditions", ())]

    # The objects.

    @property
    def _name(self) -> str:
        return f"errand-{self.number}"

    @property
    def _request(self) -> str:
        """For a certificate that says what the node is."""
        return f"csr-{self.number}"

    @property
    def _request_for_others(self) -> str:
        """For one that says more."""
        return f"csr-{self.number}-for-others"

    @property
    def managed_resource(self) -> Manifest:
        return of.managed_resource(CONTROL_PLANE, self._name, f"managedresource-{self._name}")

    @property
    def _delivered(self) -> list[Manifest]:
        return [of.config_map(SYSTEM, self._name), of.deployment(SYSTEM, self._name)]

    @property
    def token_secret(self) -> Manifest:
        """Asks for a token for the control plane."""
        secret = of.named("v1", "Secret", CONTROL_PLANE, f"token-{self.number}")
        secret["metadata"]["labels"] = {f"{GROUP}/purpose": "token-requestor", f"{GROUP}/class": "shoot"}
        secret["metadata"]["annotations"] = {
            f"{ACCOUNTS}/name": self._name,
            f"{ACCOUNTS}/namespace": SYSTEM,
            f"{ACCOUNTS}/token-expiration-duration": "10m",
        }
        return secret

    @property
    def account(self) -> str:
        """Whose token it is."""
        return f"system:serviceaccount:{SYSTEM}:{self._name}"

    @property
    def _abandoned_account(self) -> Manifest:
        name = f"abandoned-{self.number}"
        secrets = [{"name": name}]
        return of.named("v1", "ServiceAccount", SYSTEM, name, automountServiceAccountToken=False, secrets=secrets)

    @property
    def static_token(self) -> Manifest:
        """A token of old, of an account whose pods get none."""
        name = f"abandoned-{self.number}"
        secret = of.named("v1", "Secret", SYSTEM, name, type="kubernetes.io/service-account-token")
        secret["metadata"]["annotations"] = {"kubernetes.io/service-account.name": name}
        return {**secret, "data": {"token": base64.b64encode(self.static_text.encode()).decode()}}

    @property
    def static_text(self) -> str:
        """What it says before anybody has looked at it."""
        return f"canary-of-the-static-token-{self.number}"

    @property
    def pod(self) -> Manifest:
        """A pod of the shoot's system."""
        pod = of.named("v1", "Pod", SYSTEM, self._name)
        pod["metadata"]["labels"] = {f"{GROUP}/managed-by": "gardener", "app": "lonely"}
        return {**pod, "spec": {"containers": [{"name": "app", "image": of.IMAGE}]}}

    @property
    def service(self) -> Manifest:
        return of.service("istio-system", self._name)

    @property
    def _policies(self) -> list[Manifest]:
        port = f"to-{self._name}-tcp-8443"
        return [
            of.named("networking.k8s.io/v1", "NetworkPolicy", "istio-system", f"{direction}-{port}")
            for direction in ("ingress", "egress")
        ]
