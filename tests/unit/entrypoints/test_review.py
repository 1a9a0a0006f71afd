import json
import shlex
from pathlib import Path

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from hedgerow_entrypoints.cli.review.command import EXAMPLES
from tests.unit.entrypoints.command_line import Hedgerow

AVAILABILITY = "high-availability-config"
ASSUMED = "note: assuming that these namespaces exist, without further labels: shop\n"
CONFIGURATION = "apiVersion: resourcemanager.config.gardener.cloud/v1alpha1\nkind: ResourceManagerConfiguration\n"
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec: {serviceAccountName: web, containers: [{name: web, image: web}]}
---
"""
ACCOUNT = """\
apiVersion: v1
kind: ServiceAccount
metadata: {name: web, namespace: shop}
automountServiceAccountToken: false
---
"""
INFRASTRUCTURE = """\
apiVersion: extensions.gardener.cloud/v1alpha1
kind: Infrastructure
metadata: {name: shoot, namespace: shop}
spec: {type: aws, region: eu-west-1, secretRef: {name: cloud, namespace: shop}}
---
"""
READ_BACK = """\
apiVersion: extensions.gardener.cloud/v1alpha1
kind: Infrastructure
metadata:
  name: shoot
  namespace: shop
  uid: 6f1c
  resourceVersion: "4711"
  creationTimestamp: "2026-01-01T00:00:00Z"
  generation: 3
  deletionTimestamp: "2026-01-02T00:00:00Z"
  deletionGracePeriodSeconds: 0
spec: {type: aws, region: eu-west-1, secretRef: {name: cloud, namespace: shop}}
---
"""
"""The same, as an API server shows it while finalizers keep it from going."""
INVALIDATED = """\
apiVersion: v1
kind: Secret
metadata:
  name: old-token
  namespace: shop
  labels:
    resources.gardener.cloud/purpose: token-invalidator
    token-invalidator.resources.gardener.cloud/consider: "true"
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{"data":{"token":"aHVudGVyMg=="}}'
data: {token: aHVudGVyMg==, ca.crt: aHVudGVyMg==}
stringData: {password: hunter2}
---
"""
AUTOSCALER = """\
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {name: cart, namespace: shop, labels: {high-availability-config.resources.gardener.cloud/type: server}}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: cart}, maxReplicas: 1}
---
"""
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: cart, labels: {high-availability-config.resources.gardener.cloud/type: controller}}
spec: {template: {metadata: {labels: {app: cart}}}}
---
"""
IN_THE_SHOP = DEPLOYMENT.replace("cart,", "cart, namespace: shop,")
NAMESPACE = """\
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {high-availability-config.resources.gardener.cloud/consider: "true"}}
---
"""


def admission_review(operation: str, *, name: str = "shoot", version: str = "v1", old: object = None) -> str:
    manifest = next(yaml.safe_load_all(INFRASTRUCTURE)) if old is None else old
    request = {
        "uid": "0815",
        "kind": {"group": "extensions.gardener.cloud", "version": "v1alpha1", "kind": "Infrastructure"},
        "resource": {"group": "extensions.gardener.cloud", "version": "v1alpha1", "resource": "infrastructures"},
        "operation": operation,
        "namespace": "shop",
        "name": name,
        "oldObject" if operation == "DELETE" else "object": manifest,
    }
    document = {"apiVersion": f"admission.k8s.io/{version}", "kind": "AdmissionReview", "request": request}
    return f"{json.dumps(document)}\n---\n"


# How it is shown.


def test_a_diff_says_which_rule_changed_what(hedgerow: Hedgerow, repository: Path, snapshot: SnapshotAssertion) -> None:
    ended = hedgerow("review", AVAILABILITY, "-f", "examples/admission")

    assert (ended.code, ended.err) == (2, "3 changed\n")
    assert ended.out == snapshot


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_programs_get_each_decision_with_its_patches(
    output: str, hedgerow: Hedgerow, snapshot: SnapshotAssertion
) -> None:
    ended = hedgerow(
        "review", "seccomp-profile", "extension-validation", "-f", "-", "-o", output, stdin=POD + INFRASTRUCTURE
    )
    decisions = json.loads(ended.out) if output == "json" else list(yaml.safe_load_all(ended.out))

    assert (ended.code, ended.err) == (2, f"{ASSUMED}1 changed, 1 unchanged\n")
    assert decisions == snapshot(name="decisions")


