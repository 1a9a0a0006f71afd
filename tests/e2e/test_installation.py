"""The Helm chart and `hedgerow install` make the same objects, and an API server takes them."""

import subprocess
from base64 import b64decode
from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest
import yaml

from hedgerow.admission.blocking import blocking_webhooks
from hedgerow.installation.manifests import needed_objects
from hedgerow_adapters.registrations.registered import parse_registrations
from hedgerow_entrypoints.components import RESOURCE_MANAGER, RSYSLOG_RELP, SEED_EXTENSIONS
from tests.control_plane import PATIENCE, ControlPlane, wait_until
from tests.control_plane.kubectl import KubectlError
from tests.e2e.resource_manager import run_here
from tests.e2e.servers.build import HELM, build
from tests.golden.installation.chart import CASES, FOLDERS
from tests.golden.installation.chart import CHARTS as MADE

ROOT: Final = Path(__file__).parents[2]
CHARTS: Final = ROOT / "deploy" / "charts"
KUBERNETES: Final = "1.36.0"
"""Of the cluster that a rendering is for, which Helm asks nobody about."""
NAMESPACE: Final = "garden"
RBAC: Final = "rbac.authorization.k8s.io/"
pytestmark = pytest.mark.usefixtures("servers")
Rendering: TypeAlias = subprocess.CompletedProcess[str]
"""What Helm or the command made of values."""
Objects = dict[tuple[str, str, str], dict[str, Any]]


@cache
def helm() -> Path:
    """The command, built if this is the first time."""
    return build(HELM) / "helm"


def by_helm(values: Path, *more: str, namespace: str = NAMESPACE, chart: str = RESOURCE_MANAGER) -> Rendering:
    options = ("--namespace", namespace, "--kube-version", KUBERNETES, "--skip-tests", "-f", str(values), *more)
    command = [str(helm()), "template", "release", str(CHARTS / chart), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)


def by_command(values: Path, *more: str, component: str = RESOURCE_MANAGER) -> Rendering:
    return run_here("install", component, "--namespace", NAMESPACE, "-f", str(values), *more)


def written(folder: Path, component: str, values: Mapping[str, Any]) -> Path:
    """A file of values, with the choice that the resource manager asks for if they do not make it."""
    file = folder / "values.yaml"
    choice = EVERYTHING if component == RESOURCE_MANAGER else {}
    file.write_text(yaml.safe_dump({**choice, **values}), encoding="utf-8")
    return file


