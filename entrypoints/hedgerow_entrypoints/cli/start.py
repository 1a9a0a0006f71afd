"""The `hedgerow` command from its first moment: who interrupts it before it is imported gets a word, too.

What is imported at the top of this module is there before anybody can be answered, and so it is next to nothing.
"""

import sys

INTERRUPTED = 130


def main() -> None:
    """Import the command and run it."""
    try:
        from hedgerow_entrypoints.cli.command import main as run  # noqa: PLC0415 -- it takes a while

        run()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(INTERRUPTED)
