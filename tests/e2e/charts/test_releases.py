"""Releases of the charts on a real API server: it takes every object, upgrades keep what is there."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from hedgerow_entrypoints.components import RESOURCE_MANAGER
from tests.control_plane import PATIENCE, ControlPlane, wait_until
from tests.control_plane.kubectl import KubectlError
from tests.e2e.charts.foreign_definitions import foreign_definitions
from tests.e2e.charts.helm import CASES, CHART_FOLDERS, all_at_once, case_values, helm, written
from tests.e2e.resource_manager import run_here
from tests.golden.installation.chart import CASES as GOLDEN
from tests.golden.installation.chart import CHARTS

PREVIOUS = Path(__file__).parent / "previous_version"
HOME = "garden"
DEFINITION = "managedresources.resources.gardener.cloud"
CHOICE = ("--set", "managedResources.clusterAdmin=true")


@pytest.fixture(scope="module")
def cluster(servers: Path) -> Iterator[ControlPlane]:
    """An API server of these tests alone, with the kinds of Prometheus' operator, cert-manager and autoscalers."""
    with ControlPlane() as running:
        for text in foreign_definitions():
            running.kubectl("create", "-f", "-", input=text)
        running.kubectl("create", "namespace", HOME)
        wait_until(partial(serves_all, running), timeout=PATIENCE, otherwise=lambda: AssertionError("not served"))
        yield running


def serves_all(cluster: ControlPlane) -> bool:
    """Whether the API server serves the kinds that others define."""
    try:
        cluster.kubectl(
            "get", "certificates,issuers,servicemonitors,podmonitors,prometheusrules,verticalpodautoscalers", "-A"
        )
    except KubectlError:
        return False
    return True


def rendered(component: str, *more: str) -> list[dict[str, Any]]:
    """What Helm renders, tests left out."""
    options = ("--namespace", HOME, "--kube-version", "1.36.0", "--skip-tests")
    text = helm("template", "release", str(CHART_FOLDERS / component), *options, *more)
    return [each for each in yaml.safe_load_all(text) if each]


def by_key(manifests: list[dict[str, Any]]) -> dict[tuple[str, str, str], Any]:
    found = {}
    for each in manifests:
        key = (each["kind"], each["metadata"].get("namespace", ""), each["metadata"]["name"])
        assert key not in found
        found[key] = {**each, "data": None} if each["kind"] == "ConfigMap" else each
    return found


def make_namespaces(cluster: ControlPlane, manifests: list[dict[str, Any]]) -> None:
    for namespace in sorted({each["metadata"].get("namespace", HOME) for each in manifests}):
        made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        cluster.kubectl("apply", "-f", "-", input=yaml.safe_dump(made))


def takes_all(cluster: ControlPlane, manifests: list[dict[str, Any]]) -> None:
    """Ask whether objects would be stored; unknown fields are errors."""
    make_namespaces(cluster, manifests)

    taken = cluster.kubectl(
        *("apply", "--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict", "-f", "-"),
        input=yaml.safe_dump_all(manifests),
    )

    assert taken.count("serverside-applied (server dry run)") == len(manifests)


@pytest.mark.parametrize(("component", "case"), GOLDEN, ids=lambda part: getattr(part, "name", part))
def test_an_api_server_takes_each_golden_installation(cluster: ControlPlane, component: str, case: Path) -> None:
    takes_all(cluster, rendered(component, "-f", str(case / "values.yaml")))


@pytest.mark.parametrize("component", CASES)
def test_all_values_at_once_make_what_the_command_prints_and_an_api_server_takes(
    cluster: ControlPlane, component: str, tmp_path: Path
) -> None:
    files = ("-f", str(case_values(component)), "-f", str(written(tmp_path / "all.yaml", all_at_once(component))))
    included = ["--include-crds"] if CHARTS[component].declared.definitions else []
    printed = run_here("install", component, "--namespace", HOME, *files, *included)
    assert printed.returncode == 0, printed.stderr

    made = rendered(component, *files)

    assert by_key(made) == by_key(list(yaml.safe_load_all(printed.stdout)))
    kinds = {each["kind"] for each in made}
    assert {"NetworkPolicy", "PodMonitor", "PrometheusRule", "ServiceMonitor", "VerticalPodAutoscaler"} <= kinds
    takes_all(cluster, made)


