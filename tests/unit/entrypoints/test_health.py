"""How `hedgerow health` is called and how it answers; what it says of objects stands in the golden cases."""

import json
from pathlib import Path

import pytest
import yaml

from tests.unit.entrypoints.command_line import Hedgerow

USAGE = "Try 'hedgerow health --help' for help.\n"
WELL = "apiVersion: v1\nkind: Pod\nmetadata: {name: well, namespace: shop}\nstatus: {phase: Running}\n---\n"
ILL = "apiVersion: v1\nkind: Pod\nmetadata: {name: ill, namespace: till}\nstatus: {phase: Failed}\n---\n"
APPLIES_ILL = """\
apiVersion: resources.gardener.cloud/v1alpha1
kind: ManagedResource
metadata: {name: pods, namespace: shop}
status: {resources: [{apiVersion: v1, kind: Pod, name: ill, namespace: till}]}
---
"""
WHY = 'pod is in invalid phase "Failed" (expected one of ["Running" "Succeeded"])'


def test_what_is_unhealthy_is_no_error_but_shows_in_the_exit_code(hedgerow: Hedgerow) -> None:
    assert hedgerow("health", "-f", "-", stdin=WELL + ILL) == (
        2,
        (
            "KIND    NAMESPACE    NAME    HEALTHY    PROGRESSING    WHY\n"
            "Pod     shop         well    yes        -\n"
            f"Pod     till         ill     no         -              {WHY}\n"
        ),
        "1 healthy, 1 unhealthy\n",
    )
    assert hedgerow("health", "-f", "-", stdin=WELL).code == 0


def test_without_objects_there_is_nothing_to_judge(hedgerow: Hedgerow) -> None:
    assert hedgerow("health", "-f", "-") == (0, "", "note: there are no objects in the files\nnothing to judge\n")
    assert hedgerow("health", "-f", "-", "-n", "nope", stdin=WELL) == (
        0,
        "",
        "note: there are no objects in namespace nope of the files\nnothing to judge\n",
    )


def test_of_a_namespace_counts_what_is_in_it_and_what_it_has_applied_elsewhere(hedgerow: Hedgerow) -> None:
    assert hedgerow("health", "-f", "-", "-n", "shop", stdin=WELL + ILL).err == "1 healthy\n"
    assert hedgerow("health", "-f", "-", "-n", "shop", stdin=WELL + ILL + APPLIES_ILL).err == "1 healthy, 2 unhealthy\n"
    assert hedgerow("health", "-f", "-", "-n", "till", stdin=WELL + ILL + APPLIES_ILL).err == "1 unhealthy\n"


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_programs_get_the_verdicts(output: str, hedgerow: Hedgerow) -> None:
    ended = hedgerow("health", "-f", "-", "-o", output, stdin=ILL)

    assert (json.loads(ended.out) if output == "json" else yaml.safe_load(ended.out)) == {
        "objects": [
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "namespace": "till",
                "name": "ill",
                "healthy": False,
                "progressing": None,
                "why": WHY,
            }
        ],
        "problems": [],
    }


def test_what_a_file_holds_does_not_command_the_terminal(hedgerow: Hedgerow) -> None:
    obeyed = WELL.replace("name: well", 'name: "well\\e[2J"').replace("Running", '"bad\\e[2J"')

    assert "\x1b" not in hedgerow("health", "-f", "-", stdin=obeyed).out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "give the objects either by -f or by --kubeconfig/--context"),
        (("-f", "-", "--kubeconfig", "x"), "give the objects either by -f or by --kubeconfig/--context"),
        (
            ("-f", "-", "-o", "diff"),
            "Invalid value for '-o' / '--output': 'diff' is not one of 'table', 'yaml', 'json'.",
        ),
        (("-f", "-", "--namespaec", "x"), "No such option '--namespaec'. Did you mean '--namespace'?"),
        (("-f", "-", "-n", ""), "--namespace needs a name"),
    ],
    ids=["no-source", "both", "format", "unknown-option", "empty-namespace"],
)
def test_wrong_usage_is_an_error(arguments: tuple[str, ...], sentence: str, hedgerow: Hedgerow) -> None:
    assert hedgerow("health", *arguments) == (1, "", f"error: {sentence}\n{USAGE}")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("-f", "x.yaml"), "x.yaml: does not exist"),
        (("--kubeconfig", "x"), "kubeconfig x: cannot be read: No such file or directory"),
    ],
    ids=["file", "kubeconfig"],
)
def test_what_is_missing_is_an_error(
    arguments: tuple[str, ...], sentence: str, hedgerow: Hedgerow, folder: Path
) -> None:
    assert hedgerow("health", *arguments) == (1, "", f"error: {sentence}\n")


