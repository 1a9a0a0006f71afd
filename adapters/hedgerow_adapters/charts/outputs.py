"""Reads what `helm template --output-dir` has written, as Kubernetes reads it, and only so much."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hedgerow.machinery.charts import RenderedFile
from hedgerow.machinery.documents.budget import ReadingBudget, finished
from hedgerow.machinery.documents.streams import documents_in_slices

MOST_BYTES: Final = 4 * 1024 * 1024
"""Of all files together: more than a Secret can hold of them."""
MOST_FILES: Final = 5_000
MOST_VALUES: Final = 200_000
"""Keys, scalars, lists and mappings of all files together."""


class UnreadableOutputError(Exception):
    """What was rendered cannot be read; the text is a clause."""


def rendered_files(folder: Path) -> tuple[RenderedFile, ...]:
    """The files with objects in a folder, in the order of their paths; UnreadableOutputError names what is wrong."""
    budget = ReadingBudget(nodes=MOST_VALUES)
    read = (RenderedFile(path, tuple(_objects(path, text, budget))) for path, text in _texts(folder))
    return tuple(file for file in read if file.objects)


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    paths: list[str] = []
    for parent, _, names in os.walk(folder):
        paths += (os.path.relpath(os.path.join(parent, name), folder) for name in names)  # noqa: PTH118 -- many paths
        if len(paths) > MOST_FILES:
            raise UnreadableOutputError(f"it renders to more than {MOST_FILES} files")
    left = MOST_BYTES
    for path in sorted(paths):
        with (folder / path).open("rb") as file:
            content = file.read(left + 1)
        left -= len(content)
        if left < 0:
            raise UnreadableOutputError(f"it renders to more than {MOST_BYTES // 1024**2} MiB")
        try:
            yield path, content.decode()
        except UnicodeDecodeError as error:
            raise UnreadableOutputError(f"{path}: is not UTF-8") from error


def _objects(path: str, text: str, budget: ReadingBudget) -> Iterator[dict[str, object]]:
    for number, document in enumerate(finished(documents_in_slices(text, budget)), start=1):
        if document.problems:
            raise UnreadableOutputError(f"{path}: document {number}: {document.problems[0]}")
        if document.value is not None:
            yield document.value