def test_a_table_has_a_line_per_decision(hedgerow: Hedgerow) -> None:
    broken = INFRASTRUCTURE.replace("region: eu-west-1, ", "")

    ended = hedgerow(
        "review", "--all", "--host", "api.example.org", "-f", "-", "-o", "table", stdin=POD + ACCOUNT + broken
    )

    assert (ended.code, ended.err) == (3, f"{ASSUMED}1 changed, 1 denied\n")
    assert ended.out == (
        "DECISION    KIND            NAMESPACE    NAME    WEBHOOK                          RULES\n"
        "changed     Pod             shop         web     projected-token-mount            token-volume, token-mounts\n"
        "unchanged   Pod             shop         web     pod-scheduler-name\n"
        "changed     Pod             shop         web     seccomp-profile                  runtime-default\n"
        "changed     Pod             shop         web     kubernetes-service-host          service-host\n"
        "unchanged   Pod             shop         web     pod-topology-spread-constraints\n"
        "denied      Infrastructure  shop         shoot   extension-validation             "
        '422 Infrastructure.extensions.gardener.cloud "shoot" is invalid: '
        "spec.region: Required value: field is required\n"
    )


def test_what_a_secret_holds_is_not_shown(hedgerow: Hedgerow) -> None:
    shown = [hedgerow("review", "--all", "-f", "-", "-o", output, stdin=INVALIDATED).out for output in ("diff", "json")]

    assert "-  token: (redacted)\n+  token: AAAA\n" in shown[0]
    assert json.loads(shown[1])[0]["patch"] == [{"op": "replace", "path": "/data/token", "value": "AAAA"}]
    assert not any(secret in text for text in shown for secret in ("hunter2", "aHVudGVyMg"))


def test_names_cannot_command_the_terminal(hedgerow: Hedgerow) -> None:
    pod = POD.replace("name: web,", r'name: "web\e[2J",')

    ended = hedgerow("review", "seccomp-profile", "-f", "-", stdin=pod)

    assert ended.out.startswith(r"# changed Pod shop/web\x1b[2J by seccomp-profile")
    assert "\x1b" not in ended.out


# What is decided.


def test_an_object_that_is_as_it_should_be_is_unchanged(hedgerow: Hedgerow) -> None:
    pod = POD.replace("spec: {", "spec: {securityContext: {seccompProfile: {type: Unconfined}}, ")

    assert hedgerow("review", "seccomp-profile", "-f", "-", stdin=pod) == (
        0,
        "# unchanged Pod shop/web by seccomp-profile\n",
        f"{ASSUMED}1 unchanged\n",
    )


def test_each_webhook_sees_what_the_one_before_it_made_of_an_object(hedgerow: Hedgerow) -> None:
    ended = hedgerow("review", "seccomp-profile", "projected-token-mount", "-f", "-", "-o", "json", stdin=POD + ACCOUNT)
    first, second = json.loads(ended.out)

    assert (first["webhook"], second["webhook"]) == ("projected-token-mount", "seccomp-profile")
    assert [operation["path"] for operation in second["patch"]] == ["/spec/securityContext"]


def test_a_denied_object_goes_no_further(hedgerow: Hedgerow) -> None:
    ended = hedgerow("review", "projected-token-mount", "seccomp-profile", "-f", "-", stdin=POD)

    assert ended == (
        3,
        '# denied Pod shop/web by projected-token-mount: 404 serviceaccounts "web" not found\n',
        f"{ASSUMED}note: ServiceAccount shop/web: no file holds it, so that it counts as missing\n1 denied\n",
    )


