"""What the scripts do on a node: the configure script, and the cleaner that undoes it."""

import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.unit.core.rsyslog_relp.node import KILL, Node

RULE_FILES = ("00-base-config", "10-privilege-escalation", "11-privileged-special", "12-system-integrity")
RULES = {f"audit_staged_dir/{name}.rules": f"-D {name}\n" for name in RULE_FILES}
CERTIFICATES = {f"tls_staged_dir/{name}": name for name in ("ca.crt", "tls.crt", "tls.key")}
PLUGIN = "# no need to edit this\nActive = no\ndirection = out\n"
STAGED = {**RULES, "conf_staged": "conf", "unit_file": "[Unit]\n"}
FRESH = {**STAGED, "audit_installed_dir/10-dist.rules": "-w /etc/passwd\n", "audit_syslog_plugin": PLUGIN}
UP = ("installed", "enabled", "active")
AUDITD, RSYSLOG = "systemctl restart auditd.service", "systemctl restart rsyslog.service"
LOAD = "augenrules --load"
DISABLED = [f"systemctl {verb} rsyslog-configurator.service" for verb in ("disable", "stop")]


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
            *DISABLED,
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


def link_the_plugin(node: Node) -> Path:
    """Make the plugin file a symbolic link, and return where it points to."""
    plugin = node.path("audit_syslog_plugin")
    target = plugin.with_name("shared")
    plugin.rename(target)
    plugin.symlink_to(target)
    return target


def test_a_plugin_that_is_a_link_stays_one(node: Node) -> None:
    target = link_the_plugin(node)

    assert "active = yes" in configured(node).path("audit_syslog_plugin").read_text()
    assert node.path("audit_syslog_plugin").readlink() == target
    assert node.clean()[0] == 0
    assert "active = no" in target.read_text()
    assert node.path("audit_syslog_plugin").readlink() == target


@pytest.mark.parametrize("tool", ["sed", "cp"])
def test_a_plugin_that_cannot_be_edited_restarts_nothing(node: Node, tool: str) -> None:
    configured(node).edit({"audit_syslog_plugin": PLUGIN})
    node.intercept(tool, "*/plugins.d/*")

    assert node.configure() == (0, [])
    assert "could not activate" in node.output.stderr
    assert node.configure() == (0, [])
    assert node.tree()["audit_syslog_plugin"] == PLUGIN


def test_a_restart_that_is_due_stays_due_when_the_plugin_cannot_be_edited(node: Node) -> None:
    node.intercept("cp", "*/plugins.d/*")
    node.fail(["restart auditd.service"])
    configured(node)

    node.fail([])
    assert node.configure() == (0, [AUDITD])


def test_a_plugin_that_cannot_be_edited_does_not_end_the_cleaner(node: Node) -> None:
    configured(node).intercept("sed", "*/plugins.d/*")

    status, _ = node.clean()

    assert (status, node.output.stdout.count("could not deactivate")) == (0, 1)
    assert node.tree()["audit_syslog_plugin"] == PLUGIN.replace("Active = no", "active = yes")


def test_a_masked_auditd_is_left_alone(tmp_path: Path) -> None:
    node = node_with(tmp_path, FRESH, auditd=("installed", "masked"), rsyslog=())

    assert node.configure() == (0, [])
    assert "auditd.service is masked" in node.output.stdout
    assert node.tree() == FRESH


def test_rules_that_are_loaded_are_not_loaded_again_when_the_restart_is_tried_again(node: Node) -> None:
    node.fail(["restart auditd.service"])

    assert LOAD in configured(node).calls()
    assert node.configure() == (0, [AUDITD])

    node.edit({"audit_staged_dir/10-privilege-escalation.rules": "other"})
    assert node.configure() == (0, [LOAD, AUDITD])
    node.fail([])
    assert node.configure() == (0, [AUDITD])
    assert node.configure() == (0, [])


@pytest.mark.parametrize("folder", ["audit_installed_dir", "tls_installed_dir"])
def test_what_is_installed_stays_when_its_successor_cannot_be_copied(node: Node, folder: str) -> None:
    node.edit(CERTIFICATES)
    node.edit({"tls_installed_dir/tls.crt": "old"})
    node.intercept("cp", f"*{node.path(folder)}.new")
    before = installed(node.tree(), folder)

    assert (AUDITD if folder == "audit_installed_dir" else RSYSLOG) not in configured(node).calls()
    assert "could not copy" in node.output.stderr
    assert installed(node.tree(), folder) == before
    assert not [name for name in node.tree() if ".new" in name]

    node.release("cp")
    staged = folder.replace("installed", "staged")
    assert installed(configured(node).tree(), folder) == installed({**RULES, **CERTIFICATES}, staged)


