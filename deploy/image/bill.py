"""The bill of materials in CycloneDX: the Debian packages, Python packages and Go modules of the image."""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.factory.license import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from installer.sources import WheelFile
from packageurl import PackageURL

from deploy.image.base import RELEASE, Package

_GO_MODULE: Final = re.compile(r"^\t(?:mod|dep)\t(\S+)\t(v\S+)(?:\th1:(\S+))?$", re.MULTILINE)
_GO_VERSION: Final = re.compile(r": go(\d\S*)")


def debian_components(packages: Iterable[Package], machine: str) -> Iterator[Component]:
    """The packages of the base."""
    for each in packages:
        url = PackageURL("deb", "debian", each.name, each.version, {"arch": machine, "distro": RELEASE})
        yield _component(url, each.sha256)


def python_components(wheels: Iterable[Path]) -> Iterator[Component]:
    """The packages in wheels, with the licences that they state."""
    for wheel in wheels:
        with WheelFile.open(wheel) as source:
            metadata = source.read_dist_info("METADATA")
            url = PackageURL("pypi", None, source.distribution.replace("_", "-").lower(), source.version)
        stated = re.search(r"^License-Expression: (.+)$", metadata, re.MULTILINE)
        yield _component(url, hashlib.sha256(wheel.read_bytes()).hexdigest(), stated[1] if stated else "")


def go_components(build_information: str) -> Iterator[Component]:
    """The modules that a Go program is built of, and the standard library, as `go version -m` tells them."""
    if found := _GO_VERSION.search(build_information):
        yield _component(PackageURL("golang", None, "stdlib", found[1]))
    for module, version, digest in _GO_MODULE.findall(build_information):
        namespace, _, name = module.rpartition("/")
        sha256 = base64.b64decode(digest).hex() if digest else ""
        yield _component(PackageURL("golang", namespace or None, name, version), sha256)


def bill_of(components: Sequence[Component], version: str, made: int) -> str:
    """The document. Made again of the same parts, it is the same."""
    root = Component(
        name="hedgerow",
        version=version,
        type=ComponentType.CONTAINER,
        bom_ref=f"hedgerow@{version}",
        licenses=[LicenseFactory().make_from_string("Apache-2.0")],
    )
    parts = "\n".join(sorted(str(each.purl) for each in components))
    bill = Bom(
        components=components,
        metadata=BomMetaData(component=root, timestamp=datetime.fromtimestamp(made, UTC)),
        serial_number=uuid5(NAMESPACE_URL, parts),
    )
    bill.register_dependency(root, components)
    return JsonV1Dot6(bill).output_as_string(indent=1) + "\n"


def _component(url: PackageURL, sha256: str = "", licence: str = "") -> Component:
    return Component(
        name=f"{url.namespace}/{url.name}" if url.type == "golang" and url.namespace else url.name,
        version=url.version,
        type=ComponentType.LIBRARY,
        purl=url,
        bom_ref=str(url),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=sha256)] if sha256 else [],
        licenses=[LicenseFactory().make_from_string(licence)] if licence else [],
    )