def test_an_object_without_replicas_has_one_by_the_time_webhooks_are_asked(hedgerow: Hedgerow) -> None:
    ended = hedgerow("review", AVAILABILITY, "-f", "-", stdin=NAMESPACE + IN_THE_SHOP)

    assert "replicas: 1\n" not in ended.out
    assert "+  replicas: 2\n" in ended.out


def test_replicas_that_nobody_wrote_and_nobody_changes_are_not_in_the_diff(hedgerow: Hedgerow, folder: Path) -> None:
    tolerated = "webhooks: {highAvailabilityConfig: {enabled: true, defaultNotReadyTolerationSeconds: 60}}"
    settled = IN_THE_SHOP.replace(
        "namespace: shop,", f"namespace: shop, annotations: {{{AVAILABILITY}.resources.gardener.cloud/replicas: '1'}},"
    )
    (folder / "config.yaml").write_text(f"{CONFIGURATION}{tolerated}\n")

    ended = hedgerow("review", AVAILABILITY, "-f", "-", "--config", "config.yaml", stdin=NAMESPACE + settled)

    assert (ended.code, "tolerationSeconds: 60" in ended.out, "replicas: 1" in ended.out) == (2, True, False)


def test_replicas_that_were_written_are_replaced_in_the_diff(hedgerow: Hedgerow) -> None:
    written = IN_THE_SHOP.replace("spec: {", "spec: {replicas: 1, ")

    ended = hedgerow("review", AVAILABILITY, "-f", "-", stdin=NAMESPACE + written)

    assert "-  replicas: 1\n+  replicas: 2\n" in ended.out


def test_plain_values_of_a_secret_are_data_by_the_time_webhooks_are_asked(hedgerow: Hedgerow) -> None:
    secret = f"{INVALIDATED[: INVALIDATED.index('data: ')]}stringData: {{token: hunter2, empty: }}\n"

    (decision,) = json.loads(hedgerow("review", "token-invalidator", "-f", "-", "-o", "json", stdin=secret).out)

    assert decision["patch"] == [{"op": "replace", "path": "/data/token", "value": "AAAA"}]


def test_autoscalers_of_other_versions_count_and_are_reviewed(hedgerow: Hedgerow) -> None:
    ended = hedgerow("review", "--all", "-f", "-", "-o", "json", stdin=NAMESPACE + AUTOSCALER)

    assert [(each["object"]["apiVersion"], each["patch"]) for each in json.loads(ended.out)] == [
        (
            "autoscaling/v2",
            [
                {"op": "replace", "path": "/spec/maxReplicas", "value": 2},
                {"op": "replace", "path": "/spec/minReplicas", "value": 2},
            ],
        )
    ]


def test_the_configuration_says_what_the_webhooks_go_by(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "config.yaml").write_text(
        f"{CONFIGURATION}webhooks: {{podSchedulerName: {{enabled: true, schedulerName: packer}}}}\n"
    )

    every = hedgerow("review", "--all", "-f", "-", "--config", "config.yaml", "-o", "json", stdin=POD)
    named = hedgerow("review", "seccomp-profile", "-f", "-", "--config", "config.yaml", "-o", "json", stdin=POD)

    assert [(each["webhook"], each["patch"]) for each in json.loads(every.out)] == [
        ("pod-scheduler-name", [{"op": "add", "path": "/spec/schedulerName", "value": "packer"}])
    ]
    assert [each["webhook"] for each in json.loads(named.out)] == ["seccomp-profile"]
    assert "note: config.yaml: seccomp-profile is not enabled; it is asked all the same\n" in named.err


@pytest.mark.parametrize(("fail_on", "codes"), [("changed", (0, 2, 3)), ("denied", (0, 0, 3))])
def test_it_can_be_said_which_decisions_count(fail_on: str, codes: tuple[int, ...], hedgerow: Hedgerow) -> None:
    documents = (
        INFRASTRUCTURE,
        INFRASTRUCTURE + POD,
        INFRASTRUCTURE.replace("region: eu-west-1, ", "") + POD,
    )

    ended = [
        hedgerow("review", "--all", "-f", "-", "--fail-on", fail_on, stdin=ACCOUNT + document) for document in documents
    ]

    assert tuple(each.code for each in ended) == codes


