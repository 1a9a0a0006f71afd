"""The installed command, as a process: what only a process can meet. Needs no server."""

import errno
import os
import pty
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.control_plane import PATIENCE

COMMAND = str(Path(sys.executable).parent / "hedgerow")
LANDSCAPE = str(Path(__file__).parents[2] / "examples" / "landscape")
PLAN = (COMMAND, "plan", "networkpolicy")
KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: seed
contexts: [{name: seed, context: {cluster: seed, user: admin}}]
clusters: [{name: seed, cluster: {server: "SERVER"}}]
users: [{name: admin, user: {token: secret}}]
"""


def run(*command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env={**os.environ, **environment},
    )


def test_the_command_is_installed_with_its_examples(tmp_path: Path) -> None:
    ended = subprocess.run([COMMAND, "demo"], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stderr) == (0, "")
    assert "5. The Service goes\n" in ended.stdout


# How it ends.


@pytest.mark.parametrize(
    "command",
    [(*PLAN, "-f", LANDSCAPE), (COMMAND, "health", "-f", LANDSCAPE), (COMMAND, "demo")],
    ids=["plan", "health", "demo"],
)
def test_a_reader_who_has_left_ends_the_command_without_a_word(command: tuple[str, ...]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing) as nobody_reads_this:
        ended = subprocess.run(command, stdout=nobody_reads_this, stderr=subprocess.PIPE, text=True, check=False)

    assert (ended.returncode, ended.stderr) == (141, "")


def test_output_that_finds_no_place_is_an_error() -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run([COMMAND, "demo"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)

    assert (ended.returncode, ended.stderr) == (
        1,
        "error: the output cannot be written: No space left on device\n",
    )


@pytest.fixture
def _ctrl_c_reaches_processes() -> Iterator[None]:
    """Processes that a shell starts in the background ignore interrupts, and so do those that they start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_ctrl_c_reaches_processes")
def test_ctrl_c_ends_the_command_while_it_reads(tmp_path: Path) -> None:
    pipe = tmp_path / "manifests.yaml"
    os.mkfifo(pipe)

    with (
        subprocess.Popen(
            [*PLAN, "-f", str(pipe)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process,
        pipe.open("w"),
    ):  # opens once the command reads
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)

    assert (process.returncode, out, err) == (130, "", "\ninterrupted\n")


@pytest.mark.usefixtures("_ctrl_c_reaches_processes")
def test_ctrl_c_ends_the_command_while_it_waits_for_a_cluster(tmp_path: Path, silent_server: socket.socket) -> None:
    arguments = _kubeconfig_for(silent_server, tmp_path)

    with subprocess.Popen([*PLAN, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        connection, _ = silent_server.accept()
        with connection:
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE)

    assert (process.returncode, out, err) == (130, "", "\ninterrupted\n")


# Colours.


def shown_on_a_terminal(*command: str, **environment: str) -> str:
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb") as terminal:
        process = subprocess.Popen(command, stdout=theirs, stderr=theirs, env={**os.environ, **environment})
        os.close(theirs)
        shown = b"".join(iter(lambda: _read(terminal.fileno()), b""))
        process.wait(timeout=PATIENCE)
    return shown.decode()


def _read(terminal: int) -> bytes:
    """What a terminal shows next; nothing once the process has gone, which Linux reports as an error."""
    try:
        return os.read(terminal, 2**16)
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        return b""


def test_colours_are_for_terminals_that_want_them() -> None:
    command = (*PLAN, "-f", LANDSCAPE, "-o", "table")

    assert "\x1b[32mcreate\x1b[0m" in shown_on_a_terminal(*command, NO_COLOR="")
    assert "\x1b" not in shown_on_a_terminal(*command, NO_COLOR="1")
    assert "\x1b" not in run(*command, NO_COLOR="").stdout


# Clusters that do not answer.


@pytest.fixture
def closed_port() -> Iterator[socket.socket]:
    """A port that nobody else gets and on which nobody listens."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound


@pytest.fixture
def silent_server() -> Iterator[socket.socket]:
    """A server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(PATIENCE)
        yield listening


def _kubeconfig_for(server: socket.socket, folder: Path, scheme: str = "http") -> tuple[str, ...]:
    file = folder / f"{scheme}.kubeconfig"
    file.write_text(KUBECONFIG.replace("SERVER", f"{scheme}://127.0.0.1:{server.getsockname()[1]}"))
    return "--kubeconfig", str(file)


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_cluster_that_refuses_connections_is_said_in_a_sentence(
    scheme: str, tmp_path: Path, closed_port: socket.socket
) -> None:
    ended = run(*PLAN, *_kubeconfig_for(closed_port, tmp_path, scheme))

    port = closed_port.getsockname()[1]
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == f"error: cannot connect to {scheme}://127.0.0.1:{port}: Connection refused\n"


def test_a_cluster_that_never_answers_is_said_in_a_sentence(tmp_path: Path, silent_server: socket.socket) -> None:
    schemes = ("http", "https")
    waiting = [
        subprocess.Popen(
            [*PLAN, *_kubeconfig_for(silent_server, tmp_path, scheme)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for scheme in schemes
    ]

    port = silent_server.getsockname()[1]
    for process, scheme in zip(waiting, schemes, strict=True):
        with process:
            out, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, out) == (1, "")
        assert err == f"error: {scheme}://127.0.0.1:{port} did not answer GET /api/v1/services completely within 7 s\n"
