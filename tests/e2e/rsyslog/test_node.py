"""The configure script and the cleaner on a node whose units are systemd's, and whose rules are compiled by augenrules.

`systemctl --root` answers about a folder without a running systemd; what would start or stop a service is recorded.
"""

import os
import shutil
from pathlib import Path

import pytest

from hedgerow.rsyslog_relp.rendering import audit_rules
from tests.e2e.rsyslog.programs import Programs
from tests.e2e.rsyslog.test_audit_rules import augenrules_below
from tests.unit.core.rsyslog_relp.node import Node

SERVICE = "[Service]\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n"
UNITS = "usr/lib/systemd/system"
SYSTEMCTL = """#!/bin/bash
case $1 in
  list-unit-files|is-enabled|is-active|daemon-reload) ;;
  *) echo "systemctl $*" >>"$NODE/calls" ;;
esac
case $1 in
  list-unit-files|is-enabled|enable|disable) exec {systemctl} --root={root} "$@" ;;
esac
"""
AUGENRULES = """#!/bin/bash
echo "augenrules $*" >>"$NODE/calls"
export PATH=/usr/bin:/bin
exec sh {program}
"""
LOADED = ["augenrules --load", "systemctl restart auditd.service"]
RESTARTED = ["systemctl restart rsyslog.service"]


@pytest.fixture
def node(programs: Programs, tmp_path: Path) -> Node:
    """A node with auditd and rsyslog, of which rsyslog is not enabled yet."""
    systemctl = shutil.which("systemctl", path=os.defpath)
    if systemctl is None:
        pytest.skip("there is no systemctl here")
    own = Node(tmp_path)
    (tmp_path / "augenrules").write_text(augenrules_below(programs, own.root))
    own.command("systemctl", SYSTEMCTL.format(systemctl=systemctl, root=own.root))
    own.command("augenrules", AUGENRULES.format(program=tmp_path / "augenrules"))
    (own.root / UNITS).mkdir(parents=True)
    for unit in ("auditd.service", "rsyslog.service"):
        (own.root / UNITS / unit).write_text(SERVICE)
    own.edit({f"audit_staged_dir/{name}": text for name, text in audit_rules().items()})
    own.edit({"conf_staged": "conf", "unit_file": SERVICE, "audit_installed_dir/dist.rules": "-w /etc/passwd\n"})
    return own


def compiled(node: Node) -> str:
    return (node.root / "etc" / "audit" / "audit.rules").read_text()


def test_what_is_installed_is_configured_once(node: Node) -> None:
    assert node.configure() == (0, [*LOADED, "systemctl enable rsyslog.service", *RESTARTED])
    assert (node.root / "etc/systemd/system/multi-user.target.wants/rsyslog.service").is_symlink()
    assert "-F key=system_integrity" in compiled(node)
    assert "/etc/passwd" not in compiled(node)
    assert node.configure() == (0, [])


@pytest.mark.parametrize(
    ("unit", "calls"), [("auditd", ["systemctl enable rsyslog.service", *RESTARTED]), ("rsyslog", LOADED)]
)
def test_what_is_not_installed_is_skipped(node: Node, unit: str, calls: list[str]) -> None:
    (node.root / UNITS / f"{unit}.service").unlink()

    assert node.configure() == (0, calls)
    assert f"{unit}.service is not installed" in node.output.stdout


@pytest.mark.parametrize(
    ("unit", "calls"), [("auditd", ["systemctl enable rsyslog.service", *RESTARTED]), ("rsyslog", LOADED)]
)
def test_what_is_masked_is_skipped(node: Node, unit: str, calls: list[str]) -> None:
    masked = node.root / "etc/systemd/system" / f"{unit}.service"
    masked.parent.mkdir(parents=True, exist_ok=True)
    masked.symlink_to("/dev/null")

    assert node.configure() == (0, calls)
    assert f"{unit}.service is masked" in node.output.stdout


def test_the_cleaner_brings_back_the_rules_of_the_node(node: Node) -> None:
    node.configure()

    status, calls = node.clean()

    assert status == 0
    assert calls == [
        "systemctl disable rsyslog-configurator.service",
        "systemctl stop rsyslog-configurator.service",
        *LOADED,
        *RESTARTED,
    ]
    assert "/etc/passwd" in compiled(node)
    assert "system_integrity" not in compiled(node)
    assert node.clean() == (0, [])
