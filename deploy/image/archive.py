"""A layer: the files of a folder as an archive that is the same wherever it is made."""

import stat
import tarfile
from pathlib import Path
from typing import Final

MODIFIED: Final = 315_532_800
"""Of every file: 1980-01-01, the earliest that wheels know, too."""


def write_archive(folder: Path, target: Path) -> None:
    """All files of a folder, sorted, owned by root, of one age. Only who may execute a file is taken from its mode."""
    with tarfile.open(target, "w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted(folder.rglob("*")):
            _add(archive, path, path.relative_to(folder).as_posix())


def _add(archive: tarfile.TarFile, path: Path, name: str) -> None:
    member = tarfile.TarInfo(name)
    member.mtime, mode = MODIFIED, path.lstat().st_mode
    if path.is_symlink():
        member.type, member.linkname, member.mode = tarfile.SYMTYPE, str(path.readlink()), 0o777
        archive.addfile(member)
    elif path.is_dir():
        member.type, member.mode = tarfile.DIRTYPE, 0o1777 if mode & stat.S_ISVTX else 0o755
        archive.addfile(member)
    else:
        member.size, member.mode = path.stat().st_size, 0o755 if mode & stat.S_IXUSR else 0o644
        with path.open("rb") as content:
            archive.addfile(member, content)
