"""Tokens of ServiceAccounts in Secrets, of a real API server, kept fresh by the installed command."""

import base64
import http.client
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.control_plane import ControlPlane
from tests.e2e.gateways import Gateway
from tests.e2e.resource_manager import ResourceManager, configuration

CLASS = "tokens-end-to-end"
"""Of the Secrets of these tests alone."""
NAMESPACES = tuple(f"tokens-end-to-end-{number}" for number in range(10))
"""Where Secrets may ask for tokens, one for each test."""
RENEW_AT = "serviceaccount.resources.gardener.cloud/token-renew-timestamp"
TARGET = "token-requestor.resources.gardener.cloud/target-secret"
KUBECONFIG = {
    "clusters": [{"name": "c", "cluster": {"server": "https://x", "certificate-authority-data": "MA=="}}],
    "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    "current-context": "x",
    "users": [{"name": "u", "user": {}}],
}


class Bakery:
    """A namespace with Secrets that want tokens, and the process that sees to them."""

    def __init__(self, control_plane: ControlPlane, process: ResourceManager, namespace: str) -> None:
        self.control_plane = control_plane
        self.process = process
        self.namespace = namespace
        self.create_namespace(namespace)

    def create_namespace(self, name: str) -> None:
        self._expect("POST", "/api/v1/namespaces", {"metadata": {"name": name}})

    def create_secret(self, name: str, data: Mapping[str, str] | None = None, **said: str) -> None:
        """A Secret for a token of the ServiceAccount `baker`; annotations by what follows on the last dash."""
        annotations = {
            "serviceaccount.resources.gardener.cloud/name": "baker",
            "serviceaccount.resources.gardener.cloud/namespace": self.namespace,
            **{f"serviceaccount.resources.gardener.cloud/{name.replace('_', '-')}": said[name] for name in said},
        }
        labels = {"resources.gardener.cloud/purpose": "token-requestor", "resources.gardener.cloud/class": CLASS}
        metadata = {"name": name, "labels": labels, "annotations": annotations}
        self._expect("POST", self._path("secrets"), {"metadata": metadata, "stringData": data or {}})

    def secret(self, name: str) -> Any:
        return self._expect("GET", self._path("secrets", name))

    def values(self, name: str) -> dict[str, str]:
        """What a Secret holds; nothing if it does not exist."""
        status, found = self.control_plane.request("GET", self._path("secrets", name))
        data = found.get("data") or {} if status == http.client.OK else {}
        return {key: base64.b64decode(value).decode() for key, value in data.items()}

    def patch(self, name: str, patch: Mapping[str, Any]) -> None:
        self._expect("PATCH", self._path("secrets", name), patch)

    def token_of(self, name: str) -> str:
        """The token in a Secret, once there is one; where it holds a kubeconfig, in that."""
        self.process.wait_for(lambda: self._token(name), f"has put no token into {name}")
        return self._token(name)

    def renewed(self, name: str) -> bool:
        return RENEW_AT in self.secret(name)["metadata"]["annotations"]

    def user_of(self, token: str) -> str:
        """Who the API server takes somebody for that has a token."""
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
        status, answer = self.control_plane.request("POST", path, review, token=token)
        assert status == http.client.CREATED, answer
        name: str = answer["status"]["userInfo"]["username"]
        return name

    def account(self) -> Any:
        return self._expect("GET", self._path("serviceaccounts", "baker"))

    def _token(self, name: str) -> str:
        values = self.values(name)
        if "kubeconfig" in values:
            user = yaml.safe_load(values["kubeconfig"])["users"][0]["user"]
            return str(user.get("token") or "")
        return values.get("token", "")

    def _path(self, plural: str, name: str = "") -> str:
        return "/".join(filter(None, ("/api/v1/namespaces", self.namespace, plural, name)))

    def _expect(self, method: str, path: str, body: Any = None) -> Any:
        status, answer = self.control_plane.request(method, path, body)
        assert status in {http.client.OK, http.client.CREATED}, answer
        return answer


@pytest.fixture(scope="module")
def process(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ResourceManager]:
    """One that requests the tokens of all Secrets of these tests."""
    folder: Path = tmp_path_factory.mktemp("token-requestor")
    requestor = {"tokenRequestor": {"enabled": True, "class": CLASS, "sourceNamespaces": [*NAMESPACES]}}
    with ResourceManager(folder, configuration(control_plane.kubeconfig(), controllers=requestor)) as running:
        running.wait_ready()
        yield running


@pytest.fixture(scope="module")
def namespaces() -> Iterator[str]:
    """The namespaces in which Secrets may ask, each once."""
    return iter(NAMESPACES)


@pytest.fixture
def bakery(control_plane: ControlPlane, process: ResourceManager, namespaces: Iterator[str]) -> Bakery:
    """A namespace of the test's own."""
    return Bakery(control_plane, process, next(namespaces))


