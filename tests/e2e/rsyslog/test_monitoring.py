"""Alerts and scrape job, as Prometheus itself takes them."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from hedgerow.rsyslog_relp.monitoring import monitoring_config_map
from tests.e2e.rsyslog.programs import Programs

DATA = monitoring_config_map("shoot--foo--bar")["data"]
FAILURES, IDLE = "RsyslogTooManyRelpActionFailures", "RsyslogRelpActionProcessingRateIsZero"
ACTION = 'origin="core.action",name="rsyslog-relp",node="n"'
FIXED = {"service": "rsyslog-relp", "severity": "warning", "visibility": "operator"}


def promtool(programs: Programs, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = programs.command("promtool", *arguments)
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    file = tmp_path / "rsyslog-relp.rules.yaml"
    file.write_text(yaml.safe_load(DATA["alerting_rules"])[file.name])
    return file


def test_the_rules_are_rules(programs: Programs, rules: Path) -> None:
    ended = promtool(programs, "check", "rules", rules)

    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize(
    ("series", "alert", "fires"),
    [
        ({"failed": "0+60x60", "processed": "0+60x60"}, FAILURES, {"10m": False, "40m": True}),
        ({"failed": "0+1x60", "processed": "0+100x60"}, FAILURES, {"40m": False}),
        ({"failed": "0+0x60", "processed": "5+0x60"}, IDLE, {"10m": False, "40m": True}),
        ({}, FAILURES, {"40m": False}),
        ({}, IDLE, {"40m": False}),
    ],
)
def test_alerts_fire_when_they_should(
    programs: Programs, rules: Path, series: dict[str, str], alert: str, fires: dict[str, bool]
) -> None:
    (rule,) = (each for each in yaml.safe_load(rules.read_text())["groups"][0]["rules"] if each["alert"] == alert)
    labels = {**FIXED, "type": "shoot" if alert == FAILURES else "seed"}
    if alert == IDLE:
        labels |= {"origin": "core.action", "name": "rsyslog-relp", "node": "n"}
    expected: list[Any] = [{"exp_labels": labels, "exp_annotations": rule["annotations"]}]
    times = [
        {"eval_time": at, "alertname": alert, "exp_alerts": expected if is_firing else []}
        for at, is_firing in fires.items()
    ]
    inputs = [{"series": f"rsyslog_pstat_{name}{{{ACTION}}}", "values": values} for name, values in series.items()]
    test = {"interval": "1m", "input_series": inputs, "alert_rule_test": times}
    file = rules.with_name("test.yaml")
    file.write_text(json.dumps({"rule_files": [str(rules)], "evaluation_interval": "1m", "tests": [test]}))

    ended = promtool(programs, "test", "rules", file)

    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_the_scrape_job_is_one_of_prometheus(programs: Programs, tmp_path: Path) -> None:
    (job,) = yaml.safe_load(DATA["scrape_config"])
    # Debian's Prometheus finds nothing by asking Kubernetes.
    del job["kubernetes_sd_configs"]
    for name in ("ca", "token"):
        (tmp_path / name).write_text("")
    job |= {"static_configs": [{"targets": ["kube-apiserver:443"]}], "tls_config": {"ca_file": str(tmp_path / "ca")}}
    job["authorization"]["credentials_file"] = str(tmp_path / "token")
    (tmp_path / "prometheus.yaml").write_text(yaml.safe_dump({"scrape_configs": [job]}))

    ended = promtool(programs, "check", "config", "--syntax-only", tmp_path / "prometheus.yaml")

    assert ended.returncode == 0, ended.stdout + ended.stderr
