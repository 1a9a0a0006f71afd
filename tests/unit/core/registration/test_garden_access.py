"""How pods of extensions reach the garden (C21 to C24)."""

from base64 import b64decode
from typing import Any

import pytest
import yaml

from hedgerow.api.kubernetes import LEASES, SECRETS
from hedgerow.machinery.charts import RenderedFile
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.objects import ObjectKey, key_of
from hedgerow.machinery.plan import Plan
from hedgerow.machinery.reading import UnreadableError, with_value
from hedgerow.registration.chart_deployment import InstallationConfig
from hedgerow.registration.garden_access import GardenAccess, Injection, kubeconfig_secret
from hedgerow.registration.installing import installation_controller
from tests.unit.core.registration.landscape import (
    INSTALLATION,
    NAMESPACE,
    SEED,
    Landscape,
    installation,
    of,
    registration,
    seed,
)

ACCESS = GardenAccess("https://garden.example.com", b"client-ca")
KUBECONFIG_SECRET = "generic-garden-kubeconfig-81fb3a88"  # noqa: S105 -- the name of a Secret
INJECTION = Injection(NAMESPACE, KUBECONFIG_SECRET, SEED)
MOUNT = "/var/run/secrets/gardener.cloud/garden/generic-kubeconfig"
REFERENCE = "reference.resources.gardener.cloud/"
REFERENCES = {
    f"{REFERENCE}secret-795f7ca6": "garden-access-extension",
    f"{REFERENCE}secret-d5f5a834": KUBECONFIG_SECRET,
}
KUBECONFIG_ENV = {"name": "GARDEN_KUBECONFIG", "value": f"{MOUNT}/kubeconfig"}
SEED_NAME = {"name": "SEED_NAME", "value": SEED}
VOLUME_MOUNT = {"name": "garden-kubeconfig", "mountPath": MOUNT, "readOnly": True}
SOURCES = [
    {"secret": {"name": name, "items": [{"key": key, "path": key}], "optional": False}}
    for name, key in ((KUBECONFIG_SECRET, "kubeconfig"), ("garden-access-extension", "token"))
]
VOLUME = {"name": "garden-kubeconfig", "projected": {"defaultMode": 420, "sources": SOURCES}}


def access(*garden_seed: Any, **fields: Any) -> Landscape:
    given = {"server": ACCESS.server, "certificate_authorities": ACCESS.certificate_authorities, **fields}
    config = {"garden_access": GardenAccess(**given)}
    return Landscape(seed(), registration(), installation(), seed=garden_seed, config=config)


# The Secrets.


def test_an_extension_gets_a_kubeconfig_and_asks_for_a_token() -> None:
    landscape = access()

    assert landscape.turn() == Plan()

    name = key_of(kubeconfig_secret(NAMESPACE, ACCESS)).name
    (asked,) = landscape.render.asked
    assert asked.values["gardener"]["garden"]["genericKubeconfigSecretName"] == name
    kubeconfig = landscape.found(SECRETS, name, NAMESPACE)
    assert kubeconfig["immutable"] is True
    assert yaml.safe_load(b64decode(kubeconfig["data"]["kubeconfig"])) == {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "garden",
                "cluster": {
                    "server": "https://garden.example.com",
                    "certificate-authority-data": "Y2xpZW50LWNh",
                },
            }
        ],
        "contexts": [{"name": "garden", "context": {"cluster": "garden", "user": "extension"}}],
        "current-context": "garden",
        "preferences": {},
        "users": [{"name": "extension", "user": {"tokenFile": f"{MOUNT}/token"}}],
    }
    token = landscape.found(SECRETS, "garden-access-extension", NAMESPACE)
    assert token["type"] == "Opaque"
    assert token["metadata"]["labels"] == {
        "resources.gardener.cloud/purpose": "token-requestor",
        "resources.gardener.cloud/class": "garden",
    }
    assert token["metadata"]["annotations"] == {
        "serviceaccount.resources.gardener.cloud/name": f"extension-{INSTALLATION}"
    }
    landscape.turn()
    assert landscape.writes == []


def test_a_token_stays_and_a_kubeconfig_beside_it_goes() -> None:
    existing = of(
        SECRETS,
        "garden-access-extension",
        NAMESPACE,
        metadata={"labels": {"a": "b"}},
        data={"token": "dG9rZW4=", "kubeconfig": "YQ=="},
    )
    landscape = access(existing)

    landscape.turn()

    token = landscape.found(SECRETS, "garden-access-extension", NAMESPACE)
    assert token["data"] == {"token": "dG9rZW4="}
    assert token["metadata"]["labels"]["a"] == "b"
    assert "MergePatch Secret garden-access-extension" in landscape.writes


