"""What the scripts do on a node: the configure script, and the cleaner that undoes it."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.unit.core.rsyslog_relp.node import Node

RULE_FILES = ("00-base-config", "10-privilege-escalation", "11-privileged-special", "12-system-integrity")
RULES = {f"audit_staged_dir/{name}.rules": f"-D {name}\n" for name in RULE_FILES}
CERTIFICATES = {f"tls_staged_dir/{name}": name for name in ("ca.crt", "tls.crt", "tls.key")}
PLUGIN = "# no need to edit this\nActive = no\ndirection = out\n"
STAGED = {**RULES, "conf_staged": "conf", "unit_file": "[Unit]\n"}
FRESH = {**STAGED, "audit_installed_dir/10-dist.rules": "-w /etc/passwd\n", "audit_syslog_plugin": PLUGIN}
UP = ("installed", "enabled", "active")
AUDITD, RSYSLOG = "systemctl restart auditd.service", "systemctl restart rsyslog.service"
LOAD = "augenrules --load"


@pytest.fixture
def node(tmp_path: Path) -> Node:
    """A node with both services, on which nothing is configured."""
    return node_with(tmp_path, FRESH)


def node_with(
    folder: Path, files: Mapping[str, str], *, auditd: tuple[str, ...] = UP, rsyslog: tuple[str, ...] = UP
) -> Node:
    node = Node(folder)
    node.edit(files)
    node.set_units({"auditd.service": auditd, "rsyslog.service": rsyslog})
    return node


def installed(tree: Mapping[str, str], folder: str) -> dict[str, str]:
    return {name.partition("/")[2]: text for name, text in tree.items() if name.startswith(f"{folder}/")}


def configured(node: Node) -> Node:
    assert node.configure()[0] == 0
    return node


def test_everything_is_installed_and_each_service_restarted_once(node: Node) -> None:
    assert node.configure() == (0, [LOAD, AUDITD, RSYSLOG])

    tree = node.tree()
    assert installed(tree, "audit_backup_dir") == {"10-dist.rules": "-w /etc/passwd\n"}
    assert installed(tree, "audit_installed_dir") == installed(RULES, "audit_staged_dir")
    assert tree["audit_syslog_plugin"] == "# no need to edit this\nactive = yes\ndirection = out\n"
    assert tree["conf_installed"] == "conf"
    assert not [name for name in tree if "pending" in name or ".new" in name]


def test_a_second_run_does_nothing(node: Node) -> None:
    before = configured(node).tree()

    assert node.configure() == (0, [])
    assert node.tree() == before


def test_a_changed_configuration_restarts_rsyslog_alone(node: Node) -> None:
    configured(node).edit({"conf_staged": "other"})

    assert node.configure() == (0, [RSYSLOG])
    assert node.tree()["conf_installed"] == "other"


@pytest.mark.parametrize(
    "edit",
    [
        {"audit_staged_dir/10-privilege-escalation.rules": "other"},
        {"audit_installed_dir/99-foreign.rules": "x"},
        {"audit_installed_dir/.hidden": "x"},
        {"audit_installed_dir/00-base-config.rules": None},
    ],
)
def test_other_audit_rules_are_replaced_and_the_backup_stays(node: Node, edit: dict[str, str | None]) -> None:
    backup = installed(configured(node).tree(), "audit_backup_dir")
    node.edit(edit)

    assert node.configure() == (0, [LOAD, AUDITD])
    tree = node.tree()
    assert installed(tree, "audit_installed_dir") == installed(tree, "audit_staged_dir")
    assert installed(tree, "audit_backup_dir") == backup


def test_a_service_that_is_not_installed_is_skipped(tmp_path: Path) -> None:
    node = node_with(tmp_path, FRESH, auditd=())
    assert node.configure() == (0, [RSYSLOG])
    assert "auditd.service is not installed" in node.output.stdout

    node.set_units({"auditd.service": UP, "rsyslog.service": ()})
    assert node.configure() == (0, [LOAD, AUDITD])

    node.set_units({"auditd.service": ()})
    assert node.configure() == (0, [])


def test_a_service_that_does_not_run_is_started_and_not_restarted(node: Node) -> None:
    configured(node).stop("rsyslog.service")
    assert node.configure() == (0, ["systemctl start rsyslog.service"])

    node.stop("rsyslog.service")
    node.edit({"conf_staged": "other"})
    assert node.configure() == (0, ["systemctl start rsyslog.service"])
    assert node.configure() == (0, [])


def test_rsyslog_is_enabled(tmp_path: Path) -> None:
    node = node_with(tmp_path, FRESH, auditd=(), rsyslog=("installed", "active"))

    assert node.configure() == (0, ["systemctl enable rsyslog.service", RSYSLOG])


def test_a_masked_service_is_left_alone(tmp_path: Path) -> None:
    node = node_with(tmp_path, FRESH, auditd=(), rsyslog=("installed", "masked"))

    assert node.configure() == (0, [])
    assert "rsyslog.service is masked" in node.output.stdout
    assert "conf_installed" not in node.tree()


def test_certificates_come_change_and_go(node: Node) -> None:
    node.edit(CERTIFICATES)
    assert node.configure() == (0, [LOAD, AUDITD, RSYSLOG])
    assert installed(node.tree(), "tls_installed_dir") == installed(CERTIFICATES, "tls_staged_dir")

    node.edit({"tls_staged_dir/tls.crt": "renewed"})
    assert node.configure() == (0, [RSYSLOG])
    assert node.tree()["tls_installed_dir/tls.crt"] == "renewed"

    node.edit({"tls_staged_dir": None})
    assert node.configure() == (0, [])
    assert not node.path("tls_installed_dir").exists()


def test_rules_that_cannot_be_loaded_stop_nothing(node: Node) -> None:
    node.fail(["augenrules"])

    assert node.configure() == (0, [LOAD, AUDITD, RSYSLOG])
    assert "augenrules could not load all audit rules" in node.output.stderr
    assert node.configure() == (0, [])


@pytest.mark.parametrize("failing", ["restart rsyslog.service", "restart auditd.service"])
def test_a_restart_that_failed_is_tried_again(node: Node, failing: str) -> None:
    node.fail([failing])
    assert f"systemctl {failing}" in configured(node).calls()

    node.fail([])
    assert f"systemctl {failing}" in node.configure()[1]
    assert node.configure() == (0, [])


@pytest.mark.parametrize("marker", [".rsyslog-pending", ".auditd-pending"])
def test_a_run_that_was_killed_before_the_restart_is_finished_by_the_next(node: Node, marker: str) -> None:
    (Path(configured(node).paths.osc_dir) / marker).touch()

    assert node.configure()[1] == ([RSYSLOG] if "rsyslog" in marker else [LOAD, AUDITD])


def test_without_staged_rules_those_of_the_node_stay(tmp_path: Path) -> None:
    node = node_with(tmp_path, {"conf_staged": "conf", "audit_installed_dir/a.rules": "a"})

    assert node.configure() == (0, [RSYSLOG])
    assert installed(node.tree(), "audit_installed_dir") == {"a.rules": "a"}


def test_without_a_staged_configuration_the_installed_one_stays(tmp_path: Path) -> None:
    node = node_with(tmp_path, {"conf_installed": "old"}, auditd=())

    assert node.configure() == (0, [])
    assert node.tree() == {"conf_installed": "old"}


def test_a_node_without_rules_gets_an_empty_backup(tmp_path: Path) -> None:
    node = node_with(tmp_path, STAGED)
    assert configured(node).path("audit_backup_dir").is_dir()

    node.clean()
    assert node.path("audit_installed_dir").is_dir()
    assert installed(node.tree(), "audit_installed_dir") == {}


def test_without_diff_nothing_changes(tmp_path: Path) -> None:
    node = Node(tmp_path, without=("diff", "cmp"))
    node.edit(FRESH)
    node.set_units({"auditd.service": UP, "rsyslog.service": UP})

    assert node.configure() == (0, [])
    assert "there is no diff" in node.output.stderr
    assert node.tree() == FRESH


def test_a_plugin_that_is_active_stays_as_it_is(tmp_path: Path) -> None:
    node = node_with(tmp_path, {**FRESH, "audit_syslog_plugin": "ACTIVE=YES\n"})

    configured(node)
    assert node.tree()["audit_syslog_plugin"] == "ACTIVE=YES\n"
    node.edit({"audit_syslog_plugin": "active = no\n"})
    assert node.configure() == (0, [LOAD, AUDITD])


def test_the_cleaner_restores_the_node(node: Node) -> None:
    node.edit(CERTIFICATES)
    configured(node).edit({"pstats_output": "x 1\n", "pstats_output.tmp": "x"})
    node.set_units({"rsyslog-configurator.service": UP})

    assert node.clean() == (
        0,
        [
            "systemctl disable rsyslog-configurator.service",
            "systemctl stop rsyslog-configurator.service",
            LOAD,
            AUDITD,
            RSYSLOG,
        ],
    )
    assert node.tree() == {
        "audit_installed_dir/10-dist.rules": "-w /etc/passwd\n",
        "audit_syslog_plugin": "# no need to edit this\nactive = no\ndirection = out\n",
    }
    assert node.clean() == (0, [])


def test_the_cleaner_goes_on_when_a_command_fails(node: Node) -> None:
    configured(node)
    node.fail(["disable rsyslog-configurator.service", "stop rsyslog-configurator.service", "restart rsyslog.service"])

    status, _ = node.clean()

    assert status == 0
    assert set(node.tree()) == {"audit_installed_dir/10-dist.rules", "audit_syslog_plugin"}


def test_the_cleaner_does_nothing_on_a_clean_node(tmp_path: Path) -> None:
    node = node_with(tmp_path, {})

    assert node.clean() == (0, [])


def test_the_cleaner_restarts_only_what_is_installed(tmp_path: Path) -> None:
    node = node_with(tmp_path, {"audit_backup_dir/a.rules": "a", "conf_installed": "conf"}, auditd=(), rsyslog=())

    assert node.clean() == (0, [])
    assert node.tree() == {"audit_installed_dir/a.rules": "a"}
