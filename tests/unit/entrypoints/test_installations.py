"""What a ControllerInstallation would deliver: planned, and rendered, with a program that stands for Helm."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from hedgerow_adapters.charts.packing import packed
from tests.unit.adapters.charts.archived import program
from tests.unit.entrypoints.command_line import Ended, Hedgerow
from tests.unit.entrypoints.installation_landscape import PASSWORD, UID, landscape

RENDERED = """import json
values = json.load(open('values.json'))
os.makedirs(out + '/test/templates')
namespace = next(each.partition('=')[2] for each in arguments if each.startswith('--namespace='))
def write(name, **fields):
    document = {'apiVersion': 'v1', 'metadata': {'name': name, 'namespace': namespace}, **fields}
    open(out + '/test/templates/' + name + '.yaml', 'w').write('---\\n' + json.dumps(document))
version = next(each.partition('=')[2] for each in arguments if each.startswith('--kube-version='))
if version == 'v1.20.0': sys.exit('Error: incompatible with Kubernetes v1.20.0')
write('config', kind='ConfigMap', data={'foo': values['foo'], 'seed': values['gardener']['seed']['name']})
write('secret', kind='Secret', stringData={'password': values['password']})"""


@pytest.fixture
def settings(tmp_path: Path) -> str:
    """A configuration file that names the program."""
    path = tmp_path / "seed-extensions.yaml"
    configuration = {
        "apiVersion": "seedextensions.config.gardener.cloud/v1alpha1",
        "kind": "SeedExtensionsConfiguration",
        "seedConfig": {"metadata": {"name": "aws-eu1"}},
        "helm": {"binary": program(tmp_path / "helm", RENDERED)},
    }
    path.write_text(yaml.safe_dump(configuration))
    return str(path)


PLAN = ("plan", "controller-installation", "-f", "-", "--config")


NOTE = "note: charts are rendered for Kubernetes v1.36.0; --kube-version names another version\n"


def test_a_plan_shows_the_objects_that_are_delivered_and_no_secret(hedgerow: Hedgerow, settings: str) -> None:
    ended = hedgerow(*PLAN, settings, stdin=landscape())

    assert (ended.code, ended.err) == (2, f"{NOTE}3 to create, 1 to change\n")
    assert (
        "+  test_templates_config.yaml:\n+  - apiVersion: v1\n+    data:\n+      foo: bar\n+      seed: aws-eu1\n"
        in ended.out
    )
    assert "+      password: (redacted)\n" in ended.out
    assert PASSWORD not in ended.out


def with_history(hedgerow: Hedgerow, settings: str) -> str:
    """The landscape after its first installation, with a new registration."""
    before = hedgerow("simulate", *PLAN[1:], settings, "--all", "--show-secrets", stdin=landscape())
    assert before.code == 0
    kept = [each for each in yaml.safe_load_all(before.out) if each["kind"] != "ControllerRegistration"]
    new = [each for each in yaml.safe_load_all(landscape("new", "hunter3")) if each["kind"] == "ControllerRegistration"]
    return yaml.safe_dump_all([*kept, *new])


def test_a_plan_compares_the_objects_with_the_last(hedgerow: Hedgerow, settings: str) -> None:
    ended = hedgerow(*PLAN, settings, stdin=with_history(hedgerow, settings))

    assert ended.code == 2
    secret = ended.out.partition("# change ManagedResource")[0]
    changed = [line for line in secret.splitlines()[1:] if line[:1] in "+-"]
    assert [line.rpartition("-")[0] for line in changed[:4]] == [
        "--- last Secret garden/os-abcde",
        "+++ Secret garden/os-abcde",
        "-  name: os-abcde",
        "+  name: os-abcde",
    ]
    assert changed[4:] == ["-      foo: bar", "+      foo: new", "-      password: (redacted)",
                           "+      password: (redacted, changed)"]  # fmt: skip


def test_a_plan_shows_secrets_if_asked(hedgerow: Hedgerow, settings: str) -> None:
    ended = hedgerow(*PLAN, settings, "--show-secrets", stdin=landscape())

    assert f"+      password: {PASSWORD}\n" in ended.out


def test_with_secrets_a_plan_in_json_has_objects_as_they_are_created(hedgerow: Hedgerow, settings: str) -> None:
    def secret_in(ended: Ended) -> Any:
        (action,) = (each for each in json.loads(ended.out)["actions"] if each["kind"] == "Secret")
        return action["object"]["data"]["test_templates_secret.yaml"]

    hidden = secret_in(hedgerow(*PLAN, settings, "-o", "json", stdin=landscape()))
    whole = secret_in(hedgerow(*PLAN, settings, "-o", "json", "--show-secrets", stdin=landscape()))

    assert hidden[0]["stringData"] == {"password": "(redacted)"}
    assert PASSWORD in base64.b64decode(whole).decode()


def test_without_helm_a_plan_says_so_in_one_sentence(hedgerow: Hedgerow, settings: str, tmp_path: Path) -> None:
    (tmp_path / "helm").unlink()

    ended = hedgerow(*PLAN, settings, stdin=landscape())

    assert ended.code == 1
    assert ended.err.count("error: ") == 1
    assert "helm cannot be run: it is not installed, or not executable\n" in ended.err


def test_without_a_configuration_the_only_seed_counts(hedgerow: Hedgerow) -> None:
    one = hedgerow("render", "controller-installation", "-f", "-", "--values", stdin=landscape())
    two = hedgerow("render", "controller-installation", "-f", "-", "--values", stdin=landscape(other=""))

    assert yaml.safe_load(one.out)["gardener"]["seed"]["name"] == "aws-eu1"
    assert (two.code, two.out) == (1, "")
    assert "there are 2 Seeds: give a --config whose seedConfig.metadata.name is one of them" in two.err


RENDER = ("render", "controller-installation", "-f", "-", "--config")


def test_the_delivered_objects_are_printed(hedgerow: Hedgerow, settings: str) -> None:
    ended = hedgerow(*RENDER, settings, stdin=landscape())

    assert (ended.code, ended.err) == (0, NOTE)
    config, secret = yaml.safe_load_all(ended.out)
    assert config["data"] == {"foo": "bar", "seed": "aws-eu1"}
    assert config["metadata"] == {"name": "config", "namespace": "extension-os-abcde"}
    assert secret["stringData"] == {"password": PASSWORD}


def test_what_is_delivered_already_is_printed_as_well(hedgerow: Hedgerow, settings: str) -> None:
    before = hedgerow("simulate", *PLAN[1:], settings, "--all", "--show-secrets", stdin=landscape())

    again = hedgerow(*RENDER, settings, "-o", "json", stdin=before.out)

    assert [each["kind"] for each in json.loads(again.out)["items"]] == ["ConfigMap", "Secret"]


def test_the_values_are_printed_without_helm(hedgerow: Hedgerow, settings: str, tmp_path: Path) -> None:
    (tmp_path / "helm").unlink()

    shown = hedgerow(*RENDER, settings, "--values", stdin=landscape())
    as_json = hedgerow(*RENDER, settings, "--values", "-o", "json", stdin=landscape())

    values = yaml.safe_load(shown.out)
    assert (shown.code, shown.err) == (0, "")
    assert (values["foo"], values["gardener"]["garden"]["identifier"]) == ("bar", UID)
    assert json.loads(as_json.out) == values


def test_why_a_chart_cannot_be_rendered_is_told(hedgerow: Hedgerow, settings: str, tmp_path: Path) -> None:
    program(tmp_path / "helm", "sys.exit('Error: x')")

    ended = hedgerow(*RENDER, settings, stdin=landscape())

    assert (ended.code, ended.out) == (1, "")
    assert ended.err.endswith("ControllerInstallation os-abcde: Chart rendering process failed: x\n")


REFUSED = "Chart rendering process failed: incompatible with Kubernetes v1.20.0"


@pytest.mark.parametrize("command", [RENDER, PLAN, ("simulate", *PLAN[1:]), ("simulate", "--for", "1m", *PLAN[1:])])
def test_charts_are_rendered_for_the_version_that_is_named(
    command: tuple[str, ...], hedgerow: Hedgerow, settings: str
) -> None:
    named = hedgerow(*command, settings, "--kube-version", "1.20", stdin=landscape())

    assert named.code == 1
    assert REFUSED in named.err
    assert "note: charts" not in named.err


def test_time_passes_over_installations_for_the_version_that_is_assumed(hedgerow: Hedgerow, settings: str) -> None:
    ended = hedgerow("simulate", "--for", "1m", *PLAN[1:], settings, stdin=landscape())

    assert ended.code == 0
    assert NOTE in ended.err
    assert "create ManagedResource" in ended.out


def test_what_is_no_version_is_refused(hedgerow: Hedgerow, settings: str) -> None:
    ended = hedgerow(*RENDER, settings, "--kube-version", "1", stdin=landscape())

    assert (ended.code, ended.out) == (1, "")
    assert "'1' is no version such as v1.36.0" in ended.err


def test_a_cluster_tells_its_version_itself(hedgerow: Hedgerow) -> None:
    ended = hedgerow("plan", "controller-installation", "--kubeconfig", "none", "--kube-version", "1.30")

    assert "--kube-version is for -f: a cluster tells its version itself" in ended.err


EXAMPLES = Path(__file__).parents[3] / "examples"


def test_the_chart_of_the_example_is_the_folder_beside_it() -> None:
    documents = yaml.safe_load_all((EXAMPLES / "controller-registration" / "garden.yaml").read_text("utf-8"))
    (deployment,) = (each for each in documents if each["kind"] == "ControllerDeployment")

    archive = gzip.decompress(base64.b64decode(deployment["providerConfig"]["chart"]))

    assert archive == gzip.decompress(packed(EXAMPLES / "extension-chart"))


def test_the_example_is_planned_and_its_installations_see_values(hedgerow: Hedgerow, tmp_path: Path) -> None:
    example = ("-f", str(EXAMPLES / "controller-registration"))
    new = tmp_path / "new.yaml"
    new.write_text(hedgerow("simulate", "controller-registration", *example).out, "utf-8")

    ended = hedgerow("render", "controller-installation", *example, "-f", str(new), "--values")

    assert ended.code == 0
    values = [*yaml.safe_load_all(ended.out)]
    assert [each["replicas"] for each in values] == [2, 2, 2, 2]
    assert {each["gardener"]["seed"]["clusterIdentity"] for each in values} == {"seed-local"}


def without_seed(text: str) -> str:
    return yaml.safe_dump_all(each for each in yaml.safe_load_all(text) if each["kind"] != "Seed")


@pytest.mark.parametrize("command", ["plan", "render"])
def test_without_a_seed_nothing_can_be_told_of_an_installation(command: str, hedgerow: Hedgerow) -> None:
    ended = hedgerow(command, "controller-installation", "-f", "-", stdin=without_seed(landscape()))

    problem = 'ControllerInstallation os-abcde: spec.seedRef.name: Seed "aws-eu1" does not exist'
    assert (ended.code, ended.out) == (1, "")
    assert f"error: <stdin>:4: {problem}\n" in ended.err


@pytest.mark.parametrize("command", ["plan", "render"])
def test_installations_for_other_seeds_are_noted(command: str, hedgerow: Hedgerow) -> None:
    text = landscape().replace("seedRef:\n    name: aws-eu1", "seedRef:\n    name: other")
    ended = hedgerow(command, "controller-installation", "-f", "-", stdin=text)

    assert (ended.code, ended.out) == (0, "")
    assert "note: ControllerInstallation os-abcde is for Seed other, planned for is aws-eu1\n" in ended.err


@pytest.mark.parametrize("command", ["plan", "render"])
def test_files_without_installations_are_noted(command: str, hedgerow: Hedgerow) -> None:
    ended = hedgerow(command, "controller-installation", "-f", "-", stdin=yaml.safe_dump(CLUSTER_ROLE))

    assert ended.code == 0
    assert "note: there is no ControllerInstallation\n" in ended.err


CLUSTER_ROLE = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "a"}}