@pytest.mark.parametrize(
    ("server", "authorities", "expected"),
    [
        ("", b"", GardenAccess("https://client", b"own", is_insecure=True)),
        ("https://other", b"", GardenAccess("https://other", b"own", is_insecure=True)),
        ("", b"ca", GardenAccess("https://client", b"ca")),
        ("https://other", b"ca", GardenAccess("https://other", b"ca")),
    ],
)
def test_what_is_configured_wins_over_the_connection(server: str, authorities: bytes, expected: GardenAccess) -> None:
    assert GardenAccess("https://client", b"own", is_insecure=True).overridden(server, authorities) == expected


def test_a_kubeconfig_says_that_nobody_verifies_the_garden() -> None:
    secret = kubeconfig_secret(NAMESPACE, GardenAccess("https://client", is_insecure=True))
    (cluster,) = yaml.safe_load(b64decode(secret["data"]["kubeconfig"]))["clusters"]

    assert cluster["cluster"] == {"server": "https://client", "insecure-skip-tls-verify": True}


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    ("path", "what"),
    [("generic-garden-kubeconfig", "generic garden kubeconfig"), ("garden-access", "garden access secret")],
)
def test_secrets_that_cannot_be_written_end_the_turn(method: str, path: str, what: str) -> None:
    landscape = access()
    if method == "GET":
        landscape.fail(Cluster.TARGET, "GET", path)
    else:
        landscape.fail(Cluster.TARGET, "POST", f"/{NAMESPACE}/secrets", after=0 if path.startswith("generic") else 1)

    (failure,) = landscape.turn().failures

    assert failure.problem.text == f"failed to reconcile {what}: a fault"
    assert landscape.conditions == dict.fromkeys(("Valid", "Installed"), ("Unknown", "ConditionInitialized"))


LEASE = ObjectKey("garden", "token-requestor")


@pytest.mark.parametrize("lease", [None, of(LEASES, LEASE.name, LEASE.namespace, spec={"holderIdentity": ""})])
def test_no_pod_is_made_to_wait_for_a_token_that_nobody_issues(lease: Any) -> None:
    landscape = access(*([lease] if lease else []), token_requestor=LEASE)

    (failure,) = landscape.turn().failures

    assert failure.problem.text.endswith("no token requestor of class garden holds Lease garden/token-requestor")
    landscape.stage.put(Cluster.TARGET, of(LEASES, LEASE.name, LEASE.namespace, spec={"holderIdentity": "x"}))
    assert landscape.turn() == Plan()


def test_a_lease_that_cannot_be_read_ends_the_turn() -> None:
    landscape = access(token_requestor=LEASE)
    landscape.fail(Cluster.TARGET, "GET", "/leases/")

    assert landscape.turn().failures[0].problem.text == "failed to reconcile garden access secret: a fault"


def test_only_a_controller_that_gives_access_may_write_secrets_anywhere() -> None:
    permissions = installation_controller(InstallationConfig(SEED, garden_access=ACCESS)).permissions

    assert {each.namespace for each in permissions if each.plural == "secrets"} == {"garden", ""}


# The workloads.


def workload(kind: str = "Deployment", api_version: str = "apps/v1", **container: Any) -> dict[str, Any]:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "x", "namespace": NAMESPACE},
        "spec": {"template": {"spec": {"containers": [{"name": "c", **container}]}}},
    }


def test_a_workload_in_the_namespace_reaches_the_garden() -> None:
    manifest = with_value(workload(), ("spec", "template", "spec", "initContainers"), [{"name": "i"}])

    injected = INJECTION.into(manifest)

    assert injected["metadata"]["annotations"] == REFERENCES
    template = injected["spec"]["template"]
    assert template["metadata"]["annotations"] == REFERENCES
    assert template["spec"]["volumes"] == [VOLUME]
    for container in (*template["spec"]["initContainers"], *template["spec"]["containers"]):
        assert container["env"] == [KUBECONFIG_ENV, SEED_NAME]
        assert container["volumeMounts"] == [VOLUME_MOUNT]