def test_everything_that_is_wrong_in_files_is_listed(hedgerow: Hedgerow) -> None:
    assert hedgerow("health", "-f", "-", stdin="kind: Pod\n---\nhello\n").err == (
        "error: <stdin>:1: a Pod without apiVersion\n"
        "error: <stdin>:1: a Pod without a name\n"
        "error: <stdin>:2: expected an object, got a string\n"
    )


REFUSED = """\
apiVersion: resources.gardener.cloud/v1alpha1
kind: ManagedResource
metadata: {name: cart, namespace: shop, generation: 1}
status:
  conditions:
  - {type: ResourcesApplied, status: "False", reason: ApplyFailed, message: MESSAGE}
"""


def test_what_was_never_applied_tells_why_and_the_table_keeps_it_short(hedgerow: Hedgerow) -> None:
    message = "Could not apply all new resources: " + "x" * 300
    manifest = REFUSED.replace("MESSAGE", f"'{message}'")

    table = hedgerow("health", "-f", "-", stdin=manifest)
    (told,) = json.loads(hedgerow("health", "-f", "-", "-o", "json", stdin=manifest).out)["objects"]

    assert told["why"].startswith("observed generation of managed resource shop/cart outdated (0/1); ")
    assert told["why"].endswith(message)
    assert "outdated (0/1); Could not apply all new resources: xxx" in table.out
    assert table.out.endswith("x...\n")
    assert message not in table.out


def test_objects_that_name_no_namespace_are_in_the_default_one(hedgerow: Hedgerow) -> None:
    ended = hedgerow("health", "-f", "-", "-n", "default", stdin=REFUSED.replace(", namespace: shop", ""))

    assert ended.err == "note: taken to be in namespace default: ManagedResource cart\n1 unhealthy\n"


OF_SEED = """\
apiVersion: resources.gardener.cloud/v1alpha1
kind: ManagedResource
metadata: {name: pods, namespace: shop}
spec: {class: seed}
---
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """The configuration of an instance of class `seed`."""
    file = tmp_path / "config.yaml"
    kind = {"apiVersion": "resourcemanager.config.gardener.cloud/v1alpha1", "kind": "ResourceManagerConfiguration"}
    file.write_text(yaml.safe_dump({**kind, "controllers": {"resourceClass": "seed"}}), encoding="utf-8")
    return file


def why(hedgerow: Hedgerow, manifest: str, *options: str) -> str:
    (verdict,) = json.loads(hedgerow("health", "-f", "-", "-o", "json", *options, stdin=manifest).out)["objects"]
    return str(verdict["why"])


def test_a_managed_resource_whose_class_the_instance_does_not_handle_is_told(hedgerow: Hedgerow, config: Path) -> None:
    other = OF_SEED.replace("seed", "shoot")
    handed_over = other.replace("namespace: shop", "namespace: shop, finalizers: [FINALIZER-seed]")
    handed_over = handed_over.replace("FINALIZER", "resources.gardener.cloud/gardener-resource-manager")

    assert why(hedgerow, other, "--config", str(config)).startswith("class shoot is not handled by this instance; ")
    assert "handled" not in why(hedgerow, OF_SEED, "--config", str(config))
    assert "handled" not in why(hedgerow, handed_over, "--config", str(config)), "it is to release it"


@pytest.mark.parametrize(
    ("old", "new", "is_taken_up"),
    [
        ("", "", False),
        ("namespace: shop", "namespace: shop, finalizers: null", False),
        ("namespace: shop", "namespace: shop, finalizers: [example.com/other]", False),
        (
            "namespace: shop",
            "namespace: shop, finalizers: [resources.gardener.cloud/gardener-resource-manager-x]",
            True,
        ),
        ("---", "status: {conditions: [{type: ResourcesApplied, status: 'False'}]}\n---", True),
    ],
    ids=["new", "no finalizers", "a finalizer of others", "held", "conditions"],
)
def test_a_class_that_no_instance_has_taken_up_is_told(
    hedgerow: Hedgerow, old: str, new: str, *, is_taken_up: bool
) -> None:
    told = why(hedgerow, OF_SEED.replace(old, new) if old else OF_SEED)

    assert told.startswith("no instance has taken up class seed") is not is_taken_up


def test_a_configuration_of_another_component_is_an_error(hedgerow: Hedgerow, config: Path) -> None:
    config.write_text(config.read_text().replace("ResourceManagerConfiguration", "OtherConfiguration"))

    ended = hedgerow("health", "-f", "-", "--config", str(config), stdin=WELL)

    assert (ended.code, ended.out) == (1, "")
    assert "kind" in ended.err


def test_what_is_odd_in_the_configuration_is_noted(hedgerow: Hedgerow, config: Path) -> None:
    config.write_text(config.read_text() + "unknown: 1\n")

    assert hedgerow("health", "-f", "-", "--config", str(config), stdin=WELL).err.startswith(f"warning: {config}: ")
