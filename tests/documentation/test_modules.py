"""The modules that pages name exist."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = ROOT / "core" / "hedgerow"
HEADER = re.compile(r"\|[^|]*\|[^|]*\| where it is decided \(`([a-z_/]+)/`\) \|")
MODULE = re.compile(r"`([a-z_/]+\.py|[a-z_]+/)`")


def named_modules() -> Iterator[tuple[str, str, str]]:
    """Page, package and module, as the last columns of the tables say it."""
    for page in sorted((ROOT / "docs").glob("*.md")):
        package = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            if header := HEADER.fullmatch(line):
                package = header[1]
            elif not line.startswith("|"):
                package = ""
            elif package:
                for module in MODULE.findall(line.rstrip("| ").rpartition("|")[2]):
                    yield page.name, package, module


NAMED = [*named_modules()]


def test_pages_name_modules() -> None:
    assert len({page for page, _, _ in NAMED}) >= 4


@pytest.mark.parametrize(("page", "package", "module"), NAMED, ids=lambda value: value)
def test_what_a_page_names_exists(page: str, package: str, module: str) -> None:
    [folder] = [path for path in CORE.rglob(package) if path.is_dir()]

    assert (folder / module).exists() or (CORE / module).exists(), f"docs/{page}: {package}/{module}"
