"""The controller that the documentation writes, on a real API server."""

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Final

import pytest

from hedgerow.api.kubernetes import LEASES
from hedgerow.machinery import Controller, Permission
from tests.control_plane import PATIENCE, wait_until
from tests.control_plane.processes import Server, free_ports
from tests.documentation.test_commands import commands_of
from tests.e2e.declared_roles import allowed
from tests.e2e.sandbox import Sandbox

PAGE: Final = Path(__file__).parents[2] / "docs" / "own-controllers.md"
SIZE: Final = "example.org/size"


@pytest.fixture
def program(sandbox: Sandbox) -> Path:
    """The program of the page, as a file."""
    file = sandbox.folder / "limits.py"
    scripts = [each.script for each in commands_of(PAGE.read_text(encoding="utf-8"))]
    lines = next(each for each in scripts if each.startswith("cat > limits.py")).splitlines()
    file.write_text("\n".join(lines[1:-1]), encoding="utf-8")
    return file


@pytest.fixture
def process(sandbox: Sandbox, program: Path) -> Iterator[Server]:
    """A replica that may do what the controller declares, and what every process does; not started yet."""
    health, metrics = free_ports(2)
    ports = ["--health-port", str(health), "--metrics-port", str(metrics)]
    cluster = ["--kubeconfig", str(sandbox.kubeconfig), "--lease-namespace", sandbox.home]
    running = Server("limits", [sys.executable, str(program), "run", *cluster, *ports], sandbox.folder / "limits.log")
    controller = controller_of(program)
    elects = Permission.of(LEASES, "create", "get", "update")
    with allowed(sandbox, replace(controller, permissions=(*controller.permissions, elects))):
        yield running
        running.stop()


def controller_of(program: Path) -> Controller[Any]:
    spec = spec_from_file_location("limits", program)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    controller: Controller[Any] = module.CONTROLLER
    return controller


def test_the_controller_of_the_page_plans_and_runs_on_a_real_server(
    sandbox: Sandbox, program: Path, process: Server
) -> None:
    shop = sandbox.namespace("shop")
    sandbox.label_namespace(shop, {SIZE: "small"})
    path = f"/api/v1/namespaces/{shop}/limitranges/container-defaults"

    def cpu() -> str | None:
        status, found = sandbox.control_plane.request("GET", path)
        return str(found["spec"]["limits"][0]["default"]["cpu"]) if status == http.client.OK else None

    def wait_for(expected: str | None) -> None:
        def otherwise() -> Exception:
            return process.error(f"limits are {cpu()}, not {expected}")

        wait_until(lambda: cpu() == expected, timeout=PATIENCE, otherwise=otherwise)

    def planned() -> tuple[int, str]:
        command = [sys.executable, str(program), "plan", "--kubeconfig", str(sandbox.kubeconfig), "-o", "table"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stderr.splitlines()[-1]

    assert planned() == (2, "1 to create")
    assert cpu() is None

    process.start()
    wait_for("250m")
    assert planned() == (0, "nothing to do")

    sandbox.label_namespace(shop, {SIZE: "large"})
    wait_for("2")
    sandbox.label_namespace(shop, {SIZE: None})
    wait_for(None)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["plan", "--config", "x.yaml", "-f", "-"], "No such option"),
        (["run", "--metrics-port", "70000"], "70000 is not in the range"),
    ],
)
def test_options_that_make_no_sense_are_refused(program: Path, arguments: list[str], problem: str) -> None:
    done = subprocess.run([sys.executable, str(program), *arguments], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert problem in done.stderr


def test_who_stops_reading_ends_the_program_like_any_other(program: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {SIZE: "large"}}}

    done = subprocess.run(
        [sys.executable, str(program), "plan", "-f", "-"],
        input=json.dumps(namespace).encode(),
        stdout=writing,
        check=False,
    )
    os.close(writing)

    assert done.returncode == 141
