"""The image that `make image` builds: the same twice, and at work as nobody on a read-only root file system."""

import fcntl
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
import yaml

from hedgerow.version import __version__
from tests.e2e.images import Image, Root, why_no_root_can_be_entered
from tests.e2e.resource_manager import NETWORK_POLICIES, ResourceManager
from tests.e2e.sandbox import Sandbox, pair, service

REPOSITORY: Final = Path(__file__).parents[2]
PINS: Final = REPOSITORY / "requirements"
PACKAGES: Final = "/usr/local/lib/python3.11/dist-packages"

pytestmark = pytest.mark.slow


def build(target: Path, **settings: str) -> Path:
    """The folder of a layout that was built anew."""
    command = [sys.executable, "-m", "deploy.image", str(target)]
    done = subprocess.run(
        command,
        cwd=REPOSITORY,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
        umask=0o077,
    )
    if done.returncode == os.EX_UNAVAILABLE:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="module")
def layout(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The folder of the layout, which all workers of a run share: each of them would build for a minute."""
    if shutil.which("apt-get") is None:
        pytest.skip("the base of the image is made of Debian's packages, and there is no apt-get")
    own = tmp_path_factory.getbasetemp()
    shared = own if worker_id == "master" else own.parent
    target, built = shared / "image" / "hedgerow", shared / "image-is-built"
    with (shared / "image.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not built.exists():
            build(target)
            built.touch()
    return target


@pytest.fixture(scope="module")
def image(layout: Path) -> Image:
    return Image(layout)


@pytest.fixture(scope="module")
def root(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Root]:
    if reason := why_no_root_can_be_entered():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("unpacked")
    yield image.unpack(folder / "root")
    shutil.rmtree(folder)


def test_built_twice_it_has_the_same_layers(layout: Path, image: Image, tmp_path: Path) -> None:
    again = Image(build(tmp_path / "again", TZ="Asia/Tokyo", LC_ALL="C", PYTHONHASHSEED="77"))

    assert again.layers == image.layers
    assert again.descriptor == image.descriptor
    assert (tmp_path / "again.cdx.json").read_bytes() == layout.with_suffix(".cdx.json").read_bytes()


def test_what_it_says_of_itself(image: Image) -> None:
    labels = image.config["config"]["Labels"]
    revision = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    ).stdout.strip()

    assert labels["org.opencontainers.image.version"] == __version__
    assert labels["org.opencontainers.image.revision"] == revision
    assert image.config["config"]["User"] == "65532:65532"
    assert image.config["config"]["Entrypoint"] == ["hedgerow"]
    assert [each["created_by"] for each in image.config["history"]] == ["base", "helm", "packages", "hedgerow"]


def test_nothing_in_it_tells_when_or_by_whom_it_was_built(image: Image) -> None:
    members = image.members()

    assert {(each.uid, each.gid, each.mtime) for each in members} == {(0, 0, 315_532_800)}
    assert {oct(each.mode) for each in members if not each.issym()} == {"0o644", "0o755", "0o1777"}
    assert {each.name for each in members if each.mode == 0o1777} <= {"tmp", "var/tmp", "var/lock"}


def test_its_base_is_the_pinned_one(image: Image) -> None:
    (architecture,) = {image.config["architecture"]}
    pinned = (PINS / f"debian-{architecture}.txt").read_text("utf-8")

    assert f"# {image.config['rootfs']['diff_ids'][0]}\n" in pinned


def test_the_bill_of_materials_names_every_pin(layout: Path) -> None:
    bill = json.loads(layout.with_suffix(".cdx.json").read_text("utf-8"))
    named = {f"{each['name']}=={each['version']}" for each in bill["components"]}
    (debian,) = PINS.glob("debian-*.txt")

    assert bill["bomFormat"] == "CycloneDX"
    assert {
        pin.split(" ")[0] for pin in (PINS / "image.txt").read_text("utf-8").splitlines() if pin[:1].isalpha()
    } <= named
    assert {
        pin.split(" ")[0].replace("=", "==") for pin in debian.read_text("utf-8").splitlines() if "=" in pin
    } <= named
    assert any(each["purl"].startswith("pkg:golang/helm.sh/helm/v3@") for each in bill["components"])
    assert all("hashes" in each for each in bill["components"] if each["purl"].startswith(("pkg:pypi", "pkg:deb")))


def test_the_command_is_there_and_can_write_nothing(root: Root, tmp_path: Path) -> None:
    printed = root.run(tmp_path, "--help")
    written = root.run(tmp_path, "-c", ": >/usr/local/anything", entrypoint=["/bin/sh"])

    assert (printed.returncode, printed.stderr) == (0, "")
    assert printed.stdout.startswith("Usage: hedgerow")
    assert written.returncode != 0
    assert "Read-only file system" in written.stderr


def test_it_renders_charts_with_its_own_helm(root: Root, tmp_path: Path) -> None:
    examples = f"{PACKAGES}/hedgerow_entrypoints/examples/controller-registration"

    rendered = root.run(tmp_path, "render", "controller-installation", "-f", examples)

    assert rendered.returncode == 0, rendered.stderr
    assert "kind: Deployment" in rendered.stdout


def test_the_documented_command_fetches_a_record(root: Root, tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "recording.md").read_text("utf-8")
    (fetching,) = (line for line in page.replace("\\\n", " ").splitlines() if " exec POD -- " in line)
    command, _, _ = fetching.partition(" exec POD -- ")[2].partition(" > ")
    record = tmp_path / "decisions.jsonl"
    record.write_text('{"decision": "ü"}\n', encoding="utf-8")
    record.chmod(0o644)
    tmp_path.chmod(0o755)

    there = command.replace("/var/lib/gardener-resource-manager", str(tmp_path))
    fetched = root.run(tmp_path, entrypoint=shlex.split(there))

    assert (fetched.returncode, fetched.stderr) == (0, "")
    assert fetched.stdout == record.read_text("utf-8")


class Contained(ResourceManager):
    """The process in the image."""

    def __init__(self, root: Root, folder: Path, config: dict[str, Any]) -> None:
        super().__init__(folder, config)
        arguments = ("run", self.component, "--config", str(self.config_file))
        self._command = (shutil.which("unshare") or "", *root.command(folder, *arguments)[1:])


def helm_test(root: Root, folder: Path, process: ResourceManager) -> subprocess.CompletedProcess[str]:
    """Ask a process what the pod of `helm test` asks it, which the image's own Helm renders."""
    chart = f"{PACKAGES}/hedgerow_entrypoints/charts/resource-manager"
    shown = ("--show-only", "templates/test-pod.yaml")
    choice = ("--kube-version", "1.27.0", "--set", "managedResources.clusterAdmin=true")
    rendered = root.run(folder, "template", "release", chart, *choice, *shown, entrypoint=["helm"])
    assert rendered.returncode == 0, rendered.stderr
    (container,) = yaml.safe_load(rendered.stdout)["spec"]["containers"]
    ports = {"/readyz": process.health_port, "/metrics": process.metrics_port}
    questions = [
        f"http://127.0.0.1:{ports[urlsplit(each).path]}{urlsplit(each).path}" if "://" in each else each
        for each in container["args"]
    ]
    return root.run(folder, *questions, entrypoint=container["command"])


def test_it_works_against_an_api_server_as_nobody(root: Root, sandbox: Sandbox) -> None:
    config = sandbox.configuration()
    sandbox.kubeconfig.chmod(0o644)
    sandbox.folder.chmod(0o755)
    sandbox.create(service(sandbox.namespace("shop"), "cart"))

    with Contained(root, sandbox.folder, config) as process:
        process.wait_ready()
        sandbox.wait_for_policies(pair("shop", "cart-tcp-8080"))
        status = Path(f"/proc/{process.pid}/status").read_text("utf-8")
        assert "Uid:\t65532\t65532\t65532\t65532" in status
        asked = helm_test(root, sandbox.folder, process)
        assert (asked.returncode, asked.stderr) == (0, "")
        assert process.terminate() == 0

    file = sandbox.folder / "config.yaml"
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    plan = ("plan", NETWORK_POLICIES, "--kubeconfig", str(sandbox.kubeconfig), "--config", str(file))
    done = root.run(sandbox.folder, *plan)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "nothing to do\n")