def objects(rendering: Rendering) -> Objects:
    """The objects by kind, namespace and name, each once; the files in ConfigMaps are read as well."""
    assert rendering.returncode == 0, rendering.stderr
    found: Objects = {}
    for each in filter(None, yaml.safe_load_all(rendering.stdout)):
        key = (each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"])
        assert key not in found
        found[key] = each
        if each["kind"] == "ConfigMap":
            each["data"] = {name: yaml.safe_load(text) for name, text in each["data"].items()}
    return found


ODD: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "nothing where something could be said": (
        RESOURCE_MANAGER,
        {
            "config": {
                "sourceClientConnection": {"namespace": None, "namespaces": ["a"]},
                "targetClientConnection": None,
                "leaderElection": None,
                "server": {"webhooks": {"port": None, "tls": None}, "healthProbes": None, "metrics": None},
                "controllers": {
                    "node": None,
                    "garbageCollector": {"enabled": None},
                    "networkPolicy": {"enabled": True, "ingressControllerSelector": None},
                    "tokenInvalidator": None,
                    "tokenValidator": {"enabled": True},
                },
                "webhooks": {"tokenInvalidator": None, "tokenValidator": {"enabled": True}},
            }
        },
    ),
    "nobody knows whether it leads": (RESOURCE_MANAGER, {"config": {"leaderElection": {"leaderElect": None}}}),
    "half an ingress controller that nobody looks for": (
        RESOURCE_MANAGER,
        {"config": {"controllers": {"networkPolicy": {"ingressControllerSelector": {}}}}},
    ),
    "quantities that are numbers": (
        RESOURCE_MANAGER,
        {
            "resources": {"limits": {"cpu": 2}, "requests": {"cpu": 0.5}},
            "record": {"enabled": True, "sizeLimit": 1048576},
        },
    ),
    "nothing where the extension has a default": (
        RSYSLOG_RELP,
        {
            "config": {
                "clientConnection": None,
                "leaderElection": None,
                "server": {"webhooks": None, "healthProbes": {"port": None}},
                "controllers": {"lifecycle": None, "heartbeat": {"namespace": None}},
                "webhooks": {"operatingSystemConfig": {"enabled": None}, "shoot": None},
            },
            "gardener": {"seed": None},
        },
    ),
    "the process of a seed that works for the garden alone": (
        SEED_EXTENSIONS,
        {
            "config": {
                "seedConfig": None,
                "controllers": {
                    "controllerRegistration": {"enabled": True},
                    **{
                        name: {"enabled": False}
                        for name in (
                            "controllerInstallation",
                            "controllerInstallationCare",
                            "controllerInstallationRequired",
                            "seedExtensionsCheck",
                        )
                    },
                },
            }
        },
    ),
    "alerts and a dashboard": (
        SEED_EXTENSIONS,
        {
            "namePrefix": "north-",
            "config": {"seedConfig": {"metadata": {"name": "north"}}},
            "monitoring": {
                "prometheusRule": {"enabled": True},
                "dashboard": {"enabled": True, "annotations": {"grafana_folder": "hedgerow"}},
            },
        },
    ),
    "an extension that does nothing": (
        RSYSLOG_RELP,
        {
            "config": {
                "leaderElection": {"leaderElect": False},
                "controllers": {"lifecycle": {"enabled": False}, "heartbeat": None},
                "webhooks": {"operatingSystemConfig": {"enabled": False}},
            },
        },
    ),
}
EVERYTHING: Final[Mapping[str, Any]] = {"managedResources": {"clusterAdmin": True}}
"""The choice that an installation of the resource manager has to make."""
OF_RESOURCE_MANAGER: Final = FOLDERS[RESOURCE_MANAGER]
BOTH_CLUSTERS: Final = "in-a-separate-target"
STEPS: Final = [
    *((RESOURCE_MANAGER, OF_RESOURCE_MANAGER / BOTH_CLUSTERS, part) for part in ("all", "access", "registrations")),
    *((RESOURCE_MANAGER, OF_RESOURCE_MANAGER / "everything-is-enabled", part) for part in ("process", "registrations")),
    *((RSYSLOG_RELP, FOLDERS[RSYSLOG_RELP] / "nothing-is-said", part) for part in ("process", "registrations")),
]


@pytest.mark.parametrize(
    ("component", "case", "part"),
    [*((component, case, "") for component, case in CASES), *STEPS],
    ids=lambda part: getattr(part, "name", part),
)
def test_helm_renders_what_the_command_prints(component: str, case: Path, part: str) -> None:
    setting, values = ("--set", f"part={part}") if part else (), case / "values.yaml"
    included = ["--include-crds"] if MADE[component].declared.definitions else []
    printed = objects(by_command(values, *setting, *included, component=component))

    rendered = objects(by_helm(values, *setting, chart=component))

    is_one_cluster = part != "all"
    registered = parse_registrations(rendered.values()).entries
    assert not is_one_cluster or blocking_webhooks(registered, needed_objects(rendered.values())) == ()
    assert set(rendered) == set(printed)
    for key, manifest in printed.items():
        assert rendered[key] == manifest


@pytest.mark.parametrize(("component", "values"), ODD.values(), ids=ODD)
def test_odd_values_are_taken_by_both(tmp_path: Path, component: str, values: Mapping[str, Any]) -> None:
    file = written(tmp_path, component, values)

    included = ["--include-crds"] if MADE[component].declared.definitions else []

    assert objects(by_helm(file, chart=component)) == objects(by_command(file, *included, component=component))


@pytest.mark.parametrize("chart", FOLDERS)
def test_helm_warns_of_nothing_in_a_chart(chart: str) -> None:
    command = [str(helm()), "lint", "--strict", str(CHARTS / chart)]

    linted = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)

    assert linted.returncode == 0, linted.stdout