# Operations.


@pytest.mark.parametrize(("region", "code"), [("eu-west-1", 0), ("eu-west-2", 3)], ids=["same", "moved"])
@pytest.mark.parametrize("old", [INFRASTRUCTURE, READ_BACK], ids=["as-written", "as-read-back"])
def test_the_example_of_an_update_ends_as_help_says(
    old: str, region: str, code: int, hedgerow: Hedgerow, folder: Path
) -> None:
    (example,) = (line for line in EXAMPLES.splitlines() if "--old" in line)
    (folder / "old.yaml").write_text(old)
    (folder / "new.yaml").write_text(INFRASTRUCTURE.replace("eu-west-1", region))

    ended = hedgerow(*shlex.split(example)[1:])

    assert (ended.code, ended.err) == (code, f"{ASSUMED}1 {'denied' if code else 'unchanged'}\n")
    assert ("is invalid: spec" in ended.out) is bool(code)


def test_an_object_read_back_may_follow_one_as_written(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "old.yaml").write_text(INFRASTRUCTURE)

    assert hedgerow("review", "extension-validation", "-f", "-", "--old", "old.yaml", stdin=READ_BACK).code == 0


def test_an_update_without_an_older_version_changes_nothing(hedgerow: Hedgerow) -> None:
    assert hedgerow("review", "--all", "-f", "-", "--operation", "UPDATE", stdin=INFRASTRUCTURE).code == 0


def test_a_name_is_made_before_an_object_is_validated(hedgerow: Hedgerow) -> None:
    generated = INFRASTRUCTURE.replace("name: shoot,", "generateName: shoot-,")

    allowed = hedgerow("review", "extension-validation", "-f", "-", "-o", "json", stdin=generated)
    denied = hedgerow("review", "extension-validation", "-f", "-", stdin=generated.replace("region: eu-west-1, ", ""))

    assert (allowed.code, json.loads(allowed.out)[0]["object"]["name"]) == (0, "shoot-*")
    assert (denied.code, denied.out) == (
        3,
        (
            "# denied Infrastructure shop/shoot-* by extension-validation: 422 "
            'Infrastructure.extensions.gardener.cloud "shoot-xxxxx" is invalid: '
            "spec.region: Required value: field is required\n"
        ),
    )


def test_an_older_version_of_nothing_is_warned_of(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "old.yaml").write_text(INFRASTRUCTURE.replace("shoot", "other"))

    ended = hedgerow("review", "extension-validation", "-f", "-", "--old", "old.yaml", stdin=INFRASTRUCTURE)

    assert ended.err.startswith(
        "warning: old.yaml:1: Infrastructure shop/other: no object to review is a newer version of it\n"
    )


@pytest.mark.parametrize(
    "arguments", [("-f", "-", "--operation", "DELETE"), ("-f", "-", "-f", "review.yaml")], ids=["object", "collection"]
)
def test_a_deletion_has_to_be_confirmed(arguments: tuple[str, ...], hedgerow: Hedgerow, folder: Path) -> None:
    """The deletion of a collection, which has no name, concerns whatever is there: here, the object in the files."""
    (folder / "review.yaml").write_text(admission_review("DELETE", name="", version="v1beta1"))

    ended = hedgerow("review", "crd-deletion-protection", *arguments, stdin=INFRASTRUCTURE)

    assert ended.code == 3
    assert ended.out.endswith(': 403 must have a "confirmation.gardener.cloud/deletion" annotation to delete\n')


def test_the_objects_that_reviews_of_a_deleted_collection_show_are_among_it(hedgerow: Hedgerow) -> None:
    """An API server asks once for each object, and names none."""
    confirmed = {"confirmation.gardener.cloud/deletion": "true"}
    reviews = [
        admission_review("DELETE", name="", old={"metadata": {"name": "first", "annotations": confirmed}}),
        admission_review("DELETE", name="", old={"metadata": {"name": "second"}}),
    ]

    one, both = (
        hedgerow("review", "crd-deletion-protection", "-f", "-", stdin=documents)
        for documents in (reviews[0], "".join(reviews))
    )

    assert (one.code, both.code) == (0, 3)
    assert one.err == (
        f"{ASSUMED}note: only the files tell which Infrastructures there are in shop; they need not hold all\n"
        "1 unchanged\n"
    )