@pytest.fixture
def previous(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A chart that renders what the previous version of a component's chart did, and has its definitions outside."""
    component = str(request.param)
    folder = tmp_path / "previous" / component
    (folder / "templates").mkdir(parents=True)
    (folder / "crds").mkdir()
    about = {"apiVersion": "v2", "name": component, "version": "0.0.1"}
    written(folder / "Chart.yaml", about)
    (folder / "objects.yaml").write_bytes((PREVIOUS / f"{component}.yaml").read_bytes())
    (folder / "templates" / "all.yaml").write_text('{{ .Files.Get "objects.yaml" }}')
    for name, text in CHARTS[component].files().items():
        if name.startswith("files/definitions/"):
            definition = yaml.safe_load(text)
            del definition["spec"]["versions"][0]["additionalPrinterColumns"]
            written(folder / "crds" / Path(name).name, definition)
    return folder


@pytest.mark.parametrize("previous", CASES, indirect=True)
def test_a_release_of_the_previous_chart_can_be_upgraded(cluster: ControlPlane, previous: Path) -> None:
    component = previous.name
    kubeconfig, release = cluster.kubeconfig(), (component, "--namespace", HOME)
    make_namespaces(cluster, list(yaml.safe_load_all((PREVIOUS / f"{component}.yaml").read_text(encoding="utf-8"))))
    helm("install", *release, str(previous), kubeconfig=kubeconfig)
    try:
        before = yaml.safe_load(cluster.kubectl("get", "deployments", "-n", HOME, "-o", "yaml"))["items"]
        chart = str(CHART_FOLDERS / component)

        upgrade = ("upgrade", *release, chart, "--take-ownership", "-f", str(case_values(component)))
        helm(*upgrade, kubeconfig=kubeconfig)

        after = yaml.safe_load(cluster.kubectl("get", "deployments", "-n", HOME, "-o", "yaml"))["items"]
        assert [each["metadata"]["uid"] for each in before] == [each["metadata"]["uid"] for each in after]
        (labels,) = ({**each["spec"]["template"]["metadata"]["labels"]} for each in after)
        assert labels["app.kubernetes.io/part-of"] == "hedgerow"
        for custom in CHARTS[component].declared.definitions:
            stored = yaml.safe_load(cluster.kubectl("get", "crd", str(custom.resource), "-o", "yaml"))
            assert stored["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
            assert stored["spec"]["versions"][0]["additionalPrinterColumns"]
    finally:
        helm("uninstall", *release, kubeconfig=kubeconfig)
    for custom in CHARTS[component].declared.definitions:
        cluster.kubectl("delete", "crd", str(custom.resource))


@pytest.mark.parametrize(
    ("setting", "is_there", "stays"),
    [("crds.keep=true", True, True), ("crds.keep=false", True, False), ("crds.enabled=false", False, False)],
)
def test_definitions_go_with_a_release_only_on_demand(
    cluster: ControlPlane, setting: str, *, is_there: bool, stays: bool
) -> None:
    kubeconfig, release = cluster.kubeconfig(), ("definitions", "--namespace", HOME)

    def definitions() -> list[str]:
        return cluster.kubectl("get", "crd", "--ignore-not-found", DEFINITION, "-o", "name").split()

    chart = str(CHART_FOLDERS / RESOURCE_MANAGER)
    helm("install", *release, chart, *CHOICE, "--set", setting, kubeconfig=kubeconfig)
    assert bool(definitions()) is is_there

    helm("uninstall", *release, "--wait", kubeconfig=kubeconfig)
    assert bool(definitions()) is stays

    if stays:
        cluster.kubectl("delete", "crd", DEFINITION)


def test_one_release_of_several_in_a_cluster_owns_the_definition(cluster: ControlPlane) -> None:
    kubeconfig, chart = cluster.kubeconfig(), str(CHART_FOLDERS / RESOURCE_MANAGER)
    one, two = (("several", "--namespace", each) for each in ("several-one", "several-two"))
    helm("install", *one, "--create-namespace", chart, *CHOICE, kubeconfig=kubeconfig)
    try:
        with pytest.raises(AssertionError, match="invalid ownership metadata"):
            helm("install", *two, chart, *CHOICE, kubeconfig=kubeconfig)

        another = ("install", *two, "--create-namespace", chart, *CHOICE, "--set", "crds.enabled=false")
        helm(*another, kubeconfig=kubeconfig)
        helm("uninstall", *two, "--wait", kubeconfig=kubeconfig)

        assert DEFINITION in cluster.kubectl("get", "crd", DEFINITION, "-o", "name")
    finally:
        helm("uninstall", *one, "--wait", kubeconfig=kubeconfig)
        cluster.kubectl("delete", "crd", DEFINITION)
