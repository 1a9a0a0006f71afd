"""Makes the archive of a chart out of its folder: the same bytes for the same files."""

import gzip
import io
import tarfile
from pathlib import Path
from typing import Final

_READABLE: Final = 0o644


def packed(folder: Path) -> bytes:
    """The archive of the chart in a folder of its name."""
    buffer = io.BytesIO()
    with (
        gzip.GzipFile(filename="", fileobj=buffer, mode="wb", mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for file in sorted(file for file in folder.rglob("*") if file.is_file()):
            # A new member has neither owner nor time.
            member = tarfile.TarInfo(f"{folder.name}/{file.relative_to(folder).as_posix()}")
            content = file.read_bytes()
            member.size, member.mode = len(content), _READABLE
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()
