"""Checks the archive of a chart before Helm unpacks it: what it expands to, and where that would go."""

import gzip
import io
import tarfile
import zlib
from pathlib import PurePosixPath
from typing import Final

MOST_EXPANDED: Final = 64 * 1024 * 1024
"""Bytes. Helm, which keeps all of it in memory, accepts 100 MiB."""
MOST_MEMBERS: Final = 10_000


class _TooLargeError(Exception):
    """The archive expands to too much."""


class _Expanded(io.RawIOBase):
    """The tar file within an archive, up to the limit."""

    def __init__(self, archive: bytes) -> None:
        self._unzipped = gzip.GzipFile(fileobj=io.BytesIO(archive))
        self._read = 0

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        piece = self._unzipped.read(size)
        self._read += len(piece)
        if self._read > MOST_EXPANDED:
            raise _TooLargeError(f"it expands to more than {MOST_EXPANDED // 1024**2} MiB")
        return piece


def archive_problem(archive: bytes) -> str | None:
    """Why an archive must not be unpacked, as a clause; none: it is harmless."""
    if not archive:
        return "there is no chart"
    try:
        with tarfile.open(fileobj=_Expanded(archive), mode="r|") as members:
            for count, member in enumerate(members, start=1):
                if problem := _member_problem(member):
                    return problem
                if count > MOST_MEMBERS:
                    return f"the archive has more than {MOST_MEMBERS} files"
    except _TooLargeError as error:
        return f"the archive is too large: {error}"
    except (tarfile.TarError, zlib.error, EOFError, OSError, ValueError, OverflowError, RecursionError):
        return "the chart is not a whole tar archive, compressed with gzip"
    return None


def _member_problem(member: tarfile.TarInfo) -> str | None:
    name = repr(member.name[:100])
    if not (member.isfile() or member.isdir()):
        return f"the archive holds {name}, which is neither a file nor a folder"
    path = PurePosixPath(member.name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts:
        return f"the archive holds {name}, which leads out of it"
    return None
