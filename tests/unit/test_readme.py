"""The README shows what really happens: what its Python prints, and what its commands print."""

import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from hedgerow_entrypoints.cli.command import hedgerow

README = Path(__file__).parents[2] / "README.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall(README.read_text(encoding="utf-8"))
CONSOLE = [text for language, text in BLOCKS if language == "console"]
BROKEN = """
apiVersion: v1
kind: Service
metadata:
  name: cart
  namespace: shop
  annotations:
    networking.resources.gardener.cloud/namespace-selectors: '[{"matchLabels":'
spec:
  selector: {app: cart}
  ports: [{port: 80}]
"""


def test_the_example_in_python_prints_what_stands_below_it() -> None:
    languages = [language for language, _ in BLOCKS]
    position = languages.index("python")
    printed = io.StringIO()

    with contextlib.redirect_stdout(printed):
        exec(compile(BLOCKS[position][1], "README.md", "exec"), {})  # noqa: S102 -- the README's own code

    assert languages[position + 1] == "text"
    assert printed.getvalue() == BLOCKS[position + 1][1]


@pytest.mark.parametrize("block", CONSOLE, ids=[block.splitlines()[0] for block in CONSOLE])
def test_a_command_prints_what_stands_below_it(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command, expected = block.split("\n", maxsplit=1)
    monkeypatch.chdir(tmp_path)
    Path("cart.yaml").write_text(next(text for language, text in BLOCKS if language == "yaml"), encoding="utf-8")
    Path("broken.yaml").write_text(BROKEN, encoding="utf-8")
    Path("examples").symlink_to(README.parent / "examples")

    result = CliRunner().invoke(hedgerow, shlex.split(command.removeprefix("$ hedgerow ")), prog_name="hedgerow")

    assert result.output == expected


@pytest.mark.parametrize(
    "page", sorted(README.parent.glob("*.md")) + sorted(README.parent.glob("[de]*/*.md")), ids=lambda page: page.name
)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8"))

    assert [target for target in targets if not (page.parent / target).exists()] == []
