"""The audit rules, as the programs take them that read them on a node: augenrules, libaudit, auditctl."""

import ctypes
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hedgerow.rsyslog_relp.rendering import audit_rules
from tests.e2e.rsyslog.programs import Programs

EXIT = 4
"""AUDIT_FILTER_EXIT of linux/audit.h."""


@pytest.fixture
def compiled(programs: Programs, tmp_path: Path) -> list[str]:
    """The lines that augenrules makes of the files, without comments."""
    rules = tmp_path / "etc" / "audit" / "rules.d"
    rules.mkdir(parents=True)
    for name, text in audit_rules().items():
        (rules / name).write_text(text)
    program = augenrules_below(programs, tmp_path)
    ended = subprocess.run(["sh", "-c", program], capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    lines = (rules.parent / "audit.rules").read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def augenrules_below(programs: Programs, root: Path) -> str:
    """The text of augenrules, which has the folder of the rules written in it, for another root."""
    (path,) = programs.command("augenrules")
    text = Path(path).read_text()
    assert "=/etc/audit/" in text
    return text.replace("=/etc/audit/", f"={root}/etc/audit/")


def test_augenrules_keeps_every_line_and_puts_first_what_prepares_the_others(compiled: list[str]) -> None:
    written = [line for text in audit_rules().values() for line in text.splitlines() if line[:1] not in {"", "#"}]

    assert sorted(compiled) == sorted(written)
    assert [line.split()[0] for line in compiled[:3]] == ["-D", "-b", "-f"]
    assert compiled.index("-i") < next(number for number, line in enumerate(compiled) if line.startswith("-a"))


class Library:
    """The library by which auditctl reads rules; it needs no kernel for that."""

    def __init__(self, programs: Programs) -> None:
        folders = (programs.libraries, programs.folder / "lib" / programs.libraries.name)
        (path,) = (found for folder in folders if (found := folder / "libaudit.so.1").exists())
        self._library = ctypes.CDLL(str(path))
        self._library.audit_rule_create_data.restype = ctypes.c_void_p

    def problems(self, rule: str) -> Iterator[str]:
        """The words of a rule that the library refuses."""
        data = ctypes.c_void_p(self._library.audit_rule_create_data())
        words = rule.split()
        for option in ("arch", "syscall", "perm"):
            self._has_added(option, 0)
        assert words[:2] == ["-a", "exit,always"]
        for option, value in zip(words[2::2], words[3::2], strict=True):
            text = ctypes.create_string_buffer(value.encode())  # which the library cuts up
            if option == "-F":
                code = self._library.audit_rule_fieldpair_data(ctypes.byref(data), text, EXIT)
            else:
                assert option == "-S"
                code = self._library.audit_rule_syscallbyname_data(data, text)
                self._has_added("syscall", 1)
            if code != 0:
                yield f"{option} {value}: {code}"

    def _has_added(self, option: str, value: int) -> None:
        """What auditctl remembers of the rule that it reads."""
        ctypes.c_int.in_dll(self._library, f"_audit_{option}added").value = value


def test_libaudit_knows_every_field_and_system_call(programs: Programs, compiled: list[str]) -> None:
    library = Library(programs)
    rules = [line for line in compiled if line.startswith("-a")]

    assert len(rules) == 13
    assert [problem for rule in rules for problem in library.problems(rule)] == []
    assert [*library.problems("-a exit,always -F arch=b64 -S no_such_call -F no_such_field=1")] != []


def test_auditctl_knows_every_setting(programs: Programs, compiled: list[str]) -> None:
    command = programs.command("auditctl", "-h")
    told = subprocess.run(command, capture_output=True, text=True, check=False, env=programs.environment).stdout
    options = {line.split()[0] for line in told.splitlines() if line.strip().startswith("-")}

    assert {line.split()[0] for line in compiled} - options == set()
