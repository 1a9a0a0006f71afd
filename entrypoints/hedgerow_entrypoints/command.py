"""The `hedgerow` command: its subcommands, and how it ends.

Each subcommand stands in a module of its own that is imported when it is asked for, so that one does not pay for the
others.
"""

import os
import sys
from importlib import import_module
from typing import Final

import click

from hedgerow.version import __version__

SUBCOMMANDS: Final = {
    "run": "hedgerow_entrypoints.run",
    "plan": "hedgerow_entrypoints.plan",
    "simulate": "hedgerow_entrypoints.simulate",
    "demo": "hedgerow_entrypoints.demo",
    "config": "hedgerow_entrypoints.config",
}
INTERRUPTED: Final = 130
CLOSED_PIPE: Final = 141


class LazyGroup(click.Group):
    """A group whose subcommands are imported on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 -- click's signature
        """The names, in the order in which they are explained."""
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 -- as above
        """The subcommand of a name."""
        if cmd_name not in SUBCOMMANDS:
            return None
        command: click.Command = import_module(SUBCOMMANDS[cmd_name]).command
        return command


@click.group(
    name="hedgerow",
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog='Shell completion: eval "$(_HEDGEROW_COMPLETE=bash_source hedgerow)" (or zsh_source, fish_source).',
)
@click.version_option(__version__, prog_name="hedgerow", message="%(prog)s %(version)s")
def hedgerow() -> None:
    """Kubernetes control-plane controllers whose decisions are pure functions.

    The same controller runs in a cluster (run), over manifests (plan) and in memory (simulate, demo).
    """


def main() -> None:
    """Run the command; errors are sentences, and wrong usage is an error like any other (exit code 1)."""
    try:
        code = hedgerow.main(prog_name="hedgerow", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        code = end.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        code = INTERRUPTED
    except click.ClickException as error:
        error.show()
        code = 1
    except BrokenPipeError:
        # The reader is gone; the interpreter would complain when it flushes what is left.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = CLOSED_PIPE
    sys.exit(code)
