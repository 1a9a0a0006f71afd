"""The base: the files of a few pinned packages of Debian, and Python among them. No shell but dash, no package manager.

apt checks the signatures of the archive. Every build checks the sums of the packages, and the digest of what they
come to.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from deploy.image.running import ImageError, UnavailableError, output_of

RELEASE: Final = "bookworm"
PYTHON: Final = "python3.11"
USER: Final = 65532
_DIGEST: Final = re.compile(r"^# sha256:([0-9a-f]{64})$", re.MULTILINE)
_LEFT_OUT: Final = ("usr/share/man", "usr/share/lintian", "usr/share/info", "usr/share/menu", "usr/games", "etc/dpkg")
_PASSWORDS: Final = "root:x:0:0:root:/root:/sbin/nologin\nhedgerow:x:{0}:{0}:hedgerow:/tmp:/sbin/nologin\n"
_GROUPS: Final = "root:x:0:\nhedgerow:x:{0}:\n"


class Package(NamedTuple):
    """One pinned package of Debian."""

    name: str
    version: str
    sha256: str

    def __str__(self) -> str:
        return f"{self.name}={self.version} sha256:{self.sha256}"


def machine() -> str:
    """The architecture of this machine as Debian and OCI call it."""
    return output_of(
        "dpkg", "--print-architecture", doing="asking for the architecture (Debian's dpkg is needed)"
    ).strip()


def pinned(file: Path) -> list[Package]:
    """The packages of a file of pins."""
    if not file.is_file():
        raise ImageError(f"no packages are pinned for this architecture: {file} is missing")
    found = re.findall(r"^(\S+)=(\S+) sha256:([0-9a-f]{64})$", file.read_text("utf-8"), re.MULTILINE)
    return [Package(*each) for each in found]


def digest_in(file: Path) -> str:
    """The digest that the pinned packages come to: that of the uncompressed layer."""
    found = _DIGEST.search(file.read_text("utf-8"))
    return found[1] if found else ""


def digest_of(archive: Path) -> str:
    """The digest of an uncompressed layer, which images call its DiffID."""
    with archive.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


class Archive:
    """Debian's archive as the sources of this machine name it, with lists of its own: it needs no root."""

    def __init__(self, scratch: Path) -> None:
        (scratch / "lists" / "partial").mkdir(parents=True)
        (scratch / "cache" / "archives" / "partial").mkdir(parents=True)
        places = {"Dir::State::lists": scratch / "lists", "Dir::Cache": scratch / "cache", "Debug::NoLocking": 1}
        self._options = [f"--option={name}={value}" for name, value in places.items()]
        self._updated = False

    def newest(self, packages: Sequence[Package]) -> list[Package]:
        """The same packages in the versions that apt would install now."""
        return [self._newest(package.name) for package in packages]

    def _newest(self, name: str) -> Package:
        shown = self._apt("apt-cache", "show", "--no-all-versions", name, doing=f"looking for {name}")
        fields = dict(re.findall(r"^(\S+): (.*)$", shown, re.MULTILINE))
        return Package(name, fields["Version"], fields["SHA256"])

    def fetched(self, packages: Sequence[Package], cache: Path) -> dict[str, Path]:
        """The files of packages by name; only those are fetched that are not there yet, and all are checked."""
        cache.mkdir(parents=True, exist_ok=True)
        return {package.name: self._fetched(package, cache / package.sha256) for package in packages}

    def _fetched(self, package: Package, folder: Path) -> Path:
        if not folder.exists():
            partial = folder.with_suffix(f".{os.getpid()}")
            partial.mkdir()
            wanted = f"{package.name}={package.version}"
            what = (
                f"fetching {wanted} (is Debian {RELEASE} a source of apt? Does a newer version replace it: make lock)"
            )
            self._apt("apt-get", "download", wanted, doing=what, folder=partial)
            if not folder.exists():
                partial.rename(folder)
        (file,) = folder.glob("*.deb")
        if hashlib.sha256(file.read_bytes()).hexdigest() != package.sha256:
            raise ImageError(f"{file.name} is not the package that is pinned: its sum differs")
        return file

    def _apt(self, program: str, *arguments: str, doing: str, folder: Path | None = None) -> str:
        try:
            if not self._updated:
                output_of("apt-get", *self._options, "update", doing="asking Debian's archive what it has")
                self._updated = True
            return output_of(program, *self._options, *arguments, doing=doing, folder=folder)
        except ImageError as error:
            raise UnavailableError(str(error)) from error


def lay_out(files: dict[str, Path], root: Path) -> None:
    """The files of packages, what their installation scripts would have made of them, and Python's usual name."""
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    (root / "usr/bin/python3").symlink_to(PYTHON)
    for name, file in files.items():
        output_of("/bin/sh", "-c", _UNPACK, "unpack", file, root, doing=f"unpacking {name}")
        _write(root / "var/lib/dpkg/status.d" / name, output_of("dpkg-deb", "--field", file, doing=f"reading {name}"))
    for left_out in _LEFT_OUT:
        shutil.rmtree(root / left_out, ignore_errors=True)
    for document in (root / "usr/share/doc").rglob("*"):
        if document.name != "copyright" and not document.is_dir():
            document.unlink()
    authorities = sorted((root / "usr/share/ca-certificates").rglob("*.crt"))
    _write(root / "etc/ssl/certs/ca-certificates.crt", "".join(each.read_text("utf-8") for each in authorities))
    _write(root / "etc/passwd", _PASSWORDS.format(USER))
    _write(root / "etc/group", _GROUPS.format(USER))
    _write(root / "etc/nsswitch.conf", "hosts: files dns\n")


# Without the modes of the archive, the umask of a user other than root would decide which folders are sticky.
_UNPACK: Final = """
dpkg-deb --fsys-tarfile "$1" | tar -x --keep-directory-symlink --no-same-owner --preserve-permissions -C "$2"
"""


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def compile_modules(root: Path, layer: Path, folder: str) -> None:
    """Byte code of the modules in one folder of a layer, made by the image's own Python.

    It is tied to its source by nothing: a read-only image never changes, and ages of files would differ.
    """
    libraries = next((root / "usr/lib").glob("*-linux-gnu*"))
    (loader,) = libraries.glob("ld-linux*.so.*")
    output_of(
        loader,
        "--library-path",
        libraries,
        root / "usr/bin" / PYTHON,
        *("-S", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"),
        *("-s", layer, "-p", "/", layer / folder),
        doing="compiling the modules",
        environment={"PYTHONHOME": str(root / "usr"), "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
    )