def test_reviews_say_themselves_what_they_ask(hedgerow: Hedgerow) -> None:
    documents = admission_review("CREATE") + admission_review("DELETE") + POD

    ended = hedgerow("review", "--all", "--host", "a", "-f", "-", "-o", "json", stdin=documents)
    created, deleted, *of_pod = json.loads(ended.out)

    assert (created["uid"], created["operation"], created["webhook"]) == ("0815", "CREATE", "extension-validation")
    assert (deleted["operation"], deleted["code"]) == ("DELETE", 403)
    assert of_pod[0]["source"] == "<stdin>:3"


# Who would be asked.


def test_labels_that_keep_an_api_server_from_asking_are_told_of(hedgerow: Hedgerow) -> None:
    ended = hedgerow("review", AVAILABILITY, "-f", "-", "-o", "table", stdin=IN_THE_SHOP)

    assert ended.err == (
        f"{ASSUMED}"
        "note: an API server would not ask high-availability-config about Deployment shop/cart: the labels of its "
        'Namespace do not match "high-availability-config.resources.gardener.cloud/consider=true,'
        'gardener.cloud/purpose notin (kube-system,kubernetes-dashboard)"\n'
        "1 changed\n"
    )


def test_all_means_those_whom_labels_select(hedgerow: Hedgerow) -> None:
    ended = hedgerow("review", "--all", "-f", "-", stdin=DEPLOYMENT)

    assert ended == (
        0,
        "",
        (
            "note: an API server would ask no webhook about Deployment default/cart: the labels of its Namespace do "
            'not match "high-availability-config.resources.gardener.cloud/consider=true,'
            'gardener.cloud/purpose notin (kube-system,kubernetes-dashboard)"\nnothing reviewed\n'
        ),
    )


def test_a_namespace_may_be_given_beside_objects_that_name_none(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "namespace.yaml").write_text(NAMESPACE)

    ended = hedgerow("review", "--all", "-f", "-", "--namespace-object", "namespace.yaml", stdin=DEPLOYMENT)

    assert (ended.code, ended.err) == (2, "1 changed\n")
    assert ended.out.startswith("# changed Deployment shop/cart by high-availability-config\n#   replicas: ")


def test_a_webhook_is_reviewed_in_the_cluster_that_it_is_for(hedgerow: Hedgerow) -> None:
    """The one of system components is registered in other clusters than that of deletions."""
    names = ("system-components-config", "crd-deletion-protection")

    assert hedgerow("review", *names, "-f", "-", stdin=POD).code == 0
    assert hedgerow("review", *names, "-f", "-", "--mode", "target", stdin=POD).err == (
        "error: crd-deletion-protection is not registered in mode target\nTry 'hedgerow review --help' for help.\n"
    )


def test_webhooks_of_different_clusters_are_asked_in_the_order_in_which_they_are_registered(hedgerow: Hedgerow) -> None:
    ended = hedgerow(
        *("review", "pod-topology-spread-constraints", "system-components-config", "seccomp-profile"),
        *("-f", "-", "-o", "json"),
        stdin=POD,
    )

    assert [each["webhook"] for each in json.loads(ended.out)] == [
        "seccomp-profile",
        "system-components-config",
        "pod-topology-spread-constraints",
    ]


