"""`hedgerow install`: which objects it prints for which cluster, and what it refuses."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from hedgerow.resource_manager import installation as resource_manager
from hedgerow_entrypoints.cli.command import hedgerow
from tests.golden.installation.chart import CASES, CHARTS, Chart
from tests.golden.installation.table import AUTHORITY
from tests.unit.entrypoints.install.test_registration import NO_AUTHORITY

TARGET: dict[str, Any] = {"config": {"targetClientConnection": {}}}
TOO_EARLY = (
    "note: API servers refuse what they ask webhooks about until the process is ready: --part registrations "
    "prints the registrations alone, --part {} the rest\n"
)
KUBECONFIG: dict[str, Any] = {"target": {"kubeconfigSecret": "kubeconfig"}}
PRIVATE_KEY = "-----BEGIN PRIVATE KEY-----\nbm9uZQ==\n-----END PRIVATE KEY-----\n"
EVERYTHING: dict[str, Any] = {"managedResources": {"clusterAdmin": True}}
LITTLE: dict[str, Any] = {"managedResources": {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["*"]}]}}


def install(folder: Path, values: dict[str, Any], *arguments: str) -> tuple[int, str, str]:
    file = folder / "values.yaml"
    file.write_text(yaml.safe_dump(EVERYTHING | values), encoding="utf-8")
    done = CliRunner().invoke(hedgerow, ["install", "resource-manager", "-f", str(file), *arguments])
    return done.exit_code, done.stdout, done.stderr


def self_provided(**own: str) -> dict[str, Any]:
    """Values with a webhook whose certificate the process makes itself."""
    tls = {"provision": "self", "self": own}
    return {"config": {"webhooks": {"seccompProfile": {"enabled": True}}, "server": {"webhooks": {"tls": tls}}}}


def kinds(output: str) -> set[str]:
    return {each["kind"] for each in yaml.safe_load_all(output)}


def test_a_separate_target_gets_roles_and_registrations_and_no_pods(tmp_path: Path) -> None:
    webhooks = {"webhooks": {"seccompProfile": {"enabled": True}}}
    values = {"config": {**TARGET["config"], **webhooks}, **KUBECONFIG}

    code, source, talk = install(tmp_path, values)
    assert (code, talk) == (0, "")
    assert "Deployment" in kinds(source)
    assert "MutatingWebhookConfiguration" not in kinds(source)

    code, target, talk = install(tmp_path, values, "--part", "target")
    assert (code, talk) == (0, "")
    assert kinds(target) == {"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "MutatingWebhookConfiguration"}


@pytest.mark.parametrize("part", ["source", "all", "process", "target", "access", "registrations"])
def test_definitions_are_left_out_unless_somebody_asks_for_them(tmp_path: Path, part: str) -> None:
    values = {**TARGET, **KUBECONFIG}

    _, without, _ = install(tmp_path, values, "--part", part)
    code, including, talk = install(tmp_path, values, "--part", part, "--include-crds")

    more = {"CustomResourceDefinition"} if part in {"source", "all", "process"} else set()
    assert (code, talk) == (0, "")
    assert (kinds(including) - kinds(without), kinds(without) - kinds(including)) == (more, set())


@pytest.mark.parametrize(("component", "case"), CASES, ids=lambda part: getattr(part, "name", part))
def test_the_steps_of_an_installation_are_its_parts(component: str, case: Path) -> None:
    def printed(part: str) -> list[dict[str, Any]]:
        asked = ["install", component, "-f", str(case / "values.yaml"), "--part", part]
        done = CliRunner().invoke(hedgerow, asked)
        assert done.exit_code == 0, done.stderr
        return [each for each in yaml.safe_load_all(done.stdout) if each]

    process, registrations = printed("process"), printed("registrations")

    assert {each["kind"] for each in registrations} <= {
        "MutatingWebhookConfiguration",
        "ValidatingWebhookConfiguration",
    }
    if "targetClientConnection:" in (case / "values.yaml").read_text(encoding="utf-8"):
        assert printed("source") == process
        assert printed("target") == [*printed("access"), *registrations]
        assert printed("all") == [*process, *printed("access"), *registrations]
    else:
        assert printed("source") == [*process, *registrations]


def test_registrations_whose_server_nobody_can_trust_are_warned_of(tmp_path: Path) -> None:
    webhooks = {"seccompProfile": {"enabled": True}}
    enabled = {"config": {"webhooks": webhooks, "server": {"webhooks": {"tls": {"provision": "files"}}}}}

    assert install(tmp_path, enabled)[2] == NO_AUTHORITY + TOO_EARLY.format("process")
    assert install(tmp_path, enabled, "--part", "registrations")[2] == NO_AUTHORITY
    assert install(tmp_path, enabled, "--part", "registrations", "--set", f"webhooks.caBundle={AUTHORITY}")[2] == ""
    assert install(tmp_path, enabled, "--part", "process")[2] == ""
    assert install(tmp_path, enabled, "--set", "config.server.webhooks.tls.provision=self")[2] == ""
    assert install(tmp_path, {})[2] == ""


@pytest.mark.parametrize(
    ("provision", "value", "said"),
    [
        (
            "self",
            {"certificateSecret": "mine"},
            "warning: webhooks.certificateSecret does nothing with provision: self",
        ),
        ("self", {"issuer": {"name": "mine"}}, "warning: webhooks.issuer does nothing with provision: self"),
        ("files", {"issuer": {"name": "mine"}}, "warning: webhooks.issuer does nothing with provision: files"),
        ("files", {"certificateSecret": "mine"}, ""),
        ("cert-manager", {"certificateSecret": "mine", "issuer": {"name": "mine"}}, ""),
    ],
)
def test_values_that_do_nothing_are_warned_of(tmp_path: Path, provision: str, value: dict[str, Any], said: str) -> None:
    tls = {"server": {"webhooks": {"tls": {"provision": provision}}}}
    config = {"webhooks": {"seccompProfile": {"enabled": True}}, **tls}

    code, _, talk = install(tmp_path, {"config": config, "webhooks": value}, "--part", "process")

    assert code == 0
    assert talk.startswith(said)
    assert bool(talk) is bool(said)


@pytest.mark.parametrize("provision", ["files", "cert-manager"])
def test_registrations_that_come_together_with_their_server_are_noted(tmp_path: Path, provision: str) -> None:
    webhooks = {"seccompProfile": {"enabled": True}}
    config = {"webhooks": webhooks, "server": {"webhooks": {"tls": {"provision": provision}}}}
    of_one = {"config": config, "webhooks": {"caBundle": AUTHORITY}}
    of_two = {**of_one, "config": {**config, **TARGET["config"]}, **KUBECONFIG}

    assert install(tmp_path, of_one)[2] == TOO_EARLY.format("process")
    assert install(tmp_path, of_two, "--part", "source")[2] == ""
    assert install(tmp_path, of_two, "--part", "target")[2] == TOO_EARLY.format("access")


@pytest.mark.parametrize(("setting", "kind"), [([], "ClusterRoleBinding"), (["clusterWide=false"], "RoleBinding")])
def test_what_is_in_no_namespace_is_delivered_unless_somebody_forbids_it(
    tmp_path: Path, setting: list[str], kind: str
) -> None:
    values = {**LITTLE, "config": {"sourceClientConnection": {"namespaces": ["shop"]}}}
    settings = [each for name in setting for each in ("--set", f"managedResources.{name}")]

    _, output, _ = install(tmp_path, values, *settings)

    bindings = [each for each in yaml.safe_load_all(output) if "roleRef" in each]
    about = "gardener-resource-manager:managed-objects:garden"
    assert [each["kind"] for each in bindings if each["roleRef"]["name"] == about] == [kind]


def test_what_nobody_asks_a_process_needs_no_permission(tmp_path: Path) -> None:
    webhooks = {"crdDeletionProtection": {"enabled": True}}

    _, alone, _ = install(tmp_path, {"config": {"webhooks": webhooks}})
    _, beside, _ = install(tmp_path, {"config": {**TARGET["config"], "webhooks": webhooks}, **KUBECONFIG})

    assert "backupbuckets" in alone
    assert "backupbuckets" not in beside


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        (TARGET, "target.kubeconfigSecret must name a Secret"),
        (KUBECONFIG, "target.kubeconfigSecret leads nowhere"),
        ({"config": {"sourceClientConnection": {"kubeconfig": "/a"}}}, "which nothing mounts"),
        (
            {"managedResources": {}},
            "error: values: managedResources: nothing says what",
        ),
        ({"managedResources": {"clusterAdmin": True, **LITTLE["managedResources"]}}, "leave out rules"),
        ({"managedResources": {"clusterAdmin": True, "clusterWide": False}}, "leave out rules and clusterWide"),
        ({"part": "target"}, "there is no separate target cluster"),
        ({"part": "access"}, "there is no separate target cluster"),
        ({"config": {"logLevel": "loud"}}, 'config: logLevel: Unsupported value: "loud"'),
        ({"namePrefix": "-"}, "values: namePrefix"),
        (
            {"config": {"webhooks": {"secompProfile": {"enabled": True}}}},
            "error: config: webhooks.secompProfile: is an unknown field; did you mean seccompProfile?",
        ),
        (
            {"config": {"controllers": {"networkPolicie": {}}}},
            "config: controllers.networkPolicie: is an unknown",
        ),
        (
            {"webhooks": {"overrides": {"foo": {}}}},
            'webhooks.overrides: no webhook "foo" is registered, as no webhook is enabled',
        ),
        ({"webhooks": {"caBundle": "certificates/ca.crt"}}, "values: webhooks.caBundle: holds no certificate in PEM"),
        ({"webhooks": {"caBundle": AUTHORITY + PRIVATE_KEY}}, "values: webhooks.caBundle: holds a private key"),
        ({"config": {"server": {"healthProbes": {"bindAddress": "::1"}}}}, "must not be a loopback address"),
        (self_provided(registrations="/a"), "config.server.webhooks.tls.self.registrations must be left out"),
        (self_provided(secretNamespace="a"), "config.server.webhooks.tls.self.secretNamespace must be left out"),
        (
            {"config": {"server": {"metrics": {"port": 99999}}}},
            "error: config: server.metrics.port: Invalid value: 99999: must be between 1 and 65535",
        ),
    ],
    ids=[
        *(
            "no kubeconfig",
            "no connection",
            "no mount",
            "no choice",
            "two choices",
            "a half choice",
            "no target",
            "no access",
        ),
        *(
            "configuration",
            "prefix",
            "webhook",
            "controller",
            "override",
            "path",
            "private key",
            "probes",
            "file",
            "namespace of the Secret",
            "port",
        ),
    ],
)
def test_what_cannot_work_is_refused(tmp_path: Path, values: dict[str, Any], problem: str) -> None:
    code, output, talk = install(tmp_path, values)

    assert (code, output) == (1, "")
    assert problem in talk


def test_registrations_that_could_block_the_process_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource_manager, "skip_label", lambda webhook: f"{webhook}.example.org/other")

    code, output, talk = install(tmp_path, {"config": {"webhooks": {"highAvailabilityConfig": {"enabled": True}}}})

    assert (code, output) == (1, "")
    assert talk == (
        'error: webhook "high-availability-config.resources.gardener.cloud" could block '
        "Deployment garden/gardener-resource-manager, without which the process does not run: its rule for CREATE, "
        "UPDATE of deployments, statefulsets fails while no replica answers\n"
    )


def test_what_is_odd_in_the_component_configuration_is_a_warning(tmp_path: Path) -> None:
    code, output, talk = install(tmp_path, {"config": {"logLvel": "debug"}})

    assert (code, talk) == (0, "warning: config: logLvel: unknown field, ignored; did you mean logLevel?\n")
    assert "Deployment" in kinds(output)


def test_the_namespace_must_be_the_name_of_one(tmp_path: Path) -> None:
    code, _, talk = install(tmp_path, {}, "-n", "No Namespace")

    assert code != 0
    assert "cannot be the name of a namespace" in talk


@pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)
def test_whoever_speaks_of_a_resource_knows_whether_it_is_in_namespaces(chart: Chart) -> None:
    said: dict[tuple[str, str], set[bool]] = {}
    for switch in (*chart.controllers, *chart.webhooks):
        for each in chart.installed({**switch.section, "leaderElection": {"leaderElect": True}}).permissions:
            said.setdefault((each.group, each.plural.partition("/")[0]), set()).add(each.namespaced)

    assert {resource for resource, answers in said.items() if len(answers) > 1} == set()


def test_each_component_takes_its_own_values_and_options(tmp_path: Path) -> None:
    of_gardener = tmp_path / "gardener.yaml"
    of_gardener.write_text(yaml.safe_dump({"gardener": {"seed": {"name": "aws", "labels": None}}}), encoding="utf-8")

    def code(*arguments: str) -> int:
        return CliRunner().invoke(hedgerow, ["install", *arguments]).exit_code

    assert code("rsyslog-relp", "-f", str(of_gardener)) == 0
    assert code("resource-manager", "-f", str(of_gardener)) != 0
    assert code("rsyslog-relp", "--part", "target") != 0
    assert code("resource-manager", "--part", "source", "--set", "managedResources.clusterAdmin=true") == 0
    assert code("operator") != 0
