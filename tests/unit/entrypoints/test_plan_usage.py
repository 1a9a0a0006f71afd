from pathlib import Path

import pytest

from hedgerow_entrypoints.cli.controllers import NAMES
from tests.unit.entrypoints.command_line import (
    CART,
    CART_TABLE,
    NAMESPACE,
    Hedgerow,
)

PLAN = ("plan", "networkpolicy")
CHOICES = ",\n\t".join(NAMES)
USAGE = "Try 'hedgerow plan --help' for help.\n"


# How it is called.


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), f"Missing argument 'CONTROLLER...'. Choose from:\n\t{CHOICES}"),
        (("garden", "-f", "-"), "Invalid value for 'CONTROLLER...': 'garden' is no controller"),
        (("networkpolicy",), "give the objects either by -f or by --kubeconfig/--context"),
        (
            ("networkpolicy", "-f", "-", "--kubeconfig", "x"),
            "give the objects either by -f or by --kubeconfig/--context",
        ),
        (("networkpolicy", "-f", "-", "--context", "x"), "give the objects either by -f or by --kubeconfig/--context"),
        (("networkpolicy", "--outptu", "table"), "No such option '--outptu'. Did you mean '--output'?"),
        (
            ("networkpolicy", "-f", "-", "-o", "xml"),
            "Invalid value for '-o' / '--output': 'xml' is not one of 'diff', 'table', 'yaml', 'json'.",
        ),
    ],
    ids=["no-controller", "unknown-controller", "no-source", "both", "both-by-context", "unknown-option", "format"],
)
def test_wrong_usage_is_an_error_and_not_pending_changes(
    arguments: tuple[str, ...], sentence: str, hedgerow: Hedgerow
) -> None:
    assert hedgerow("plan", *arguments) == (1, "", f"error: {sentence}\n{USAGE}")


def test_a_controller_named_twice_plans_once(hedgerow: Hedgerow) -> None:
    ended = hedgerow("plan", "networkpolicy", "networkpolicy", "-f", "-", "-o", "table", stdin=NAMESPACE + CART)

    assert ended.out == CART_TABLE


# Clusters that are refused before anybody connects.

KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: seed
contexts: [{name: seed, context: {cluster: seed, user: admin}}]
clusters: [{name: seed, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: admin, user: {USER}}]
"""
TOKEN = KUBECONFIG.replace("USER", "token: secret")


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        (None, (), "kubeconfig kubeconfig: cannot be read: No such file or directory"),
        ("kind: [", (), "kubeconfig kubeconfig: not YAML: line 1, column 8"),
        (TOKEN, ("--context", "shoot"), 'kubeconfig kubeconfig: no context "shoot", there are: seed'),
        (
            KUBECONFIG.replace("USER", "exec: {command: aws}"),
            (),
            (
                'kubeconfig kubeconfig: exec configurations are not supported (user "admin"), these are the valid '
                "fields: [client-certificate-data client-key-data token username password tokenFile]"
            ),
        ),
    ],
    ids=["missing", "not-yaml", "without-the-context", "exec"],
)
def test_an_unusable_kubeconfig_is_said_in_a_sentence(
    text: str | None, options: tuple[str, ...], sentence: str, hedgerow: Hedgerow, folder: Path
) -> None:
    if text is not None:
        (folder / "kubeconfig").write_text(text)

    assert hedgerow(*PLAN, "--kubeconfig", "kubeconfig", *options) == (1, "", f"error: {sentence}\n")


def test_a_context_alone_means_the_kubeconfig_that_kubectl_would_take(
    hedgerow: Hedgerow, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", "mine")
    assert (
        hedgerow(*PLAN, "--context", "c").err == "error: kubeconfig mine: cannot be read: No such file or directory\n"
    )

    monkeypatch.delenv("KUBECONFIG")
    monkeypatch.setenv("HOME", str(folder))
    default = folder / ".kube" / "config"
    assert hedgerow(*PLAN, "--context", "c").err == (
        f"error: kubeconfig {default}: cannot be read: No such file or directory\n"
    )


def test_several_kubeconfigs_are_refused(hedgerow: Hedgerow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "one:two")

    assert hedgerow(*PLAN, "--context", "seed") == (
        1,
        "",
        "error: KUBECONFIG names several files, which are not merged here: give one by --kubeconfig\n",
    )


CONFIG = """\
apiVersion: resourcemanager.config.gardener.cloud/v1alpha1
kind: ResourceManagerConfiguration
sourceClientConnection: {kubeconfig: source}
"""


@pytest.mark.parametrize(
    ("text", "options", "tried"),
    [
        (CONFIG, (), "source"),
        (f"{CONFIG}targetClientConnection: {{kubeconfig: target}}\n", (), "target"),
        (CONFIG, ("--kubeconfig", "flag"), "flag"),
        (CONFIG, ("--context", "c"), "environment"),
    ],
    ids=["the only cluster", "the target", "the option before it", "another context"],
)
def test_the_configuration_names_the_cluster_where_no_option_does(
    *,
    text: str,
    options: tuple[str, ...],
    tried: str,
    hedgerow: Hedgerow,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (folder / "config.yaml").write_text(text)
    monkeypatch.setenv("KUBECONFIG", "environment")

    ended = hedgerow(*PLAN, "--config", "config.yaml", *options)

    assert ended == (1, "", f"error: kubeconfig {tried}: cannot be read: No such file or directory\n")


def test_beside_files_the_cluster_of_a_configuration_does_not_matter(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "config.yaml").write_text(CONFIG)

    ended = hedgerow(*PLAN, "--config", "config.yaml", "-f", "-", "-o", "table", stdin=NAMESPACE + CART)

    assert ended.out == CART_TABLE


def test_a_configuration_without_a_cluster_is_not_enough(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "config.yaml").write_text(CONFIG.replace("source}", "''}"))

    assert "give the objects either by -f" in hedgerow(*PLAN, "--config", "config.yaml").err