def test_gardener_renders_what_the_command_prints(tmp_path: Path) -> None:
    case = FOLDERS[RSYSLOG_RELP] / "for-a-controller-installation" / "values.yaml"
    registered = run_here("install", RSYSLOG_RELP, "--as", "controller-registration-v1").stdout
    helm_values = next(yaml.safe_load_all(registered))["helm"]
    chart, values = tmp_path / "chart.tgz", tmp_path / "values.yaml"
    chart.write_bytes(b64decode(helm_values["rawChart"]))
    of_gardener = {"gardener": yaml.safe_load(case.read_text(encoding="utf-8"))["gardener"]}
    values.write_text(yaml.safe_dump({**helm_values["values"], **of_gardener}), encoding="utf-8")

    rendered = objects(by_helm(values, chart=str(chart)))

    assert rendered == objects(by_command(case, component=RSYSLOG_RELP))


@pytest.fixture
def namespace(control_plane: ControlPlane, namespace_prefix: str) -> Iterator[str]:
    """A namespace that admits restricted pods alone."""
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    name = f"{namespace_prefix}-release"
    control_plane.request("POST", "/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
    yield name
    control_plane.request("DELETE", f"/api/v1/namespaces/{name}")


@pytest.mark.parametrize(
    ("component", "case", "namespace_field"),
    [
        (RESOURCE_MANAGER, "everything-is-enabled", "kubeletCSRApprover.machineNamespace"),
        (RESOURCE_MANAGER, "in-a-separate-target", "kubeletCSRApprover.machineNamespace"),
        (RSYSLOG_RELP, "nothing-is-said", "heartbeat.namespace"),
        (RSYSLOG_RELP, "in-the-garden", "heartbeat.namespace"),
    ],
)
def test_an_api_server_takes_the_rendered_objects(
    control_plane: ControlPlane, namespace: str, component: str, case: str, namespace_field: str
) -> None:
    setting = ("--set", f"config.controllers.{namespace_field}={namespace}")
    values = FOLDERS[component] / case / "values.yaml"
    rendered = by_helm(values, *setting, namespace=namespace, chart=component)
    pods = [pod_of(each) for (kind, _, _), each in objects(rendered).items() if kind == "Deployment"]
    made = f"{rendered.stdout}\n---\n{yaml.safe_dump_all(pods)}"

    taken = control_plane.kubectl("create", "--dry-run=server", "-f", "-", input=made)

    assert taken.count("(server dry run)") == len(objects(rendered)) + len(pods)


def pod_of(deployment: Mapping[str, Any]) -> dict[str, Any]:
    """A pod as a Deployment makes it: Pod Security looks at no other objects as closely."""
    template = deployment["spec"]["template"]
    metadata = {**template["metadata"], "name": "pod", "namespace": deployment["metadata"]["namespace"]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}


def test_a_process_that_looks_after_some_namespaces_delivers_what_is_in_none(
    control_plane: ControlPlane, namespace: str
) -> None:
    within = ("--set", f"config.sourceClientConnection.namespaces={{{namespace}}}")
    rendered = objects(by_helm(OF_RESOURCE_MANAGER / "nothing-is-said" / "values.yaml", *within, namespace=namespace))
    roles = yaml.safe_dump_all(each for each in rendered.values() if each["apiVersion"].startswith(RBAC))
    account = f"system:serviceaccount:{namespace}:gardener-resource-manager"

    control_plane.kubectl("create", "-f", "-", input=roles)
    try:
        for kind in ("clusterroles", "customresourcedefinitions", "namespaces"):
            allowed = ("auth", "can-i", "create", kind, "--as", account)
            wait_until(
                partial(is_said_yes_to, control_plane, *allowed),
                timeout=PATIENCE,
                otherwise=lambda: AssertionError("it may not"),
            )
    finally:
        control_plane.kubectl("delete", "-f", "-", input=roles)


def is_said_yes_to(control_plane: ControlPlane, *question: str) -> bool:
    """The answer of an API server, which takes up roles a moment after they were made."""
    try:
        return control_plane.kubectl(*question).strip() == "yes"
    except KubectlError:
        return False


NOBODY_ANSWERS: Final[Mapping[str, Any]] = {
    "config": {
        "server": {"webhooks": {"tls": {"provision": "files"}}},
        "controllers": {"tokenInvalidator": {"enabled": True}},
        "webhooks": {
            name: {"enabled": True}
            for name in (
                "endpointSliceHints",
                "highAvailabilityConfig",
                "podTopologySpreadConstraints",
                "projectedTokenMount",
                "seccompProfile",
                "tokenInvalidator",
            )
        },
    },
    "webhooks": {"inGardener": True},
}
CONSIDERED: Final = "high-availability-config.resources.gardener.cloud/consider"


def test_the_process_comes_back_when_no_replica_answers_and_its_namespace_is_highly_available(
    control_plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    control_plane.kubectl("label", "namespace", namespace, f"{CONSIDERED}=true")
    file = written(tmp_path, RESOURCE_MANAGER, NOBODY_ANSWERS)
    printed = objects(by_command(file, "--namespace", namespace, "--set", "namePrefix=lonely-"))
    registration = only("MutatingWebhookConfiguration", printed)
    for webhook in registration["webhooks"]:
        webhook["namespaceSelector"].setdefault("matchLabels", {})["kubernetes.io/metadata.name"] = namespace
    control_plane.kubectl("create", "-f", "-", input=yaml.safe_dump(registration))
    try:
        own = only("Deployment", printed)
        name, pod = own["metadata"]["name"], {**pod_of(own), "apiVersion": "v1"}
        foreign = {**own, "metadata": {"name": "other", "namespace": namespace}}
        wait_until(
            partial(is_refused, control_plane, foreign),
            timeout=PATIENCE,
            otherwise=lambda: AssertionError("the API server asks no webhook"),
        )

        makes = [
            *(only(kind, printed) for kind in ("ServiceAccount", "Service", "PodDisruptionBudget")),
            {**own, "kind": "ReplicaSet", "spec": {key: own["spec"][key] for key in ("selector", "template")}},
            own,
            pod,
            {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}, "spec": {}},
            {
                "apiVersion": "discovery.k8s.io/v1",
                "kind": "EndpointSlice",
                "metadata": {"name": name, "labels": {"kubernetes.io/service-name": name, "app": name}},
                "addressType": "IPv4",
                "endpoints": [],
            },
        ]
        control_plane.kubectl("create", "--namespace", namespace, "-f", "-", input=yaml.safe_dump_all(makes))
        control_plane.kubectl("scale", "deployment", name, "--namespace", namespace, "--replicas=0")
        control_plane.kubectl("annotate", "deployment", name, "--namespace", namespace, "touched=yes")
        control_plane.kubectl("delete", "deployment", name, "--namespace", namespace, "--wait=false")
    finally:
        control_plane.kubectl("delete", "-f", "-", input=yaml.safe_dump(registration))


def only(kind: str, found: Objects) -> dict[str, Any]:
    """The one object of a kind."""
    (manifest,) = (each for (of_kind, _, _), each in found.items() if of_kind == kind)
    return manifest


def is_refused(control_plane: ControlPlane, manifest: Mapping[str, Any]) -> bool:
    """Whether the API server asks a webhook about an object, gets no answer, and says so."""
    try:
        control_plane.kubectl("create", "--dry-run=server", "-f", "-", input=yaml.safe_dump(manifest))
    except KubectlError as error:
        return "failed calling webhook" in str(error)
    return False


def self_provided(**own: str) -> dict[str, Any]:
    """A component configuration with a webhook whose certificate the process makes itself."""
    return {"webhooks": {"seccompProfile": {"enabled": True}}, "server": {"webhooks": {"tls": {"self": own}}}}


WRONG: Final = {
    "a field that nobody knows": {"replica": 3},
    "a value of another type": {"replicas": "three"},
    "a policy that does not exist": {"image": {"pullPolicy": "Sometimes"}},
    "a switch that is no boolean": {"config": {"controllers": {"node": {"enabled": "yes"}}}},
    "a text for a number in the configuration": {"config": {"controllers": {"health": {"concurrentSyncs": "5"}}}},
    "a selector that lost a letter": {
        "config": {"controllers": {"networkPolicy": {"namespaceSelectors": [{"matchLabel": {}}]}}}
    },
    "another configuration": {"config": {"kind": "Deployment"}},
    "a separate target without a kubeconfig": {"config": {"targetClientConnection": {}}},
    "a kubeconfig without a separate target": {"target": {"kubeconfigSecret": "kubeconfig"}},
    "a kubeconfig for the own cluster": {"config": {"sourceClientConnection": {"kubeconfig": "/a"}}},
    "the part of a target that there is not": {"part": "target"},
    "a namespace beside namespaces": {"config": {"sourceClientConnection": {"namespace": "a", "namespaces": ["b"]}}},
    "two names of a controller": {"config": {"controllers": {"tokenInvalidator": {}, "tokenValidator": {}}}},
    "two names of a webhook": {"config": {"webhooks": {"tokenInvalidator": {}, "tokenValidator": {}}}},
    "two names of what cannot be switched off": {
        "config": {"controllers": {"managedResource": {}, "managedResources": {}}}
    },
    "half an ingress controller": {
        "config": {"controllers": {"networkPolicy": {"enabled": True, "ingressControllerSelector": {}}}}
    },
    "probes that nobody reaches": {"config": {"server": {"healthProbes": {"bindAddress": "127.0.0.1"}}}},
    "no word about what ManagedResources may deliver": {"managedResources": {}},
    "two words about what ManagedResources may deliver": {
        "managedResources": {
            "clusterAdmin": True,
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["*"]}],
        }
    },
    "a webhook that is not registered": {"webhooks": {"overrides": {"a.example.org": {"timeoutSeconds": 3}}}},
    "a failure that keeps pods of the process from starting": {
        "config": {"webhooks": {"podSchedulerName": {"enabled": True}}},
        "webhooks": {"overrides": {"*": {"failurePolicy": "Fail"}}},
    },
    "a timeout that API servers refuse": {"webhooks": {"overrides": {"*": {"timeoutSeconds": 31}}}},
    "a slip of the pen about certificates": {"config": {"server": {"webhooks": {"tls": {"provision": "sefl"}}}}},
    "a file that nothing mounts": {"config": self_provided(registrations="/etc/registrations.yaml")},
    "a Secret in another namespace": {"config": self_provided(secretNamespace="kube-system")},
    "a misspelt webhook": {"config": {"webhooks": {"secompProfile": {"enabled": True}}}},
    "a misspelt controller": {"config": {"controllers": {"networkPolicie": {"enabled": True}}}},
    "a path instead of certificates": {"webhooks": {"caBundle": "certificates/ca.crt"}},
    "a digest that is none": {"image": {"digest": "v1"}},
    "a limit that is no quantity": {"resources": {"limits": {"cpu": True}}},
}


