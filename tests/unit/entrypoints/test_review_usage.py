import json
from itertools import product
from pathlib import Path

import pytest

from hedgerow_entrypoints.cli.review.panels import MODES, PURPOSES, whole_panel
from hedgerow_entrypoints.cli.review.requests import REVIEWED
from tests.unit.entrypoints.command_line import Hedgerow

USAGE = "Try 'hedgerow review --help' for help.\n"
POD = """\
apiVersion: v1
kind: Pod
metadata: {generateName: web-}
spec: {containers: [{name: web, image: web}]}
---
"""
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n---\n"
RECORDED = """\
apiVersion: admission.k8s.io/v1
kind: AdmissionReview
request:
  kind: {version: v1, kind: Pod}
  resource: {version: v1, resource: pods}
  operation: CREATE
  namespace: default
  object: {apiVersion: v1, kind: Pod, metadata: {generateName: web-}, spec: {containers: [{name: web, image: web}]}}
---
"""
COLLECTION = """\
apiVersion: admission.k8s.io/v1
kind: AdmissionReview
request:
  kind: {group: extensions.gardener.cloud, version: v1alpha1, kind: Infrastructure}
  resource: {group: extensions.gardener.cloud, version: v1alpha1, resource: infrastructures}
  operation: DELETE
  namespace: shop
  oldObject: {metadata: {name: shoot, labels: 5}}
"""
BASTION = """\
apiVersion: extensions.gardener.cloud/v1alpha1
kind: Bastion
metadata: {name: door, namespace: shop}
"""
NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: one}\nspec: "


def test_every_webhook_can_be_named() -> None:
    assert {webhook.name for webhook in whole_panel(None, "api.example.org", None).webhooks.values()} == set(PURPOSES)


@pytest.mark.parametrize("mode", MODES)
def test_every_object_that_a_webhook_is_registered_for_can_be_reviewed(mode: str) -> None:
    registered = {
        (group, version, resource)
        for entry in whole_panel(None, "api.example.org", mode).registrations.entries
        for rule in entry.rules
        for group, version, resource in product(rule.groups, rule.versions, rule.resources)
    }

    reviewed = {(each.group, version, each.plural) for each in REVIEWED for version in (each.version, "*")}
    assert registered - reviewed == set()


def test_help_names_every_webhook(hedgerow: Hedgerow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")

    assert [name for name in PURPOSES if name not in hedgerow("review", "--help").out] == []


# How it is called.


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("seccomp-profile",), "Missing option '-f' / '--filename'."),
        (("-f", "-"), "name the webhooks to ask, or ask --all of them"),
        (
            ("seccomp-profile", "--all", "-f", "-"),
            "--all asks every webhook: leave out seccomp-profile, or --all",
        ),
        (("seccomp-profile", "-f", "-", "--old", "-"), "standard input can be read only once"),
        (
            ("seccomp-profile", "-f", "-", "--operation", "DELETE", "--old", "x"),
            "--old is for updates, and --operation says DELETE",
        ),
        (
            ("seccomp-profile", "-f", "-", "--operation", "patch"),
            "Invalid value for '--operation': 'PATCH' is not one of 'CREATE', 'UPDATE', 'DELETE'.",
        ),
        (
            ("seccomp-profile", "-f", "-", "--host", "x"),
            "--host is for kubernetes-service-host, which is not asked",
        ),
        (
            ("kubernetes-service-host", "-f", "-"),
            (
                "kubernetes-service-host needs the name of the API server: give it by --host, or as "
                "webhooks.kubernetesServiceHost.host in a --config that enables it"
            ),
        ),
        (
            ("--all", "-f", "-", "--namespace-object", "a", "--namespace-object", "b"),
            "Invalid value for '--namespace-object': can be given once; more Namespaces may stand among the files (-f)",
        ),
        (("--all", "-f", "-", "--outptu", "table"), "No such option '--outptu'. Did you mean '--output'?"),
    ],
    ids=[
        "no-files",
        "no-webhook",
        "all-and-one",
        "standard-input-twice",
        "old-of-a-deletion",
        "operation",
        "host-of-nobody",
        "host-missing",
        "namespace-twice",
        "unknown-option",
    ],
)
def test_wrong_usage_is_an_error_and_not_a_decision(
    arguments: tuple[str, ...], sentence: str, hedgerow: Hedgerow
) -> None:
    assert hedgerow("review", *arguments, stdin=POD) == (1, "", f"error: {sentence}\n{USAGE}")


def test_operations_may_be_written_in_lower_case(hedgerow: Hedgerow) -> None:
    ended = hedgerow("review", "extension-validation", "-f", "-", "--operation", "update", "-o", "json", stdin=BASTION)

    assert [each["operation"] for each in json.loads(ended.out)] == ["UPDATE"]


def test_an_unknown_webhook_is_told_which_there_are(hedgerow: Hedgerow) -> None:
    ended = hedgerow("review", "seccomp", "-f", "-", stdin=POD)

    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith("error: Invalid value for '[WEBHOOK]...': 'seccomp' is not one of 'crd-deletion-")


def test_a_webhook_named_twice_decides_once(hedgerow: Hedgerow) -> None:
    ended = hedgerow("review", "seccomp-profile", "seccomp-profile", "-f", "-", "-o", "table", stdin=POD)

    assert ended.out == (
        "DECISION    KIND    NAMESPACE    NAME    WEBHOOK          RULES\n"
        "changed     Pod     default      web-*   seccomp-profile  runtime-default\n"
    )


