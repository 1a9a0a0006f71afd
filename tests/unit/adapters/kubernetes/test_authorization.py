"""Where the Authorization header comes from."""

import os
from pathlib import Path

import pytest

from hedgerow_adapters.kubernetes.authorization import FixedAuthorization, TokenFile


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "token"
    file.write_text("one\n")
    return file


def replace(path: Path, content: str) -> None:
    """As the kubelet does: another file under the old name."""
    new = path.with_name("new")
    new.write_text(content)
    new.rename(path)


def test_a_token_stands_in_the_header_without_its_line_end(path: Path) -> None:
    assert TokenFile(path).header() == "Bearer one"


def test_a_replaced_file_is_read_again(path: Path) -> None:
    token = TokenFile(path)

    seen = [token.header()]
    replace(path, "two")
    seen.append(token.header())

    assert seen == ["Bearer one", "Bearer two"]


@pytest.mark.parametrize("content", ["", " \n", "two\nlines", "\xff"], ids=["empty", "blank", "two lines", "no ascii"])
def test_a_file_without_a_token_leaves_the_last_one(path: Path, content: str) -> None:
    token = TokenFile(path)
    token.header()
    replace(path, content)

    assert token.header() == "Bearer one"
    replace(path, "three")
    assert token.header() == "Bearer three"


def test_a_missing_file_leaves_the_last_token(path: Path) -> None:
    token = TokenFile(path)
    token.header()
    path.unlink()

    assert (token.header(), token.renewed()) == ("Bearer one", "Bearer one")


def test_until_the_file_is_there_the_given_header_is_used(tmp_path: Path) -> None:
    token = TokenFile(tmp_path / "token", "Bearer embedded")

    assert token.header() == "Bearer embedded"
    replace(tmp_path / "token", "from file")
    assert token.header() == "Bearer from file"


def test_a_refused_token_is_read_again_even_if_the_file_looks_unchanged(path: Path) -> None:
    token = TokenFile(path)
    token.header()
    before = path.stat()
    path.write_text("two\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert token.header() == "Bearer one"
    assert token.renewed() == "Bearer two"
    assert token.header() == "Bearer two"


def test_a_fixed_header_stays() -> None:
    fixed = FixedAuthorization("Basic eDp5")

    assert (fixed.header(), fixed.renewed()) == ("Basic eDp5", "Basic eDp5")


def test_no_text_of_a_source_shows_its_secret(path: Path) -> None:
    token = TokenFile(path)
    token.header()

    assert "one" not in f"{token!r} {token}".replace(str(path), "")
    assert "eDp5" not in f"{FixedAuthorization('Basic eDp5')!r}"
