import io
import os
from pathlib import Path

import pytest

from hedgerow_adapters.files.sources import LoadProblem, Source, source_texts


def read(*paths: object, stdin: bytes = b"") -> list[tuple[str, str]]:
    found = source_texts([str(path) for path in paths], io.BytesIO(stdin))
    return [
        (str(each.source), f"! {each.what}") if isinstance(each, LoadProblem) else (each.path, each.text)
        for each in found
    ]


def fill(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (Source("shop.yaml", 2), "shop.yaml:2"),
        (Source("shop.yaml"), "shop.yaml"),
        (Source("-", 1), "<stdin>:1"),
        (Source("", 0), '""'),
        (Source("caf\udce9.yaml", 1), "caf\\udce9.yaml:1"),
    ],
    ids=str,
)
def test_a_source_is_shown_as_users_know_it(source: Source, expected: str) -> None:
    assert str(source) == expected


def test_a_folder_stands_for_its_manifests_sorted_and_below(tmp_path: Path) -> None:
    fill(
        tmp_path,
        "b.yaml",
        "a/z.yml",
        "a/b/c.json",
        "c.yaml.txt",
        ".hidden.yaml",
        ".git/x.yaml",
        "d.yaml/e.yaml",
        "C.yaml",
    )

    assert [Path(path).relative_to(tmp_path).as_posix() for path, _ in read(tmp_path)] == [
        "C.yaml",
        "a/b/c.json",
        "a/z.yml",
        "b.yaml",
        "d.yaml/e.yaml",
    ]


def test_a_file_that_is_named_is_read_whatever_its_name(tmp_path: Path) -> None:
    fill(tmp_path, ".hidden", "x.txt")

    assert [text for _, text in read(tmp_path / "x.txt", tmp_path / ".hidden")] == ["x.txt", ".hidden"]


def test_links_that_loop_do_no_harm(tmp_path: Path) -> None:
    fill(tmp_path, "a/x.yaml", "b/y.yaml")
    (tmp_path / "a" / "up").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "c").symlink_to(tmp_path / "b", target_is_directory=True)
    (tmp_path / "self.yaml").symlink_to("self.yaml")

    found = read(tmp_path)

    assert [text for _, text in found if not text.startswith("!")] == ["a/x.yaml", "b/y.yaml"]
    assert [problem for _, problem in found if problem.startswith("!")] == [
        "! cannot be read: too many levels of symbolic links",
    ]


def test_a_link_that_leads_to_itself_is_named(tmp_path: Path) -> None:
    fill(tmp_path, "a/x.yaml")
    (tmp_path / "b").symlink_to("c")
    (tmp_path / "c").symlink_to("b")
    (tmp_path / "gone").symlink_to("nowhere")

    loop = "! cannot be read: too many levels of symbolic links"
    assert read(tmp_path) == [
        (str(tmp_path / "a" / "x.yaml"), "a/x.yaml"),
        (str(tmp_path / "b"), loop),
        (str(tmp_path / "c"), loop),
    ]
    assert read(tmp_path / "b", tmp_path / "c" / "x.yaml") == [
        (str(tmp_path / "b"), loop),
        (str(tmp_path / "c" / "x.yaml"), loop),
    ]


def test_a_file_that_several_paths_reach_is_read_once(tmp_path: Path) -> None:
    fill(tmp_path, "x.yaml", "a/y.yaml")
    (tmp_path / "z.yaml").symlink_to("x.yaml")

    assert [text for _, text in read(tmp_path / "x.yaml", tmp_path, tmp_path / "a" / ".." / "a")] == [
        "x.yaml",
        "a/y.yaml",
    ]


def test_pipes_in_a_folder_are_left_alone(tmp_path: Path) -> None:
    fill(tmp_path, "x.yaml")
    os.mkfifo(tmp_path / "pipe.yaml")

    assert [text for _, text in read(tmp_path)] == ["x.yaml"]


def test_standard_input_is_read_where_it_is_named(tmp_path: Path) -> None:
    fill(tmp_path, "x.yaml")

    assert read(tmp_path / "x.yaml", "-", stdin="ä".encode()) == [(str(tmp_path / "x.yaml"), "x.yaml"), ("-", "ä")]


def test_standard_input_is_read_only_once() -> None:
    assert read("-", "-", stdin=b"a") == [("-", "a"), ("<stdin>", "! is given twice and can be read only once")]


def test_standard_input_that_is_closed_is_a_problem() -> None:
    closed = io.BytesIO()
    closed.close()

    (problem,) = source_texts(["-"], closed)

    assert str(problem) == "<stdin>: cannot be read: i/o operation on closed file."


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param("\ufeffa".encode(), "a", id="byte order mark"),
        pytest.param(b"", "", id="empty"),
        pytest.param(b"a\nb\n\xe9", "! line 3: is not UTF-8 text: it holds the byte 0xe9", id="Latin-1"),
        pytest.param(b"\x89PNG\x00", "! is a binary file: it holds NUL bytes", id="binary"),
        pytest.param("a".encode("utf-16"), "! is UTF-16 text; only UTF-8 is read", id="UTF-16"),
        pytest.param("a".encode("utf-32"), "! is UTF-32 text; only UTF-8 is read", id="UTF-32"),
    ],
)
def test_only_utf_8_is_text(tmp_path: Path, content: bytes, expected: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(content)

    assert read(path) == [(str(path), expected)]


def test_every_path_that_cannot_be_read_is_a_problem_of_its_own(tmp_path: Path) -> None:
    fill(tmp_path, "x.yaml", "empty/notes.txt")

    assert read(tmp_path / "none.yaml", tmp_path / "x.yaml" / "y", tmp_path / "empty", "", "a\0b", "x" * 300) == [
        (f"{tmp_path}/none.yaml", "! does not exist"),
        (f"{tmp_path}/x.yaml/y", "! cannot be read: not a directory"),
        (f"{tmp_path}/empty", "! holds no .yaml, .yml or .json files"),
        ('""', "! is not the name of a file"),
        ("a\\x00b", "! is not the name of a file"),
        ("x" * 300, "! cannot be read: file name too long"),
    ]
