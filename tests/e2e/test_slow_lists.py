"""Lists that are larger than the network is fast: they take longer than anybody waits for an answer to begin."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from hedgerow_entrypoints.cli.plan import NOT_TRIED
from tests.e2e.gateways import NarrowGateway
from tests.e2e.hasty import HastyResourceManager, run_hasty_command
from tests.e2e.landscapes import offline_settings
from tests.e2e.resource_manager import errors_of
from tests.e2e.sandbox import Sandbox, pair, service

PAUSE = 0.25
"""Seconds between two pieces of a list, of which there are many."""
PATIENCE = 2.0
"""Seconds that a list may take to begin, or be silent: half of what it takes altogether."""
CONSTANTS = {
    "hedgerow_adapters.kubernetes.live_reads.PAGE_PATIENCE": PATIENCE,
    "hedgerow_adapters.informer.exchanges.LONGEST_SILENCE": PATIENCE,
}
NAMES = [f"s{number}" for number in range(12)]


@pytest.fixture
def gateway(sandbox: Sandbox) -> Iterator[NarrowGateway]:
    """Between the kubeconfig of the sandbox and the API server, in front of Services of more than a mebibyte."""
    shop = sandbox.namespace("shop")
    sandbox.create(*(service(shop, name, annotations={"large": "x" * 100_000}) for name in NAMES))
    document = yaml.safe_load(sandbox.kubeconfig.read_text(encoding="utf-8"))
    with NarrowGateway(sandbox.control_plane, document["users"][0]["user"]["token"], pause=PAUSE) as running:
        document["clusters"][0]["cluster"] = {"server": running.url}
        sandbox.kubeconfig = sandbox.folder / "narrow.kubeconfig"
        sandbox.kubeconfig.write_text(yaml.safe_dump(document), encoding="utf-8")
        yield running


@pytest.fixture
def config_file(sandbox: Sandbox) -> Path:
    file = sandbox.folder / "config.yaml"
    file.write_text(yaml.safe_dump(sandbox.configuration(offline_settings(sandbox))), encoding="utf-8")
    return file


def test_a_command_waits_for_a_list_that_goes_on(sandbox: Sandbox, gateway: NarrowGateway, config_file: Path) -> None:
    done = run_hasty_command(
        CONSTANTS,
        *("plan", "networkpolicy", "--kubeconfig", str(sandbox.kubeconfig)),
        *("--config", str(config_file), "-o", "table"),
    )

    assert (done.returncode, done.stderr) == (2, f"{NOT_TRIED}\n{2 * len(NAMES)} to create\n")
    assert gateway.slowed  # other lists of a server that tests share may be large as well


def test_a_process_lists_what_takes_longer_than_an_answer_may_take(sandbox: Sandbox, gateway: NarrowGateway) -> None:
    with HastyResourceManager(sandbox.folder, sandbox.configuration(), CONSTANTS) as process:
        sandbox.wait_for_policies({policy for name in NAMES for policy in pair("shop", f"{name}-tcp-8080")})

        assert errors_of(process.log_lines()) == []
        assert process.log_lines("Watch interrupted") == []
    assert gateway.slowed  # other lists of a server that tests share may be large as well
