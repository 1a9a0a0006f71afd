"""An OCI layout as container runtimes see it: described by its blobs, unpacked, and run on a read-only root."""

import json
import os
import shlex
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

# In a mount namespace of its own, as runtimes do: the root is read-only, and what a pod mounts lies over it.
_ENTER: Final = """
set -e
root=$1 volume=$2 user=$3 path=$4; shift 4
mount --bind "$root" "$root"
mount -t tmpfs -o mode=1777 temporary "$root/tmp"
mkdir -p "$root$volume"
mount --bind "$volume" "$root$volume"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -o remount,bind,ro "$root"
cd /
exec env -i PATH="$path" "$0" --userspec="$user" "$root" "$@"
"""


class Image:
    """The one image of a layout, all of whose blobs are what their digests say."""

    def __init__(self, layout: Path) -> None:
        self._blobs = layout / "blobs" / "sha256"
        (self.descriptor,) = json.loads((layout / "index.json").read_text("utf-8"))["manifests"]
        self.manifest: Final = json.loads(self._blob(self.descriptor))
        self.config: Final = json.loads(self._blob(self.manifest["config"]))

    @property
    def layers(self) -> list[str]:
        """The digests of the layers, the lowest first."""
        return [layer["digest"] for layer in self.manifest["layers"]]

    def members(self) -> list[tarfile.TarInfo]:
        """The entries of all layers."""
        found = list[tarfile.TarInfo]()
        for layer in self.layers:
            with tarfile.open(self._path(layer)) as archive:
                found += archive.getmembers()
        return found

    def unpack(self, root: Path) -> "Root":
        """The root file system."""
        root.mkdir()
        for layer in self.layers:
            with tarfile.open(self._path(layer)) as archive:
                archive.extractall(root, filter="fully_trusted")  # noqa: S202 -- links of a root are absolute
        return Root(root, self.config["config"])

    def _blob(self, descriptor: dict[str, Any]) -> bytes:
        content = self._path(descriptor["digest"]).read_bytes()
        assert len(content) == descriptor["size"]
        return content

    def _path(self, digest: str) -> Path:
        return self._blobs / digest.removeprefix("sha256:")


class Root:
    """An unpacked image and the settings that it runs with."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        self.folder = folder
        self._settings = settings
        self._variables = dict(each.split("=", 1) for each in settings["Env"])

    def command(self, volume: Path, *arguments: str, entrypoint: Sequence[str] = ()) -> list[str]:
        """What runs the image's command as the image's user, with a folder mounted at its own path."""
        enter = ["unshare", "--mount", "/bin/sh", "-c", _ENTER, "/usr/sbin/chroot"]
        where = [str(self.folder), str(volume), self._settings["User"], self._variables["PATH"]]
        return [*enter, *where, *(entrypoint or self._settings["Entrypoint"]), *arguments]

    def run(self, volume: Path, *arguments: str, entrypoint: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
        """What it printed, once it has ended."""
        command = self.command(volume, *arguments, entrypoint=entrypoint)
        return subprocess.run(command, capture_output=True, text=True, check=False)


def why_no_root_can_be_entered() -> str:
    """What stands in the way of running an image here; empty: nothing."""
    if os.geteuid() != 0:
        return "a root file system is entered by root alone"
    trial = ["unshare", "--mount", "/bin/sh", "-c", "mount -t tmpfs none /mnt"]
    try:
        done = subprocess.run(trial, capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    return f"{shlex.join(trial)}: {done.stderr.strip()}" if done.returncode else ""