def test_without_a_limit_two_addresses_of_one_cluster_are_refused(control_plane: ControlPlane, tmp_path: Path) -> None:
    with Gateway(control_plane) as gateway:
        target = yaml.safe_load(control_plane.kubeconfig().read_text(encoding="utf-8"))
        target["clusters"][0]["cluster"] = {"server": gateway.url}
        file = tmp_path / "target"
        file.write_text(yaml.safe_dump(target), encoding="utf-8")
        config = configuration(control_plane.kubeconfig(), controllers={"tokenRequestor": {"enabled": True}})
        config["targetClientConnection"] = {"kubeconfig": str(file)}
        with ResourceManager(tmp_path, config) as process:
            assert process.wait() == 1
            said = process.why_it_failed()

    assert "source and target are one cluster" in said


def test_a_secret_elsewhere_gets_no_token(control_plane: ControlPlane, bakery: Bakery, namespace_prefix: str) -> None:
    stranger = Bakery(control_plane, bakery.process, namespace_prefix)
    stranger.create_secret("unheard", namespace=bakery.namespace)

    bakery.create_secret("heard")

    assert bakery.user_of(bakery.token_of("heard")) == f"system:serviceaccount:{bakery.namespace}:baker"
    assert stranger.values("unheard") == {}
    assert not stranger.renewed("unheard")


def test_a_token_lets_in_the_service_account_that_was_made_for_it(bakery: Bakery) -> None:  # Q01, Q29
    bakery.create_secret("plain")

    token = bakery.token_of("plain")

    assert bakery.user_of(token) == f"system:serviceaccount:{bakery.namespace}:baker"
    assert bakery.account()["automountServiceAccountToken"] is False
    assert bakery.renewed("plain")
    assert token not in bakery.process.output()


def test_a_token_goes_where_the_secret_says(bakery: Bakery) -> None:  # Q05, Q06
    bakery.create_secret("source")
    first = bakery.token_of("source")
    bakery.patch(
        "source", {"metadata": {"annotations": {f"{TARGET}-name": "target", f"{TARGET}-namespace": bakery.namespace}}}
    )

    second = bakery.token_of("target")

    assert second != first
    assert bakery.user_of(second) == f"system:serviceaccount:{bakery.namespace}:baker"
    bakery.process.wait_for(lambda: bakery.values("source") == {}, "has left the token in the source")


def test_a_namespace_that_comes_later_is_found(bakery: Bakery) -> None:  # Q26
    nursery = f"{bakery.namespace}-later"
    bakery.create_secret("early", namespace=nursery)
    bakery.process.wait_for(lambda: f'namespaces \\"{nursery}\\" not found' in bakery.process.output(), "says nothing")

    bakery.create_namespace(nursery)

    assert bakery.user_of(bakery.token_of("early")) == f"system:serviceaccount:{nursery}:baker"


def test_what_the_server_refuses_is_told_in_its_words(bakery: Bakery) -> None:  # Q16
    bakery.create_secret("short", token_expiration_duration="5m")  # noqa: S106 -- a duration

    bakery.process.wait_for(
        lambda: "may not specify a duration less than 10 minutes" in bakery.process.output(), "says nothing"
    )

    assert bakery.values("short") == {}


def test_who_changes_the_kubeconfig_meanwhile_loses_nothing(bakery: Bakery) -> None:  # Q28
    bakery.create_secret("shared", {"kubeconfig": yaml.safe_dump(KUBECONFIG)})
    bakery.token_of("shared")
    authorities = [base64.b64encode(f"authority {number}".encode()).decode() for number in range(12)]

    for authority in authorities:
        exchange_authority(bakery, authority)

    bakery.process.wait_for(lambda: bakery.renewed("shared"), "has not renewed the token")
    read = yaml.safe_load(bakery.values("shared")["kubeconfig"])
    assert read["clusters"][0]["cluster"]["certificate-authority-data"] == authorities[-1]
    assert bakery.user_of(bakery.token_of("shared")) == f"system:serviceaccount:{bakery.namespace}:baker"


def exchange_authority(bakery: Bakery, authority: str) -> None:
    """As a component does that has a new one, and asks for a new token: again and again, until nobody was faster."""
    while True:
        secret = bakery.secret("shared")
        kubeconfig = yaml.safe_load(base64.b64decode(secret["data"]["kubeconfig"]))
        kubeconfig["clusters"][0]["cluster"]["certificate-authority-data"] = authority
        version = secret["metadata"]["resourceVersion"]
        patch = {
            "metadata": {"resourceVersion": version, "annotations": {RENEW_AT: None}},
            "data": {"kubeconfig": base64.b64encode(yaml.safe_dump(kubeconfig).encode()).decode()},
        }
        path = f"/api/v1/namespaces/{bakery.namespace}/secrets/shared"
        status, answer = bakery.control_plane.request("PATCH", path, patch)
        if status == http.client.OK:
            return
        assert status == http.client.CONFLICT, answer
