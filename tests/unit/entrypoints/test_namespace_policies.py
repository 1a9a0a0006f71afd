"""The Namespace NetworkPolicy controller on the command line: where it takes the networks of the cluster from."""

import pytest
import yaml

from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.questions import Found, NotAnswered
from hedgerow_entrypoints.components.operator import COMPONENT
from hedgerow_entrypoints.errors import CommandError
from tests.unit.entrypoints.command_line import REPOSITORY, Hedgerow

EXAMPLE = str(REPOSITORY / "examples" / "namespace-network-policies")
GARDEN = f"{EXAMPLE}/garden.yaml"
NAME = "operator/networkpolicy"
NO_GARDEN = (
    "error: operator/networkpolicy takes the networks of the cluster from spec.runtimeCluster.networking of a "
    "Garden (operator.gardener.cloud/v1alpha1), and there is none\n"
)


def test_what_simulate_leaves_is_all_that_plan_wants(hedgerow: Hedgerow) -> None:
    pending = hedgerow("plan", NAME, "-f", EXAMPLE)
    settled = hedgerow("simulate", NAME, "-f", EXAMPLE, "--all")
    after = hedgerow("plan", NAME, "-f", "-", "-f", GARDEN, stdin=settled.out)

    assert (pending.code, pending.err) == (2, "15 to create, 1 to delete\n")
    assert (settled.code, settled.err) == (0, "15 created, 1 deleted\n")
    assert after == (0, "", "nothing to do\n")


@pytest.mark.parametrize("command", ["plan", "simulate"])
def test_without_a_garden_it_is_said_what_is_missing(command: str, hedgerow: Hedgerow) -> None:
    ended = hedgerow(command, NAME, "-f", f"{EXAMPLE}/namespaces.yaml")

    assert ended == (1, "", NO_GARDEN)


@pytest.mark.parametrize("command", ["plan", "simulate"])
def test_a_garden_that_names_no_networks_is_told_with_its_file(command: str, hedgerow: Hedgerow) -> None:
    broken = "apiVersion: operator.gardener.cloud/v1alpha1\nkind: Garden\nmetadata: {name: local}\n"

    ended = hedgerow(command, NAME, "-f", f"{EXAMPLE}/namespaces.yaml", "-f", "-", stdin=broken)

    assert ended.code == 1
    assert ended.err.startswith("error: <stdin>:1: Garden local: spec.runtimeCluster.networking.pods: ")


def test_other_controllers_need_no_garden(hedgerow: Hedgerow) -> None:
    assert hedgerow("plan", "networkpolicy", "-f", f"{EXAMPLE}/namespaces.yaml").code == 0


def test_policies_of_others_are_printed_by_nobody(hedgerow: Hedgerow) -> None:
    printed = yaml.safe_load_all(hedgerow("simulate", NAME, "-f", EXAMPLE).out)

    assert {policy["metadata"]["namespace"] for policy in printed} == {"garden", "istio-ingress", "shoot--dev--alpha"}


def garden(name: str) -> Manifest:
    networking = {"pods": "10.0.0.0/16", "services": "10.1.0.0/16", "nodes": "10.2.0.0/16"}
    return {"metadata": {"name": name}, "spec": {"runtimeCluster": {"networking": networking}}}


def test_of_the_gardens_of_a_cluster_the_first_by_name_counts(capsys: pytest.CaptureFixture[str]) -> None:
    COMPONENT.without_file(lambda _: Found((garden("b"), garden("a"))))

    assert capsys.readouterr().err == "note: only the first Garden counts, a; left out: b\n"


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (NotAnswered(404, "NotFound", ""), "and there is none$"),
        (NotAnswered(500, "", "boom"), r"gardens\.operator\.gardener\.cloud cannot be listed: boom"),
    ],
)
def test_where_nobody_knows_gardens_there_are_none_but_an_error_is_one(answer: NotAnswered, problem: str) -> None:
    with pytest.raises(CommandError, match=problem):
        COMPONENT.without_file(lambda _: answer)
