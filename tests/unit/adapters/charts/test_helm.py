"""How Helm is run, tried with programs that stand for it."""

import json
import os
import stat
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from hedgerow.machinery.charts import RenderChart, RenderedFile, RenderError
from hedgerow_adapters.charts import HelmCommand
from hedgerow_adapters.charts.helm import arguments, environment, remove_leftovers, rendered
from tests.unit.adapters.charts.archived import chart, program

ASKED = RenderChart(chart({}), "os", "extension-os-abcde", {"a": [1]}, "v1.29.4", ("apps/v1", "apps/v1/Deployment"))
TOUCH = "os.makedirs(out + '/test/templates'); open(out + '/test/templates/a.yaml', 'w').write("


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where private folders are made."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def run(tmp_path: Path, body: str, timeout: float = 30.0, asked: RenderChart = ASKED) -> Any:
    """What comes of a program."""
    return rendered(HelmCommand(program(tmp_path / "helm", body), timeout), asked, threading.Event())


def test_what_killed_processes_have_left_is_removed(folders: Path) -> None:
    with subprocess.Popen(["true"]) as gone:
        pass
    parent = f"hedgerow-chart-{os.getppid()}-a"
    kept = {parent, "hedgerow-chart-x-a", "hedgerow-chart-", "of-others"}
    for name in (*kept, f"hedgerow-chart-{os.getpid()}-a", f"hedgerow-chart-{gone.pid}-a"):
        (folders / name).mkdir()
        (folders / name / "values.json").touch()

    remove_leftovers()

    assert {each.name for each in folders.iterdir()} == kept


def test_the_arguments() -> None:
    assert list(arguments(ASKED, Path("/private"))) == [
        "template",
        "--namespace=extension-os-abcde",
        "--values=/private/values.json",
        "--kube-version=v1.29.4",
        "--api-versions=apps/v1",
        "--api-versions=apps/v1/Deployment",
        "--skip-tests",
        "--output-dir=/private/out",
        "--",
        "os",
        "/private/chart.tgz",
    ]


def test_helm_sees_neither_proxies_nor_settings_nor_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTPS_PROXY", "KUBECONFIG", "HELM_NAMESPACE", "HELM_PLUGINS"):
        monkeypatch.setenv(name, "mine")

    seen = environment(Path("/private"))

    assert "mine" not in seen.values()
    assert seen["KUBECONFIG"] == "/private/kubeconfig"
    assert {name: seen[f"HELM_{name}_HOME"] for name in ("CACHE", "CONFIG", "DATA")} == {
        "CACHE": "/private/cache",
        "CONFIG": "/private/config",
        "DATA": "/private/data",
    }


def test_helm_finds_chart_and_values_in_a_private_folder_that_is_gone_afterwards(tmp_path: Path, folders: Path) -> None:
    seen = tmp_path / "seen.json"
    body = f"""import json
here = os.getcwd()
json.dump([os.stat(here).st_mode, arguments, open('values.json').read(), os.path.getsize('kubeconfig'),
           os.path.getsize('chart.tgz'), dict(os.environ)], open({str(seen)!r}, 'w'))
{TOUCH}'a: b')"""

    assert run(tmp_path, body) == (RenderedFile("test/templates/a.yaml", ({"a": "b"},)),)
    mode, told, values, kubeconfig, size, variables = json.loads(seen.read_text())
    private = Path(variables["HOME"])
    assert private.parent == folders
    assert told == list(arguments(ASKED, private))
    assert stat.S_IMODE(mode) == 0o700
    assert (json.loads(values), kubeconfig, size) == ({"a": [1]}, 0, len(ASKED.chart))
    assert variables.items() >= environment(private).items()
    assert not [*folders.iterdir()]


