"""Runs `helm template` on one chart, in a private folder and within limits.

Helm runs without a cluster, without the user's settings and without proxies. Its process group is killed at the time
limit, and as soon as nobody waits for the rendering. The kernel bounds its memory, its files, and for how long it may
compute if this process dies before it. Messages name no temporary path, so that they are the same each time.

Source: controller-registration §8.7; Helm documentation, "helm template".
"""

import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Final

from hedgerow.machinery.charts import RenderChart, RenderedChart, RenderError
from hedgerow_adapters.charts import HelmCommand
from hedgerow_adapters.charts.archives import archive_problem
from hedgerow_adapters.charts.outputs import MOST_BYTES, UnreadableOutputError, rendered_files

MOST_MEMORY: Final = 512 * 1024 * 1024
"""Bytes of memory that Helm may allocate. It needs some 80 MiB, and several times the size of large charts."""
_MOST_SAID: Final = 256 * 1024  # bytes that are read of what Helm says
_LONGEST_MESSAGE: Final = 2_000
_NOT_RUN: Final = (126, 127)
"""The codes with which a shell ends that cannot become a program."""
_BLOCK: Final = 512  # bytes, in which shells measure files
_LOOKS_EVERY: Final = 0.05  # seconds, whether anybody still waits
_ERROR: Final = "\nError: "
_FOLDER: Final = "hedgerow-chart-"
_HINT: Final = "\n\nUse --debug flag to render out invalid YAML"
_NO_SPACE: Final = "no space left on device"


def remove_leftovers() -> None:
    """Remove the folders of processes that were killed: those of this number, or of one that no process has."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*-*"):
        number = folder.name.removeprefix(_FOLDER).partition("-")[0]
        if number.isdecimal() and not _is_another(int(number)):
            shutil.rmtree(folder, ignore_errors=True)


def _is_another(number: int) -> bool:
    """Whether another process has a number."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return number != os.getpid()


def rendered(helm: HelmCommand, chart: RenderChart, stop: threading.Event) -> RenderedChart:
    """What a chart renders to; once `stop` is set, any error, and soon."""
    if problem := archive_problem(chart.chart):
        return RenderError("chart", problem)
    if (program := shutil.which(helm.binary)) is None:
        return RenderError("unavailable", f"{helm.binary} cannot be run: it is not installed, or not executable")
    try:
        with tempfile.TemporaryDirectory(prefix=f"{_FOLDER}{os.getpid()}-", ignore_cleanup_errors=True) as name:
            return _rendered_in(Path(name).resolve(), Path(program).absolute(), helm.timeout, chart, stop)
    except OSError as error:
        return RenderError("unavailable", f"no chart can be rendered: {error.strerror or error}")
    except UnreadableOutputError as error:
        return RenderError("chart", str(error))


def _rendered_in(
    folder: Path, program: Path, timeout: float, chart: RenderChart, stop: threading.Event
) -> RenderedChart:
    (folder / "chart.tgz").write_bytes(chart.chart)
    (folder / "values.json").write_text(json.dumps(chart.values), encoding="utf-8")
    (folder / "kubeconfig").touch()
    (folder / "out").mkdir()
    with subprocess.Popen(  # noqa: S603 -- no shell reads the arguments
        [*_within_limits(timeout), program, *arguments(chart, folder)],
        cwd=folder,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            said = _said(process, time.monotonic() + timeout, stop)
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
    if said is None:
        return RenderError("timeout", f"helm has not ended within {timeout:g} s")
    if process.returncode:
        return _failure(process.returncode, said.decode(errors="replace"), folder)
    return rendered_files(folder / "out")


def arguments(chart: RenderChart, folder: Path) -> Sequence[str]:
    """The arguments of Helm for a chart whose files are in a folder."""
    return [
        "template",
        f"--namespace={chart.namespace}",
        f"--values={folder / 'values.json'}",
        *([f"--kube-version={chart.kube_version}"] if chart.kube_version else ()),
        *(f"--api-versions={each}" for each in chart.api_versions),
        "--skip-tests",
        f"--output-dir={folder / 'out'}",
        "--",
        chart.release,
        str(folder / "chart.tgz"),
    ]


def environment(folder: Path) -> Mapping[str, str]:
    """All that Helm sees of the environment."""
    return {
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "KUBECONFIG": str(folder / "kubeconfig"),
        **{f"HELM_{name}_HOME": str(folder / name.lower()) for name in ("CACHE", "CONFIG", "DATA")},
        # Two charts at a time have a processor each. Memory is collected before the kernel refuses more.
        "GOMAXPROCS": "1",
        "GOMEMLIMIT": str(MOST_MEMORY * 3 // 4),
    }


def _within_limits(timeout: float) -> Sequence[str]:
    """The beginning of a command: a shell bounds what it may use itself, and becomes the program that follows.

    Only the process itself can bound what it uses before it begins to work. Where memory runs out all the same, the
    kernel ends Helm and not this process.
    """
    limits = {"d": MOST_MEMORY // 1024, "f": MOST_BYTES // _BLOCK, "t": ceil(timeout) + 1, "c": 0}
    bounded = "; ".join(f"ulimit -{limit} {most}" for limit, most in limits.items())
    return ["/bin/sh", "-c", f'{bounded}; echo 1000 2>&- >/proc/self/oom_score_adj; exec "$@"', "helm"]


def _said(process: subprocess.Popen[bytes], deadline: float, stop: threading.Event) -> bytes | None:
    """The beginning of what a process says until it ends; none: it has not ended in time, or was told to stop."""
    assert process.stderr is not None  # noqa: S101 -- it is a pipe
    poll, said = select.poll(), b""
    poll.register(process.stderr, select.POLLIN)
    while (left := deadline - time.monotonic()) > 0 and not stop.is_set():
        if not poll.poll(min(left, _LOOKS_EVERY) * 1000):
            continue
        piece = os.read(process.stderr.fileno(), _MOST_SAID)
        said += piece[: _MOST_SAID - len(said)]
        if not piece:
            try:
                process.wait(left)
            except subprocess.TimeoutExpired:
                return None
            return said
    return None


def _failure(code: int, said: str, folder: Path) -> RenderError:
    if code < 0:
        return RenderError("unavailable", f"helm was killed by signal {-code}")
    if code in _NOT_RUN:
        return RenderError("unavailable", f"no chart can be rendered: {said.strip().rpartition(': ')[2]}")
    if said.startswith("fatal error:"):
        return RenderError("chart", f"helm needs more than {MOST_MEMORY // 1024**2} MiB of memory")
    before, _, error = f"\n{said}".replace(f"{folder}{os.sep}", "").replace(str(folder), "").partition(_ERROR)
    message = (error or before).removesuffix("\n").removesuffix(_HINT).strip()
    if len(message) > _LONGEST_MESSAGE:  # the cause is at the end
        message = f"{message[: _LONGEST_MESSAGE // 2]} … {message[-_LONGEST_MESSAGE // 2 :]}"
    return RenderError("unavailable" if _NO_SPACE in message else "chart", message or f"helm ended with code {code}")
