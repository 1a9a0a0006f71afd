"""The page about the architecture lists the packages that there are, each with the first sentence of its docstring."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

REPOSITORY: Final = Path(__file__).parents[3]
PAGE: Final = REPOSITORY / "docs" / "architecture.md"
MADE: Final = "--update-golden -->\n"


def packages(folder: Path, depth: int = 0) -> Iterator[str]:
    """A line for a package, and for each below it."""
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    assert docstring, f"{folder} does not say what it is"
    sentence = " ".join(docstring.partition("\n\n")[0].split()).partition(". ")[0].removesuffix(".")
    yield f"{'  ' * depth}* `{folder.name}/`: {sentence}"
    for below in sorted(path.parent for path in folder.glob("*/__init__.py")):
        yield from packages(below, depth + 1)


def test_the_page_lists_the_packages_that_there_are(request: pytest.FixtureRequest) -> None:
    head, _, made = PAGE.read_text(encoding="utf-8").partition(MADE)
    roots = ("core/hedgerow", "adapters/hedgerow_adapters", "entrypoints/hedgerow_entrypoints")
    text = "\n".join(("", *(line for root in roots for line in packages(REPOSITORY / root)), ""))
    if request.config.getoption("--update-golden"):
        PAGE.write_text(f"{head}{MADE}{text}", encoding="utf-8")
        made = text

    assert made == text