def test_an_error_is_told_without_the_temporary_path_and_the_same_each_time(tmp_path: Path) -> None:
    body = """
print('coalesce.go:1: warning: ' + os.getcwd(), file=sys.stderr)
print('Error: open ' + os.getcwd() + '/chart.tgz: broken in ' + os.getcwd(), file=sys.stderr)
print('\\nUse --debug flag to render out invalid YAML', file=sys.stderr)
sys.exit(1)"""
    first, second = run(tmp_path, body), run(tmp_path, body)

    assert first == second == RenderError("chart", "open chart.tgz: broken in")


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("sys.exit(3)", RenderError("chart", "helm ended with code 3")),
        ("sys.exit('Error: ' + 'a' * 3000 + 'b')", RenderError("chart", f"{'a' * 1000} … {'a' * 999}b")),
        ("sys.stderr.write('x' * 10_000_000); sys.exit(1)", RenderError("chart", f"{'x' * 1000} … {'x' * 1000}")),
        ("os.kill(os.getpid(), 9)", RenderError("unavailable", "helm was killed by signal 9")),
        ("sys.exit('Error: write out/a: no space left on device')",
         RenderError("unavailable", "write out/a: no space left on device")),
        ("sys.exit('fatal error: out of memory')", RenderError("chart", "helm needs more than 512 MiB of memory")),
        (f"{TOUCH}'- a')",
         RenderError("chart", "test/templates/a.yaml: document 1: error unmarshaling JSON: while decoding JSON: json: "
                              "cannot unmarshal array into Go value of type map[string]interface {}")),
        ("print('x' * 100_000_000)", ()),
    ],
    ids=["code", "long", "talkative", "killed", "full disk", "memory", "no object", "prints"],
)  # fmt: skip
def test_what_comes_of_an_end(tmp_path: Path, body: str, error: Any) -> None:
    assert run(tmp_path, body) == error


def test_a_file_that_is_too_large_cannot_be_written(tmp_path: Path) -> None:
    error = run(tmp_path, f"import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n{TOUCH}'a' * 5_000_000)")

    assert isinstance(error, RenderError)
    assert (error.cause, "File too large" in error.message) == ("chart", True)


def test_memory_is_bounded(tmp_path: Path) -> None:
    error = run(tmp_path, "bytearray(600 * 1024**2)")

    assert isinstance(error, RenderError)
    assert error.message.endswith("MemoryError")


def alive(process: int) -> bool:
    """Whether a process still runs; one that has ended may not have been collected yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def all_end(started: Path) -> bool:
    """Whether all processes that a file names end, which they do a moment after they were killed."""
    limit = time.monotonic() + 20
    while survivors := any(alive(int(process)) for process in started.read_text().split()):
        if time.monotonic() > limit:
            break
        os.sched_yield()
    return not survivors


FORKS = "child = os.fork()\nif child: open({!r}, 'w').write(f'{{child}} {{os.getpid()}}')\ntime.sleep(60)"


def test_what_does_not_end_in_time_is_killed_with_all_that_it_has_started(tmp_path: Path, folders: Path) -> None:
    started = tmp_path / "started"

    error = run(tmp_path, FORKS.format(str(started)), timeout=0.5)

    assert error == RenderError("timeout", "helm has not ended within 0.5 s")
    assert all_end(started)
    assert not [*folders.iterdir()]


def test_a_rendering_that_nobody_waits_for_is_killed(tmp_path: Path, folders: Path) -> None:
    started, stop = tmp_path / "started", threading.Event()
    command = HelmCommand(program(tmp_path / "helm", FORKS.format(str(started))), 30.0)
    worker = threading.Thread(target=rendered, args=(command, ASKED, stop))
    worker.start()
    limit = time.monotonic() + 20
    while not (started.exists() and started.read_text()) and time.monotonic() < limit:
        os.sched_yield()

    stop.set()
    worker.join(10)

    assert not worker.is_alive()
    assert all_end(started)
    assert not [*folders.iterdir()]


def test_a_missing_binary_is_named(tmp_path: Path) -> None:
    missing = str(tmp_path / "no-helm")

    error = rendered(HelmCommand(missing), ASKED, threading.Event())

    assert error == RenderError("unavailable", f"{missing} cannot be run: it is not installed, or not executable")


def test_a_binary_of_another_machine_is_unavailable(tmp_path: Path) -> None:
    binary = tmp_path / "helm"
    binary.write_bytes(b"\x7fELF no program")
    binary.chmod(0o755)

    error = rendered(HelmCommand(str(binary)), ASKED, threading.Event())

    assert error == RenderError("unavailable", "no chart can be rendered: Exec format error")


def test_without_a_folder_for_temporary_files_no_chart_can_be_rendered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))

    assert run(tmp_path, "") == RenderError("unavailable", "no chart can be rendered: No such file or directory")


def test_a_hostile_archive_never_reaches_helm(tmp_path: Path) -> None:
    asked = RenderChart(b"no archive", "os", "a", {}, "v1.29.4")

    error = run(tmp_path, "raise AssertionError", asked=asked)

    assert error == RenderError("chart", "the chart is not a whole tar archive, compressed with gzip")
