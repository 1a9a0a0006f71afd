"""The Namespace NetworkPolicy controller on the command line: where it takes the networks of the cluster from."""

import pytest
import yaml

from hedgerow.machinery.questions import Found, NotAnswered
from hedgerow_entrypoints.components.garden import gardens_told
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


def test_other_controllers_need_no_garden(hedgerow: Hedgerow) -> None:
    assert hedgerow("plan", "networkpolicy", "-f", f"{EXAMPLE}/namespaces.yaml").code == 0


def test_policies_of_others_are_printed_by_nobody(hedgerow: Hedgerow) -> None:
    printed = yaml.safe_load_all(hedgerow("simulate", NAME, "-f", EXAMPLE).out)

    assert {policy["metadata"]["namespace"] for policy in printed} == {"garden", "istio-ingress", "shoot--dev--alpha"}


def test_the_gardens_of_a_cluster_are_told_by_name_and_are_none_where_nobody_knows_gardens() -> None:
    one, two = ({"metadata": {"name": name}} for name in ("b", "a"))

    assert gardens_told(Found((one, two))) == [two, one]
    assert gardens_told(NotAnswered(404, "NotFound", "")) == ()
    with pytest.raises(CommandError, match=r"gardens\.operator\.gardener\.cloud cannot be listed: boom"):
        gardens_told(NotAnswered(500, "", "boom"))
