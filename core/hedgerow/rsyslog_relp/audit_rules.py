"""The audit rules that nodes load, where auditd is installed.

Source: rsyslog-relp §11; decision D-15.
"""

from collections.abc import Mapping
from typing import Final

WATCHED_FOLDERS: Final = ("/boot", "/etc", "/bin", "/sbin", "/lib", "/lib64", "/usr", "/opt", "/root")
_HEADER: Final = (
    "## Managed by the extension shoot-rsyslog-relp. Changes are overwritten.",
    "## The rules that the node had before are in /etc/audit/rules.d.original.",
)


def _on_exit(calls: str, *conditions: str, key: str) -> str:
    """The rule that records when a system call returns."""
    fields = (f"-F {condition}" for condition in (*conditions, f"key={key}"))
    return " ".join(("-a exit,always -F arch=b64", *(f"-S {call}" for call in calls.split()), *fields))


_DIRECTIVES: Final[Mapping[str, tuple[str, ...]]] = {
    # -i goes on after a rule that the kernel or auditctl does not know.
    "00-base-config.rules": ("-D", "-b 8192", "--backlog_wait_time 60000", "-f 1", "-i"),
    "10-privilege-escalation.rules": (
        _on_exit("setuid setreuid setgid setregid", "auid>0", "auid!=-1", key="privilege_escalation"),
        _on_exit("execve execveat", "euid=0", "auid>0", "auid!=-1", key="privilege_escalation"),
    ),
    "11-privileged-special.rules": (
        _on_exit("mount umount2 mknod mknodat chroot", "auid!=-1", key="privileged_special"),
        # By itself, as kernels before 5.12 do not know it.
        _on_exit("mount_setattr", "auid!=-1", key="privileged_special"),
    ),
    "12-system-integrity.rules": tuple(
        f"-a exit,always -F dir={folder} -F perm=wa -F key=system_integrity" for folder in WATCHED_FOLDERS
    ),
}


def audit_rules() -> Mapping[str, str]:
    """The text of each file of rules, by its name, in the order in which auditd loads them."""
    return {name: "\n".join((*_HEADER, *directives, "")) for name, directives in _DIRECTIVES.items()}