def test_a_namespace_that_nothing_is_in_is_warned_of(hedgerow: Hedgerow, folder: Path) -> None:
    (folder / "namespace.yaml").write_text(NAMESPACE.replace("name: shop", "name: shpo"))

    ended = hedgerow("review", AVAILABILITY, "-f", "-", "--namespace-object", "namespace.yaml", stdin=IN_THE_SHOP)

    assert ended.err.startswith("warning: namespace.yaml:1: Namespace shpo: no object to review is in it\n")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("seccomp-profile",), "nothing to review; seccomp-profile is for CREATE of pods"),
        (
            ("endpoint-slice-hints", "pod-scheduler-name"),
            (
                "nothing to review; pod-scheduler-name is for CREATE of pods; "
                "endpoint-slice-hints is for CREATE and UPDATE of endpointslices"
            ),
        ),
    ],
    ids=["one", "several"],
)
def test_objects_that_no_webhook_is_for_are_not_reviewed(
    arguments: tuple[str, ...], sentence: str, hedgerow: Hedgerow
) -> None:
    assert hedgerow("review", *arguments, "-f", "-", stdin=ACCOUNT + INFRASTRUCTURE) == (0, "", f"{sentence}\n")


@pytest.mark.parametrize("arguments", [("--all",), ("seccomp-profile",)], ids=["all", "named"])
@pytest.mark.parametrize(("output", "empty"), [("json", "[]\n"), ("yaml", ""), ("table", ""), ("diff", "")])
def test_programs_can_read_that_nothing_is_decided(
    output: str, empty: str, arguments: tuple[str, ...], hedgerow: Hedgerow
) -> None:
    assert hedgerow("review", *arguments, "-f", "-", "-o", output, stdin=ACCOUNT).out == empty


@pytest.mark.parametrize(
    ("arguments", "notes"),
    [
        (
            ("--mode", "target"),
            [
                (
                    "an API server would ask no webhook about Infrastructure shop/shoot: none is registered for "
                    "CREATE of infrastructures in mode target"
                )
            ],
        ),
        (
            ("--operation", "DELETE", "--config", "config.yaml"),
            [
                "config.yaml: system-components-config is enabled, but not registered in mode runtime; see --mode",
                (
                    "an API server would ask no webhook about Infrastructure shop/shoot: "
                    "the configuration enables none for DELETE of infrastructures"
                ),
                "an API server would ask no webhook about Pod shop/web: none is registered for DELETE of pods",
            ],
        ),
        (
            ("--mode", "target", "--config", "config.yaml", "--operation", "DELETE"),
            [
                (
                    "an API server would ask no webhook about Infrastructure shop/shoot: none is registered for "
                    "DELETE of infrastructures in mode target"
                ),
                "an API server would ask no webhook about Pod shop/web: none is registered for DELETE of pods",
            ],
        ),
        (
            ("--mode", "runtime", "--config", "config.yaml"),
            [
                (
                    "an API server would ask no webhook about Infrastructure shop/shoot: "
                    "the configuration enables none for CREATE of infrastructures"
                )
            ],
        ),
    ],
    ids=["mode", "configuration", "both", "mode-that-was-asked-for"],
)
def test_all_say_in_a_note_for_each_reason_what_nobody_is_registered_for(
    arguments: tuple[str, ...], notes: list[str], hedgerow: Hedgerow, folder: Path
) -> None:
    (folder / "config.yaml").write_text(
        f"{CONFIGURATION}webhooks: {{seccompProfile: {{enabled: true}}, systemComponentsConfig: {{enabled: true}}}}\n"
    )

    ended = hedgerow("review", "--all", *arguments, "-f", "-", stdin=INFRASTRUCTURE + POD + ACCOUNT)

    said = [line.removeprefix("note: ") for line in ended.err.splitlines() if line.startswith("note: ")]
    assert [line for line in said if "--host" not in line and "assuming" not in line] == notes


def test_many_objects_that_nobody_is_asked_about_are_counted(hedgerow: Hedgerow) -> None:
    many = "".join(INFRASTRUCTURE.replace("name: shoot", f"name: shoot-{number}") for number in range(5))

    assert hedgerow("review", "--all", "--mode", "target", "-f", "-", stdin=many).err == (
        "note: an API server would ask no webhook about Infrastructure shop/shoot-0, Infrastructure shop/shoot-1, "
        "Infrastructure shop/shoot-2 and 2 more: none is registered for CREATE of infrastructures in mode target\n"
        "nothing to review\n"
    )