@pytest.mark.parametrize(
    ("tool", "pattern"),
    [
        ("cp", "*rules.d.new"),
        ("mv", "*rules.d.original"),
        ("mv", "*rules.d.new*"),
        ("cp", "*/plugins.d/*"),
        ("augenrules", "--load"),
        ("systemctl", "*restart*auditd.service"),
        ("cp", "*60-audit.conf.new"),
        ("mv", "*60-audit.conf.new*"),
        ("cp", "*/ssl/rsyslog.new"),
        ("mv", "*/ssl/rsyslog.new*"),
        ("systemctl", "*restart*rsyslog.service"),
    ],
)
def test_a_configuration_that_is_killed_is_finished_by_the_next_run(node: Node, tool: str, pattern: str) -> None:
    node.edit(CERTIFICATES)
    node.intercept(tool, pattern, KILL)
    status, calls = node.configure()
    assert status < 0

    node.release(tool)
    node.edit({"audit_installed_dir.new/leftover": "x"})
    after = node.configure()[1]
    assert {*calls, *after} == {LOAD, AUDITD, RSYSLOG}
    tree = node.tree()
    assert installed(tree, "audit_backup_dir") == {"10-dist.rules": "-w /etc/passwd\n"}
    assert installed(tree, "audit_installed_dir") == installed(RULES, "audit_staged_dir")
    assert installed(tree, "tls_installed_dir") == installed(CERTIFICATES, "tls_staged_dir")
    assert not [name for name in tree if "pending" in name or ".new" in name]


def test_others_may_read_what_is_installed_whatever_the_mask_but_no_keys(node: Node) -> None:
    node.edit(CERTIFICATES)
    for name in CERTIFICATES:
        node.path(name).chmod(0o600)
    node.path("conf_staged").chmod(0o644)
    node.path("tls_staged_dir").chmod(0o700)
    configured(node)

    def mode(name: str) -> int:
        return stat.S_IMODE(node.path(name).stat().st_mode)

    assert [*map(mode, ("tls_installed_dir", "tls_installed_dir/tls.key", "conf_installed"))] == [0o755, 0o600, 0o644]
    assert stat.S_IMODE(node.path("conf_installed").parent.stat().st_mode) == 0o755


@pytest.mark.parametrize("tool", ["rm", "mv"])
def test_the_cleaner_fails_and_loads_nothing_when_the_rules_cannot_be_restored(node: Node, tool: str) -> None:
    configured(node).intercept(tool, "*/rules.d" if tool == "rm" else "*rules.d.original*")

    assert node.clean() == (1, [*DISABLED, RSYSLOG])
    assert "could not remove" in node.output.stdout
    assert "audit_backup_dir/10-dist.rules" in node.tree()

    node.release(tool)
    assert node.clean() == (0, [LOAD, AUDITD])
    assert installed(node.tree(), "audit_installed_dir") == {"10-dist.rules": "-w /etc/passwd\n"}


@pytest.mark.parametrize(
    "left", ["unit_file", "conf_installed", "tls_installed_dir", "osc_dir", "pstats_output", "audit_backup_dir"]
)
def test_the_cleaner_fails_when_something_is_left(node: Node, left: str) -> None:
    node.edit({**CERTIFICATES, "pstats_output": "x 1\n"})
    configured(node)
    node.intercept("mv" if left == "audit_backup_dir" else "rm", f'*{node.path(left)}|*"{node.path(left)} "*')

    assert node.clean()[0] == 1
    assert f"could not remove {node.path(left)}\n" in node.output.stdout


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("*augenrules*", [LOAD, AUDITD, RSYSLOG]), ("*restart?rsyslog.service*", [RSYSLOG])],
)
def test_a_cleaner_that_is_killed_before_a_restart_is_finished_by_the_next(
    node: Node, pattern: str, expected: list[str]
) -> None:
    configured(node).intercept("chroot", pattern, KILL)
    assert node.clean()[0] < 0

    node.release("chroot")
    assert node.clean() == (0, expected)
    assert node.clean() == (0, [])


def test_the_cleaner_removes_what_killed_runs_left(node: Node) -> None:
    configured(node).edit(
        {
            "conf_installed.new": "x",
            "audit_installed_dir.new/a": "x",
            "tls_installed_dir.new/a": "x",
            "audit_syslog_plugin.new": "x",
        }
    )

    assert node.clean()[0] == 0
    assert set(node.tree()) == {"audit_installed_dir/10-dist.rules", "audit_syslog_plugin"}
