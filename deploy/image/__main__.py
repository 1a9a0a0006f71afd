"""`python -m deploy.image TARGET` builds the image; `python -m deploy.image --lock` renews the pins of its base."""

import argparse
import json
import os
import shutil
import sys
import tempfile
from datetime import UTC, datetime
from importlib.metadata import metadata
from pathlib import Path
from typing import Any, Final, NamedTuple

from deploy.image import base, bill, python_packages
from deploy.image.archive import write_archive
from deploy.image.running import ImageError, UnavailableError, output_of
from hedgerow.version import __version__
from tests.e2e.servers.build import HELM, LAYOUT, BuildError, build, go_command

REPOSITORY: Final = Path(__file__).parents[2]
CACHE: Final = REPOSITORY / ".cache" / "debian"
PINS: Final = REPOSITORY / "requirements"
BILL: Final = "usr/share/hedgerow/bill-of-materials.cdx.json"
LAYERS: Final = ("base", "helm", "packages", "hedgerow")
"""From what changes least to what changes most."""


class Source(NamedTuple):
    """Which commit is built, and when it was made."""

    revision: str
    made: int

    @property
    def created(self) -> str:
        """When it was made, as images and bills of materials say it."""
        return datetime.fromtimestamp(self.made, UTC).isoformat().replace("+00:00", "Z")


def source() -> Source:
    """The commit of the repository; `SOURCE_DATE_EPOCH` wins over its time."""
    revision, made = output_of("git", "log", "-1", "--format=%H %ct", doing="asking git", folder=REPOSITORY).split()
    return Source(revision, int(os.environ.get("SOURCE_DATE_EPOCH", made)))


def fill(layers: dict[str, Path], scratch: Path, commit: Source) -> None:
    """Put the files of every layer into its folder."""
    machine = base.machine()
    packages = base.pinned(pins_of(machine))
    lay_out_base(packages, base.Archive(scratch / "apt"), layers["base"])

    helm = build(HELM) / "helm"
    command = layers["helm"] / "usr/local/bin/helm"
    command.parent.mkdir(parents=True)
    shutil.copy(helm, command)

    wheels = python_packages.downloaded(PINS / "image.txt", machine, scratch / "wheels")
    own = python_packages.built_wheel(REPOSITORY, scratch / "dist")
    for name, installed in (("packages", wheels), ("hedgerow", [own])):
        python_packages.install_wheels(installed, layers[name])
        base.compile_modules(layers["base"], layers[name], python_packages.FOLDER)

    go = output_of(go_command(HELM), "version", "-m", helm, doing="asking what Helm is built of")
    components = [
        *bill.debian_components(packages, machine),
        *bill.python_components([*wheels, own]),
        *bill.go_components(go),
    ]
    document = layers["hedgerow"] / BILL
    document.parent.mkdir(parents=True)
    document.write_text(bill.bill_of(components, __version__, commit.made), encoding="utf-8")


def lay_out_base(packages: list[base.Package], archive: base.Archive, folder: Path) -> None:
    """Put the files of the base into its folder."""
    base.lay_out(archive.fetched(packages, CACHE), folder)
    base.compile_modules(folder, folder, f"usr/lib/{base.PYTHON}")


def pins_of(machine: str) -> Path:
    """The file of pins of the base for an architecture."""
    return PINS / f"debian-{machine}.txt"


def configuration(commit: Source) -> dict[str, Any]:
    """How the image runs, and what it says of itself."""
    return {
        "os": "linux",
        "architecture": base.machine(),
        "created": commit.created,
        "config": {
            "User": f"{base.USER}:{base.USER}",
            "Entrypoint": ["hedgerow"],
            "Env": [
                "PATH=/usr/local/bin:/usr/bin:/bin",
                "PYTHONUNBUFFERED=1",
                "PYTHONDONTWRITEBYTECODE=1",
                "SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt",
            ],
            "Labels": {
                "org.opencontainers.image.title": "hedgerow",
                "org.opencontainers.image.description": metadata("hedgerow")["Summary"],
                "org.opencontainers.image.licenses": "Apache-2.0",
                "org.opencontainers.image.version": __version__,
                "org.opencontainers.image.revision": commit.revision,
                "org.opencontainers.image.created": commit.created,
            },
        },
    }


def write_image(target: Path) -> None:
    """Write the image as an OCI layout in place of an earlier one, with its bill of materials beside it."""
    commit = source()
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        layers = {layer: scratch / "layers" / layer for layer in LAYERS}
        for folder in layers.values():
            folder.mkdir(parents=True)
        fill(layers, scratch, commit)
        archives = [scratch / f"{layer}.tar" for layer in LAYERS]
        for layer, archive in zip(LAYERS, archives, strict=True):
            write_archive(layers[layer], archive)
        require_pinned(archives[0])
        described = scratch / "config.json"
        described.write_text(json.dumps(configuration(commit)), encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        output_of(build(LAYOUT) / "layout", target, described, *archives, doing="writing the layout")
        shutil.copy(layers["hedgerow"] / BILL, target.with_suffix(".cdx.json"))
    index = json.loads((target / "index.json").read_text("utf-8"))
    sys.stdout.write(f"{target}@{index['manifests'][0]['digest']}\n")


def require_pinned(archive: Path) -> None:
    """Refuse a base that is not the one whose digest is pinned."""
    file = pins_of(base.machine())
    if base.digest_of(archive) != base.digest_in(file):
        raise ImageError(
            f"the base comes to sha256:{base.digest_of(archive)}, and {file.name} pins sha256:{base.digest_in(file)}"
        )


def lock() -> None:
    """Pin the versions of the base's packages that apt would install now, and the digest that they come to."""
    file = pins_of(base.machine())
    text, pinned = file.read_text("utf-8"), base.pinned(file)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        debian = base.Archive(scratch / "apt")
        packages = debian.newest(pinned)
        (scratch / "base").mkdir()
        lay_out_base(packages, debian, scratch / "base")
        write_archive(scratch / "base", scratch / "base.tar")
        digest = base.digest_of(scratch / "base.tar")
    for old, new in zip(pinned, packages, strict=True):
        text = text.replace(str(old), str(new))
    file.write_text(text.replace(base.digest_in(file), digest), encoding="utf-8")


def main() -> int:
    """Build, or renew the pins; say in one message what stands in the way."""
    parser = argparse.ArgumentParser(prog="python -m deploy.image", description=__doc__)
    parser.add_argument("target", nargs="?", type=Path, help="the folder of the OCI layout")
    parser.add_argument("--lock", action="store_true", help="renew the pins of the base")
    arguments = parser.parse_args()
    if arguments.lock == bool(arguments.target):
        parser.error("either a target or --lock")
    try:
        if arguments.lock:
            lock()
        else:
            write_image(arguments.target.absolute())
    except (ImageError, BuildError) as error:
        sys.stderr.write(f"{error}\n")
        return os.EX_UNAVAILABLE if isinstance(error, UnavailableError) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