@pytest.mark.parametrize(
    "manifest",
    [
        with_value(workload(), ("metadata", "namespace"), "other"),
        with_value(workload(), ("metadata",), {"name": "x"}),
        workload("ReplicaSet"),
        workload("Deployment", "example.com/v1"),
        {**workload("Pod", "v1"), "spec": {"containers": [{"name": "c"}]}},
        {"apiVersion": "v1", "kind": "List", "items": [workload()]},
    ],
)
def test_all_else_stays_as_it_is(manifest: Any) -> None:
    assert INJECTION.into(manifest) == manifest


@pytest.mark.parametrize(("kind", "group"), [("StatefulSet", "apps"), ("DaemonSet", "apps"), ("Job", "batch")])
def test_workloads_of_every_kind_reach_the_garden(kind: str, group: str) -> None:
    injected = INJECTION.into(workload(kind, f"{group}/v1"))

    assert injected["spec"]["template"]["spec"]["containers"][0]["env"] == [KUBECONFIG_ENV, SEED_NAME]


def test_a_workload_that_names_a_kubeconfig_itself_gets_no_other() -> None:
    own = {"name": "GARDEN_KUBECONFIG", "value": "mine"}
    source = {"name": "X", "valueFrom": {"secretKeyRef": {"name": "env-secret", "key": "k"}}}
    path = ("spec", "template", "spec", "containers")
    manifest = with_value(workload(), path, [{"name": "a", "env": [own]}, {"name": "b", "env": [source]}])
    manifest = with_value(manifest, ("metadata", "annotations"), {f"{REFERENCE}secret-12345678": "gone", "a": "b"})

    injected = INJECTION.into(manifest)

    pod_spec = injected["spec"]["template"]["spec"]
    assert [each["env"] for each in pod_spec["containers"]] == [[own, SEED_NAME], [source, SEED_NAME]]
    assert "volumes" not in pod_spec
    assert injected["metadata"]["annotations"] == {"a": "b", f"{REFERENCE}secret-30790410": "env-secret"}


def test_a_cron_job_is_annotated_at_every_level() -> None:
    job = {"template": {"spec": {"containers": [{"name": "c"}]}}}
    manifest = {**workload("CronJob", "batch/v1"), "spec": {"jobTemplate": {"spec": job}}}

    injected = INJECTION.into(manifest)

    template = injected["spec"]["jobTemplate"]
    for holder in (injected, template, template["spec"]["template"]):
        assert holder["metadata"]["annotations"] == REFERENCES
    assert template["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] == [VOLUME_MOUNT]


def test_what_has_our_names_is_replaced_in_its_place() -> None:
    env = [{"name": "SEED_NAME", "value": "old"}, {"name": "A", "value": "b"}]
    manifest = workload(env=env, volumeMounts=[{"name": "garden-kubeconfig", "mountPath": "/old"}])
    volumes = ("spec", "template", "spec", "volumes")
    manifest = with_value(manifest, volumes, [{"name": "garden-kubeconfig", "emptyDir": {}}, {"name": "v"}])

    pod_spec = INJECTION.into(manifest)["spec"]["template"]["spec"]

    assert pod_spec["volumes"] == [VOLUME, {"name": "v"}]
    assert pod_spec["containers"][0]["env"] == [SEED_NAME, env[1], KUBECONFIG_ENV]
    assert pod_spec["containers"][0]["volumeMounts"] == [VOLUME_MOUNT]


@pytest.mark.parametrize(
    "manifest",
    [
        with_value(workload(), ("spec", "template", "spec", "containers"), "none"),
        with_value(workload(), ("spec", "template", "spec", "imagePullSecrets"), "none"),
    ],
)
def test_a_workload_of_another_shape_cannot_be_injected_into(manifest: Any) -> None:
    with pytest.raises(UnreadableError):
        INJECTION.into(manifest)


def test_a_chart_with_such_a_workload_is_not_deployed() -> None:
    landscape = access()
    broken = with_value(workload(), ("spec", "template"), "none")
    landscape.render.rendered = (RenderedFile("test/templates/x.yaml", (broken,)),)

    landscape.turn()

    assert landscape.conditions["Valid"] == ("False", "ChartCannotBeRendered")
    message = landscape.message("Valid")
    assert message == (
        "Chart rendering process failed: test/templates/x.yaml: spec.template: expected an object, got a string"
    )


def test_without_access_to_the_garden_nothing_is_injected() -> None:
    files = (RenderedFile("test/templates/x.yaml", (workload(),)),)
    landscape = Landscape(seed(), registration(), installation(), rendered=files)

    landscape.turn()

    (text,) = landscape.secret["data"].values()
    assert next(yaml.safe_load_all(b64decode(text))) == workload()
