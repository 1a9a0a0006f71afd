import subprocess
import sys
from types import ModuleType

import pytest

from hedgerow.version import __version__
from hedgerow_entrypoints.cli import start
from hedgerow_entrypoints.cli.command import SUBCOMMANDS
from tests.unit.entrypoints.command_line import Hedgerow

HELP = """\
Usage: hedgerow [OPTIONS] COMMAND [ARGS]...

  Kubernetes control-plane controllers whose decisions are pure functions.

  The same controller runs in a cluster (run), over manifests (plan) and in
  memory (simulate, demo).

Options:
  --version   Show the version and exit.
  -h, --help  Show this message and exit.

Commands:
  run       Run a component in a cluster.
  plan      Show what controllers would do, without doing it.
  review    Show what webhooks would decide about objects.
  simulate  Let controllers work in memory and print the outcome.
  health    Show which objects are healthy, and what is wrong.
  replay    Repeat recorded decisions, and show which differ.
  demo      Show a controller at work in a sample landscape.
  config    Check and explain component configuration files.
  webhooks  Print what registers webhooks, and make certificates.
  install   Print the manifests of an installation.
  render    Write the files that a component puts on nodes.
  crds      Print the definitions of the project's resources.

  Shell completion: eval "$(_HEDGEROW_COMPLETE=bash_source hedgerow)" (or
  zsh_source, fish_source).
"""


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_help_lists_the_subcommands(hedgerow: Hedgerow) -> None:
    assert hedgerow("--help") == (0, HELP, "")


def test_without_a_subcommand_help_is_shown_as_an_error(hedgerow: Hedgerow) -> None:
    assert hedgerow() == (1, "", HELP)


@pytest.mark.parametrize(
    "arguments", [*((name,) for name in SUBCOMMANDS), ("config", "check"), ("webhooks", "render")], ids=" ".join
)
def test_every_subcommand_explains_itself(arguments: tuple[str, ...], hedgerow: Hedgerow) -> None:
    ended = hedgerow(*arguments, "-h")

    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith(f"Usage: hedgerow {' '.join(arguments)} [OPTIONS]")


def test_the_version_is_told(hedgerow: Hedgerow) -> None:
    assert hedgerow("--version") == (0, f"hedgerow {__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("plna",), "No such command 'plna'. Did you mean 'plan'?"),
        (("--loud",), "No such option '--loud'."),
    ],
)
def test_wrong_usage_is_an_error(arguments: tuple[str, ...], sentence: str, hedgerow: Hedgerow) -> None:
    assert hedgerow(*arguments) == (1, "", f"error: {sentence}\nTry 'hedgerow --help' for help.\n")


@pytest.mark.parametrize(
    "modules",
    [
        ("hedgerow_entrypoints.cli.command",),
        ("hedgerow_entrypoints.cli.plan", "hedgerow_entrypoints.cli.simulate", "hedgerow_entrypoints.cli.demo"),
    ],
    ids=["help", "offline"],
)
def test_what_needs_no_cluster_loads_no_client(modules: tuple[str, ...]) -> None:
    slow = {"aiohttp", "kubernetes", "structlog", "prometheus_client"}
    program = f"import sys, {', '.join(modules)}; print(*({slow} & set(sys.modules)))"

    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert loaded == "\n"


def test_who_interrupts_it_before_it_is_imported_gets_a_word(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Slow(ModuleType):
        def __getattr__(self, _name: str) -> object:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "hedgerow_entrypoints.cli.command", Slow("hedgerow_entrypoints.cli.command"))

    with pytest.raises(SystemExit) as end:
        start.main()

    assert (end.value.code, capsys.readouterr()) == (130, ("", "interrupted\n"))


def test_nothing_is_imported_before_an_interrupt_can_be_answered() -> None:
    start = "hedgerow_entrypoints.cli.start"
    program = f"import sys; before = {{*sys.modules}}; import {start}; print(*{{*sys.modules}} - before)"

    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert {*loaded.split()} == {"hedgerow_entrypoints", "hedgerow_entrypoints.cli", start}