def test_an_operation_is_not_for_recorded_reviews(hedgerow: Hedgerow) -> None:
    arguments = ("review", "seccomp-profile", "-f", "-", "--operation", "CREATE")

    beside_an_object = hedgerow(*arguments, stdin=POD + RECORDED)
    alone = hedgerow(*arguments, stdin=NAMESPACE + RECORDED)

    assert (beside_an_object.code, beside_an_object.err) == (
        2,
        "note: --operation does not count for AdmissionReviews, which say themselves what they ask\n2 changed\n",
    )
    assert alone == (
        1,
        "",
        (
            "error: --operation is for objects, and there are only AdmissionReviews, which say themselves what they "
            f"ask\n{USAGE}"
        ),
    )


def test_all_without_a_host_say_whom_they_leave_out(hedgerow: Hedgerow) -> None:
    ended = hedgerow("review", "--all", "-f", "-", stdin=POD)

    assert (ended.code, ended.err) == (2, "note: without --host, kubernetes-service-host is left out\n1 changed\n")


def test_a_configuration_that_enables_nothing_reviews_nothing(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "config.yaml").write_text(
        "apiVersion: resourcemanager.config.gardener.cloud/v1alpha1\nkind: ResourceManagerConfiguration\n"
    )

    assert hedgerow("review", "--all", "-f", "-", "--config", "config.yaml", stdin=POD) == (
        0,
        "",
        "nothing to review; the configuration enables no webhook\n",
    )


# What cannot be read.


@pytest.mark.parametrize(
    ("webhook", "text", "sentence"),
    [
        (
            "seccomp-profile",
            "apiVersion: v1\nkind: Pod\nmetadata: {labels: {a: b}}\n",
            "x.yaml:1: a Pod without a name",
        ),
        ("seccomp-profile", "hello\n", "x.yaml:1: expected an object, got a string"),
        (
            "seccomp-profile",
            POD.replace("web-}", "web-, labels: {a: 1}}"),
            "x.yaml:1: metadata.labels[a]: expected a string, got an integer (quote it)",
        ),
        (
            "seccomp-profile",
            f"{POD}apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\n",
            "x.yaml:2: AdmissionReview: request: is missing",
        ),
        (
            "seccomp-profile",
            "apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nrequest: {kind: {kind: 1}}\n",
            "x.yaml:1: AdmissionReview: request.kind.kind: expected a string, got an integer",
        ),
        (
            "system-components-config",
            f"{POD}{NODE}{{taints: [1]}}\n",
            "x.yaml:2: Node one: spec.taints[0]: expected an object, got an integer",
        ),
        ("system-components-config", f"{POD}{NODE}1\n", "x.yaml:2: Node one: spec: expected an object, got an integer"),
        (
            "crd-deletion-protection",
            COLLECTION,
            "x.yaml:1: AdmissionReview: request.oldObject: metadata.labels: expected an object, got an integer",
        ),
    ],
    ids=["no-name", "no-object", "label", "no-request", "bad-request", "bad-fact", "bad-fact-altogether", "bad-member"],
)
def test_bad_input_is_told_by_file_document_and_field(
    webhook: str, text: str, sentence: str, hedgerow: Hedgerow, folder: Path
) -> None:
    (folder / "x.yaml").write_text(text)

    assert hedgerow("review", webhook, "-f", "x.yaml") == (1, "", f"error: {sentence}\n")


def test_what_a_webhook_cannot_read_it_denies(hedgerow: Hedgerow) -> None:
    ended = hedgerow(
        "review", "seccomp-profile", "-f", "-", stdin=POD.replace("{containers", "{securityContext: 5, containers")
    )

    assert (ended.code, ended.out) == (
        3,
        "# denied Pod default/web-* by seccomp-profile: 400 spec.securityContext: expected an object, got an integer\n",
    )


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (None, ["namespace.yaml: does not exist"]),
        ("", ["namespace.yaml: must hold one Namespace, holds 0; several may stand among the files (-f)"]),
        (NAMESPACE + POD, ["namespace.yaml:2: must be a Namespace, is a Pod"]),
        (
            "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: web}\n",
            ["namespace.yaml:1: must be a Namespace, is an EndpointSlice"],
        ),
    ],
    ids=["missing", "empty", "something-else", "something-with-a-vowel"],
)
def test_the_namespace_has_to_be_one(text: str | None, sentences: list[str], hedgerow: Hedgerow, folder: Path) -> None:
    if text is not None:
        (folder / "namespace.yaml").write_text(text)

    ended = hedgerow("review", "seccomp-profile", "-f", "-", "--namespace-object", "namespace.yaml", stdin=POD)

    assert ended == (1, "", "".join(f"error: {sentence}\n" for sentence in sentences))


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("--config", "error reading config file: missing: No such file or directory"),
        ("--kubeconfig", "error: kubeconfig missing: cannot be read: No such file or directory"),
        ("--old", "error: missing: does not exist"),
    ],
)
def test_missing_files_are_named(option: str, sentence: str, hedgerow: Hedgerow, folder: Path) -> None:
    assert hedgerow("review", "seccomp-profile", "-f", "-", option, "missing", stdin=POD) == (1, "", f"{sentence}\n")
