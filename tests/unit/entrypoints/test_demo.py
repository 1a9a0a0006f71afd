from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.unit.entrypoints.command_line import CONFIGURATION, LANDSCAPE, Hedgerow

COLUMNS = 100


def test_the_demonstration_reads_like_this(hedgerow: Hedgerow, repository: Path, snapshot: SnapshotAssertion) -> None:
    ended = hedgerow("demo")

    assert (ended.code, ended.err) == (0, "")
    assert ended.out == snapshot


def test_the_demonstration_is_the_same_each_time_and_fits_the_terminal(hedgerow: Hedgerow, repository: Path) -> None:
    first = hedgerow("demo").out

    assert hedgerow("demo").out == first
    assert [line for line in first.splitlines() if len(line) > COLUMNS or line != line.rstrip()] == []


def test_the_demonstration_says_where_the_examples_are_wherever_one_stands(hedgerow: Hedgerow, folder: Path) -> None:
    examples = Path(__file__).parents[3] / "examples"

    assert f"hedgerow plan networkpolicy -f {examples}/landscape -o table\n" in hedgerow("demo").out


def test_what_the_demonstration_advises_shows_the_policies_of_its_first_step(
    hedgerow: Hedgerow, repository: Path
) -> None:
    settled = hedgerow("simulate", "networkpolicy", "-f", LANDSCAPE, "--all").out

    ended = hedgerow(
        "plan", "networkpolicy", "-f", "-", "-f", "examples/vpn-seed-server.yaml", "-o", "table", stdin=settled
    )

    assert (ended.code, ended.err) == (2, "4 to create\n")
    assert [line.split()[3] for line in ended.out.splitlines()[1:]] == [
        "egress-to-shoot--prod--web-vpn-seed-server-tcp-1194",
        "egress-to-vpn-seed-server-tcp-1194",
        "ingress-to-vpn-seed-server-tcp-1194",
        "ingress-to-vpn-seed-server-tcp-1194-from-istio-ingress",
    ]


@pytest.mark.parametrize(
    ("options", "summary"),
    [((), "152 to create\n"), (("--config", CONFIGURATION), "154 to create\n")],
    ids=["every-namespace-handled", "as-the-operator-configures-it"],
)
def test_the_sample_landscape_is_planned_without_failures(
    options: tuple[str, ...], summary: str, hedgerow: Hedgerow, repository: Path
) -> None:
    ended = hedgerow("plan", "networkpolicy", "-f", LANDSCAPE, *options)

    assert (ended.code, ended.err) == (2, summary)


@pytest.mark.parametrize("options", [(), ("--config", CONFIGURATION)], ids=["defaults", "configured"])
@pytest.mark.parametrize("output", ["yaml", "json"])
def test_nothing_is_left_to_do_once_the_sample_landscape_has_settled(
    options: tuple[str, ...], output: str, hedgerow: Hedgerow, repository: Path
) -> None:
    settled = hedgerow("simulate", "networkpolicy", "-f", LANDSCAPE, "--all", "-o", output, *options)
    planned = hedgerow("plan", "networkpolicy", "-f", "-", *options, stdin=settled.out)

    assert settled.code == 0
    assert planned == (0, "", "nothing to do\n")


def test_the_sample_configuration_is_valid_and_warns_of_nothing(hedgerow: Hedgerow, repository: Path) -> None:
    ended = hedgerow("config", "check", CONFIGURATION)

    assert (ended.code, ended.err) == (0, "")
    assert "concurrentSyncs: 20\n" in ended.out
