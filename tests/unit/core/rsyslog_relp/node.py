"""A node in a temporary folder: its files by their names in `HostPaths`, and a fake systemd that records calls."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path

from hedgerow.rsyslog_relp.naming import HostPaths
from hedgerow.rsyslog_relp.rendering import cleaner_script, configure_script

PATIENCE = 60
KILL = "kill -9 $PPID"
TOOLS = ("bash", "cat", "chmod", "cmp", "cp", "diff", "grep", "ls", "mkdir", "mv", "rm", "sed", "touch", "tr")

SYSTEMCTL = """#!/bin/bash
state="$NODE/units/$2"
[[ $2 == --quiet ]] && state="$NODE/units/$3"
has() { [[ -e $state ]] && grep -qx "$1" "$state"; }
keep() { grep -vx "$1" "$state" >"$state.new"; mv "$state.new" "$state"; }
gain() { has "$1" || echo "$1" >>"$state"; }
case $1 in
  list-unit-files) has installed || exit 1; echo "UNIT FILE STATE PRESET"; echo "$2 enabled enabled"; exit 0 ;;
  is-enabled) [[ $2 == --quiet ]] || { has masked && echo masked; has enabled && echo enabled; }; has enabled; exit ;;
  is-active) has active; exit ;;
  daemon-reload) exit 0 ;;
esac
echo "systemctl $*" >>"$NODE/calls"
grep -qx "$*" "$NODE/fail" && exit 1
case $1 in
  enable) gain enabled ;;
  disable) keep enabled ;;
  start|restart) gain active ;;
  stop) keep active ;;
esac
exit 0
"""
AUGENRULES = """#!/bin/bash
echo "augenrules $*" >>"$NODE/calls"
! grep -qx augenrules "$NODE/fail"
"""
CHROOT = """#!/bin/bash
shift
exec "$@"
"""


class Node:
    """One node; scripts run on it with no other commands than those that every node has."""

    def __init__(self, folder: Path, *, without: Iterable[str] = ()) -> None:
        self.root = folder / "root"
        self.paths = HostPaths.below(str(self.root))
        self._folder = folder
        self._commands = folder / "bin"
        for each in (self.root, self._commands, folder / "units"):
            each.mkdir()
        for name, text in (("systemctl", SYSTEMCTL), ("augenrules", AUGENRULES), ("chroot", CHROOT)):
            self.command(name, text)
        self.set_units({"rsyslog-configurator.service": ()})
        for tool in set(TOOLS) - {*without}:
            found = shutil.which(tool)
            assert found, f"there is no {tool} on this machine"
            (self._commands / tool).symlink_to(found)
        self.fail(())

    def command(self, name: str, text: str) -> None:
        """Have a command of this name."""
        path = self._commands / name
        path.write_text(text)
        path.chmod(0o755)

    def fail(self, commands: Iterable[str]) -> None:
        """Let commands fail from now on: `augenrules`, or the arguments of systemctl."""
        (self._folder / "fail").write_text("".join(f"{each}\n" for each in commands))

    def intercept(self, tool: str, pattern: str, command: str = "exit 1") -> None:
        """Run a bash command instead of a tool when its arguments match a glob; `KILL` kills the script."""
        text = f'#!/bin/bash\ncase "$*" in {pattern}) {command} ;; esac\nexec {self._commands}/real-{tool} "$@"\n'
        path = self._commands / tool
        path.rename(self._commands / f"real-{tool}")
        self.command(tool, text)

    def release(self, tool: str) -> None:
        """End an interception."""
        (self._commands / f"real-{tool}").rename(self._commands / tool)

    def set_units(self, units: Mapping[str, Iterable[str]]) -> None:
        """What systemd knows of units: `installed`, `enabled`, `active`, `masked`."""
        for unit, words in units.items():
            (self._folder / "units" / unit).write_text("".join(f"{word}\n" for word in words))

    def units(self) -> dict[str, list[str]]:
        """The same, sorted."""
        return {each.name: sorted(each.read_text().split()) for each in (self._folder / "units").iterdir()}

    def stop(self, unit: str) -> None:
        """A unit ends by itself."""
        self.set_units({unit: set(self.units()[unit]) - {"active"}})

    def path(self, name: str) -> Path:
        """Where a file is that is named by a field of `HostPaths`, perhaps with something behind it."""
        (field,) = re.findall("^[a-z_]+", name)
        return Path(getattr(self.paths, field) + name.removeprefix(field))

    def edit(self, files: Mapping[str, str | None]) -> None:
        """Write files, or remove those that are none; a name that ends in a slash is an empty folder."""
        for name, text in files.items():
            path = self.path(name)
            if text is None:
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
            elif name.endswith("/"):
                path.mkdir(parents=True, exist_ok=True)
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)

    def tree(self) -> dict[str, str]:
        """All files by name."""
        names = {getattr(self.paths, each.name): each.name for each in fields(HostPaths)}
        found = {}
        for path in sorted(each for each in self.root.rglob("*") if each.is_file()):
            base = max((each for each in names if str(path).startswith(each)), key=len, default="")
            found[names.get(base, "") + str(path).removeprefix(base)] = path.read_text()
        return found

    def configure(self, *, text: str = "") -> tuple[int, list[str]]:
        """Run the configure script; its exit status, and the calls that change something."""
        return self._run(["bash", "-c", text or configure_script(self.paths)])

    def clean(self) -> tuple[int, list[str]]:
        """Run the cleaner; the same."""
        return self._run(["sh", "-c", cleaner_script(host=str(self.root))])

    def calls(self) -> list[str]:
        """The calls of the last run that change something."""
        return (self._folder / "calls").read_text().splitlines()

    def _run(self, command: list[str]) -> tuple[int, list[str]]:
        (self._folder / "calls").write_text("")
        environment = {"PATH": str(self._commands), "NODE": str(self._folder), "LC_ALL": "C"}
        program = shutil.which(command[0], path=os.defpath)
        assert program
        self.output = subprocess.run(
            [program, *command[1:]],
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
            umask=0o077,
        )
        return self.output.returncode, self.calls()
