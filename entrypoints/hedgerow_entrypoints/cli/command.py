"""The `hedgerow` command: its subcommands, each in a module that is imported when it is called, and how it ends."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

import click

from hedgerow.version import __version__
from hedgerow_entrypoints.cli.process_command import is_of_process, tell_in_log
from hedgerow_entrypoints.errors import CommandError, note
from hedgerow_entrypoints.process.memory import search_seldom

SUBCOMMANDS: Final = {
    "run": ("run", "Run a component in a cluster."),
    "plan": ("plan", "Show what controllers would do, without doing it."),
    "review": ("review.command", "Show what webhooks would decide about objects."),
    "simulate": ("simulate", "Let controllers work in memory and print the outcome."),
    "health": ("health.command", "Show which objects are healthy, and what is wrong."),
    "replay": ("replay", "Repeat recorded decisions, and show which differ."),
    "demo": ("demo", "Show a controller at work in a sample landscape."),
    "config": ("config", "Check and explain component configuration files."),
    "webhooks": ("webhooks", "Print what registers webhooks, and make certificates."),
    "install": ("install", "Print the manifests of an installation."),
    "render": ("render", "Write the files that a component puts on nodes."),
    "crds": ("crds", "Print the definitions of the project's resources."),
}
"""The module of each subcommand, below this package, and what the list of all says about it."""
FAILED: Final = 1
INTERRUPTED: Final = 130
CLOSED_PIPE: Final = 141


class ReaderGoneError(Exception):
    """Nobody reads what a command prints any more."""


class CommandGroup(click.Group):
    """A group that gives a closed pipe another name, because click would end the process as a failure."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a subcommand."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise ReaderGoneError from error


class LazyGroup(CommandGroup):
    """A group whose subcommands are imported when they are called; until then, name and summary stand for each."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        """The names, in the order in which they are explained."""
        return [*self.commands]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The subcommand that the arguments name."""
        name, found, rest = super().resolve_command(ctx, args)
        return name, import_module(f"{__package__}.{SUBCOMMANDS[name][0]}").command if name else found, rest


@click.group(
    name="hedgerow",
    cls=LazyGroup,
    commands={name: click.Command(name, short_help=summary) for name, (_, summary) in SUBCOMMANDS.items()},
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog='Shell completion: eval "$(_HEDGEROW_COMPLETE=bash_source hedgerow)" (or zsh_source, fish_source).',
)
@click.version_option(__version__, prog_name="hedgerow", message="%(prog)s %(version)s")
@click.pass_context
def hedgerow(context: click.Context) -> None:
    """Kubernetes control-plane controllers whose decisions are pure functions.

    The same controller runs in a cluster (run), over manifests (plan) and in memory (simulate, demo).
    """
    if os.environ.get("NO_COLOR"):
        context.color = False


def main(arguments: Sequence[str] | None = None, command: click.Command = hedgerow) -> None:
    """Run the command; errors are sentences, and wrong usage is an error like any other (exit code 1)."""
    search_seldom()
    try:
        code = command.main(arguments, prog_name=command.name, standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        note("interrupted")
        code = INTERRUPTED
    except click.ClickException as error:
        if is_of_process(error):
            tell_in_log(error)
        _explain(error)
        code = FAILED
    except ReaderGoneError:
        _forget_output()
        code = CLOSED_PIPE
    except OSError as error:
        # Commands turn the errors of what they read into sentences; what is left concerns what they write.
        _forget_output()
        note(f"error: the output cannot be written: {error.strerror or error}")
        code = FAILED
    sys.exit(code)


def _explain(error: click.ClickException) -> None:
    if isinstance(error, CommandError | click.exceptions.NoArgsIsHelpError):
        error.show()
    else:
        if isinstance(error, click.exceptions.NoSuchCommand) and error.possibilities:
            del error.possibilities[1:]  # the closest one will do
        note(f"error: {error.format_message()}")
        if isinstance(error, click.UsageError) and error.ctx:
            note(f"Try '{error.ctx.command_path} --help' for help.")


def _forget_output() -> None:
    """Lose what is not written yet; the interpreter would try again at its end, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
