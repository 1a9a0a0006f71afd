"""Statistics on their way: rsyslogd, the real script, Prometheus's own parser, node-exporter."""

import re
import subprocess
from pathlib import Path
from urllib.request import urlopen

import pytest

from hedgerow.rsyslog_relp.pstats import textfiles
from hedgerow.rsyslog_relp.rendering import pstats_script
from tests.e2e.rsyslog.daemons import Node, Server, eventually, free_port
from tests.e2e.rsyslog.programs import Programs
from tests.e2e.rsyslog.test_delivery import CRIT, USER, config

LINT = re.compile(r'\S+ counter metrics should have "_total" suffix')


@pytest.fixture
def metrics(node: Node, server: Server, folder: Path) -> Path:
    """The file of metrics that the real script has made of what a real rsyslogd told it."""
    paths = node.paths
    script, both = folder / "pstats.sh", folder / "both"
    script.write_text(pstats_script(paths))
    both.write_text(f"#!/bin/sh\nexec tee {folder}/statistics | {script}\n")
    for program in (script, both):
        program.chmod(0o755)
    file = Path(paths.pstats_output)
    file.parent.mkdir(parents=True)
    with server.running(), node.running(config(server), str(both)):
        node.say("other", USER + CRIT, "counted")
        eventually(lambda: file.exists() and "processed{" in file.read_text(), "metrics are written")
    return file


def test_the_script_writes_what_the_statistics_say(metrics: Path, folder: Path) -> None:
    told = (folder / "statistics").read_text().splitlines()

    assert metrics.read_text() in [*textfiles(told)]
    assert metrics.stat().st_mode & 0o444 == 0o444  # node-exporter is another user


def test_prometheus_reads_the_metrics(programs: Programs, metrics: Path) -> None:
    command = programs.command("promtool", "check", "metrics")
    ended = subprocess.run(command, input=metrics.read_text(), capture_output=True, text=True, check=False)

    assert ended.returncode in {0, 3}
    assert not [line for line in ended.stderr.splitlines() if line and not LINT.fullmatch(line)]


def test_node_exporter_shows_the_metrics(programs: Programs, metrics: Path) -> None:
    port = free_port()
    collector = ("--collector.disable-defaults", "--collector.textfile")
    listen, folder = f"--web.listen-address=127.0.0.1:{port}", f"--collector.textfile.directory={metrics.parent}"
    command = programs.command("prometheus-node-exporter", *collector, listen, folder)

    def shown() -> str:
        try:
            with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
                text: str = answer.read().decode()
                return text
        except OSError:
            return ""

    with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=programs.environment) as exporter:
        eventually(shown, "node-exporter answers")
        text = shown()
        exporter.terminate()

    assert "node_textfile_scrape_error 0" in text
    series = [line.partition(" ")[0] for line in metrics.read_text().splitlines() if line[0] != "#"]
    assert all(re.sub(r"\{.*", "", each) in text for each in series)
