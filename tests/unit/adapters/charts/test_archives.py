"""Archives are checked before anything unpacks them."""

import gzip
import io
import random
import tarfile

import pytest

from hedgerow_adapters.charts import archives
from hedgerow_adapters.charts.archives import archive_problem
from tests.unit.adapters.charts.archived import archive, chart, member

BROKEN = "the chart is not a whole tar archive, compressed with gzip"


def test_a_chart_is_harmless() -> None:
    assert archive_problem(chart({"config.yaml": "a: b\n"})) is None


def test_folders_are_harmless() -> None:
    assert archive_problem(archive([(member("test/", kind=tarfile.DIRTYPE), b"")])) is None


def test_without_a_chart_there_is_none() -> None:
    assert archive_problem(b"") == "there is no chart"


@pytest.mark.parametrize(
    "content",
    [b"no archive", gzip.compress(b"no tar file" * 100), chart({"a.yaml": "a: b\n" * 9999})[:-20], b"\x1f\x8b"],
    ids=["text", "gzip", "torn", "magic"],
)
def test_what_is_no_whole_archive_is_refused(content: bytes) -> None:
    assert archive_problem(content) == BROKEN


@pytest.mark.parametrize(
    ("name", "shown"),
    [("../../etc/passwd", "'../../etc/passwd'"), ("/etc/passwd", "'/etc/passwd'"), ("a\\..\\b", r"'a\\..\\b'")],
)
def test_a_path_that_leads_out_is_refused(name: str, shown: str) -> None:
    assert archive_problem(archive([(member(name), b"")])) == f"the archive holds {shown}, which leads out of it"


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused(kind: bytes) -> None:
    problem = archive_problem(archive([(member("test/a", kind=kind, target="/etc/passwd"), b"")]))

    assert problem == "the archive holds 'test/a', which is neither a file nor a folder"


def test_an_archive_that_expands_to_too_much_is_refused_before_it_has() -> None:
    bomb = io.BytesIO()
    with gzip.GzipFile(fileobj=bomb, mode="wb", compresslevel=1) as packed:
        header = tarfile.TarInfo("test/bomb")
        header.size = 300 * 1024**2
        packed.write(header.tobuf())
        for _ in range(300):
            packed.write(bytes(1024**2))

    assert archive_problem(bomb.getvalue()) == "the archive is too large: it expands to more than 64 MiB"


def test_an_archive_of_too_many_files_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_MEMBERS", 3)
    names = [(member(f"test/{number}"), b"") for number in range(4)]

    assert archive_problem(archive(names[:3])) is None
    assert archive_problem(archive(names)) == "the archive has more than 3 files"


def test_headers_that_announce_headers_without_end_are_refused() -> None:
    content = b"11 a=bbbbb\n"
    headers = [(member(f"{number}", content, tarfile.XHDTYPE), content) for number in range(3000)]

    assert archive_problem(archive(headers)) == BROKEN


def test_no_damage_of_an_archive_is_a_defect() -> None:
    whole = gzip.decompress(chart({"a.yaml": "a: b\n"}))
    draw = random.Random(1)  # noqa: S311 -- hides nothing
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(draw.randrange(1, 20)):
            damaged[draw.randrange(1536)] = draw.randrange(256)
        archive_problem(gzip.compress(bytes(damaged), 1))