WRONG_OF_EXTENSION: Final[Mapping[str, Mapping[str, Any]]] = {
    "a value that only the resource manager has": {"namePrefix": "a-"},
    "a switch that is a text": {"config": {"controllers": {"lifecycle": {"enabled": "yes"}}}},
    "probes that no kubelet reaches": {"config": {"server": {"healthProbes": {"bindAddress": "localhost"}}}},
}


@pytest.mark.parametrize(
    ("component", "values"),
    [
        *((RESOURCE_MANAGER, values) for values in WRONG.values()),
        *((RSYSLOG_RELP, values) for values in WRONG_OF_EXTENSION.values()),
        (SEED_EXTENSIONS, {}),
    ],
    ids=[*WRONG, *WRONG_OF_EXTENSION, "a process for no Seed"],
)
def test_wrong_values_are_refused_by_both(tmp_path: Path, component: str, values: Mapping[str, Any]) -> None:
    file = written(tmp_path, component, values)

    for rendering in (by_helm(file, chart=component), by_command(file, component=component)):
        assert (rendering.returncode, rendering.stdout) == (1, "")
        assert "rror: " in rendering.stderr


def test_registrations_follow_from_a_known_provision_alone_whatever_the_schema_lets_pass(tmp_path: Path) -> None:
    config = {"webhooks": {"seccompProfile": {"enabled": True}}}
    file = written(tmp_path, RESOURCE_MANAGER, {"config": config})
    slip = ("--set", "config.server.webhooks.tls.provision=Self")

    with_schema, without = by_helm(file, *slip), by_helm(file, *slip, "--skip-schema-validation")

    assert "/config/server/webhooks/tls/provision" in with_schema.stderr
    assert (without.returncode, without.stdout) == (1, "")
    assert 'provision must be one of self, cert-manager, files, got "Self"' in without.stderr
