"""A command that runs a process: its errors are lines of the log, as nobody may be at a terminal."""

from typing import Any, Never

import click

from hedgerow_entrypoints.errors import CommandError


class ProcessCommand(click.Command):
    """Logs why it ends, wrong usage included."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the process."""
        # Imports what a process needs, which other commands do without.
        from hedgerow_entrypoints.fatal import failures_are_logged  # noqa: PLC0415

        with failures_are_logged(ctx.params.get("component") or ctx.command_path):
            return super().invoke(ctx)


def is_of_process(error: click.ClickException) -> bool:
    """True if the command line of a process is wrong."""
    return (
        isinstance(error, click.UsageError) and error.ctx is not None and isinstance(error.ctx.command, ProcessCommand)
    )


def tell_in_log(error: click.ClickException) -> Never:
    """Log an error, and end."""
    from hedgerow_entrypoints.fatal import failures_are_logged  # noqa: PLC0415 -- as above

    with failures_are_logged("hedgerow run"):
        raise CommandError(" ".join(error.format_message().split())) from error
