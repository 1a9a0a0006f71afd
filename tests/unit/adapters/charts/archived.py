"""Archives of charts, and programs that stand for Helm."""

import gzip
import io
import sys
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path

CHART_FILE = "apiVersion: v2\nname: test\nversion: 1.0.0\n"


def member(name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    """The header of one entry."""
    info = tarfile.TarInfo(name)
    info.size, info.type, info.linkname = len(content), kind, target
    return info


def archive(members: Iterable[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    """A compressed tar archive."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), mtime=0)


def chart(templates: Mapping[str, str], **others: str) -> bytes:
    """The chart `test` with some templates, and other files."""
    files = {"Chart.yaml": CHART_FILE, **{f"templates/{name}": text for name, text in templates.items()}, **others}
    encoded = {f"test/{name}": text.encode() for name, text in files.items()}
    return archive((member(name, content), content) for name, content in encoded.items())


def program(path: Path, body: str) -> str:
    """A program in Python that stands for Helm; `out` is where it writes to, `arguments` is what it is told."""
    out = "next(each.partition('=')[2] for each in arguments if each.startswith('--output-dir='))"
    lines = (f"#!{sys.executable} -IS", "import os, sys, time", "arguments = sys.argv[1:]", f"out = {out}", body)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)
