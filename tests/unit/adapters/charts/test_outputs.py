"""What Helm has written is read as Kubernetes reads it, and only so much of it."""

import re
from pathlib import Path

import pytest

from hedgerow.machinery.charts import RenderedFile
from hedgerow_adapters.charts import outputs
from hedgerow_adapters.charts.outputs import UnreadableOutputError, rendered_files


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / "test" / "templates" / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def test_scalars_mean_what_they_mean_to_kubernetes(tmp_path: Path) -> None:
    text = """---
# Source: test/templates/a.yaml
a: 12:30
b: 2020-01-01
c: 1e3
d: y
e: [0x1f, 017, 0o17, 0b11, 1_000]
1: one
true: yes
twice: 1
twice: 2
base: &base {x: 1}
merged: {<<: *base, z: 2}
"""
    (file,) = rendered_files(write(tmp_path, a=text))

    assert file == RenderedFile(
        "test/templates/a.yaml",
        ({"a": "12:30", "b": "2020-01-01", "c": 1000, "d": True, "e": [31, 15, 15, 3, 1000], "1": "one", "true": True,
          "twice": 2, "base": {"x": 1}, "merged": {"x": 1, "z": 2}},),
    )  # fmt: skip


def test_files_are_in_the_order_of_their_paths_and_documents_in_that_of_the_file(tmp_path: Path) -> None:
    folder = write(tmp_path, b="---\nis: 1\n---\n# nothing\n---\nis: 2\n", a="---\nis: 0\n")

    assert rendered_files(folder) == (
        RenderedFile("test/templates/a.yaml", ({"is": 0},)),
        RenderedFile("test/templates/b.yaml", ({"is": 1}, {"is": 2})),
    )


def test_files_without_objects_are_left_out(tmp_path: Path) -> None:
    assert rendered_files(write(tmp_path, a="", b="# nothing\n", c="---\n---\n \n")) == ()


CONVERTING = "error converting YAML to JSON: line"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("---\na: b\n---\n- a\n", "2: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into"),
        ("---\na: {\n", f"1: {CONVERTING} 3: did not find expected node content"),
        ("a: &a [*a]\n", f"1: {CONVERTING} 1: an alias stands within the value that it stands for"),
        ("a: " + "[" * 200 + "]" * 200, f"1: {CONVERTING} 1: lists and mappings are nested more than 100 levels deep"),
    ],
    ids=["list", "broken", "cycle", "deep"],
)
def test_a_document_that_is_no_object_is_named(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(UnreadableOutputError, match=f"^{re.escape(f'test/templates/a.yaml: document {problem}')}"):
        rendered_files(write(tmp_path, a=text))


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    write(tmp_path, a="")
    (tmp_path / "test/templates/a.yaml").write_bytes(b"a: \xff\n")

    with pytest.raises(UnreadableOutputError, match=r"^test/templates/a.yaml: is not UTF-8$"):
        rendered_files(tmp_path)


def test_too_much_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, a=f"a: {'x' * 700_000}\n", b=f"a: {'x' * 700_000}\n")
    assert len(rendered_files(tmp_path)) == 2

    monkeypatch.setattr(outputs, "MOST_BYTES", 1024**2)
    with pytest.raises(UnreadableOutputError, match=r"^it renders to more than 1 MiB$"):
        rendered_files(tmp_path)
    monkeypatch.setattr(outputs, "MOST_FILES", 1)
    with pytest.raises(UnreadableOutputError, match=r"^it renders to more than 1 files$"):
        rendered_files(tmp_path)
    monkeypatch.undo()
    monkeypatch.setattr(outputs, "MOST_VALUES", 100)
    with pytest.raises(UnreadableOutputError, match="more than 100 values"):
        rendered_files(tmp_path)
