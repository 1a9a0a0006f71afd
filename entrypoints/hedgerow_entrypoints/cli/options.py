"""What several commands have in common: the options that say where their objects come from, and standard input."""

import io
import sys
from collections.abc import Callable
from typing import Any, BinaryIO, TypeAlias

import click

_Option: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]


def filenames(*, required: bool = False) -> _Option:
    """The option `-f`, as the parameter `paths`."""
    return click.option(
        "-f",
        "--filename",
        "paths",
        multiple=True,
        required=required,
        metavar="PATH",
        help="File, folder, or - for standard input; repeatable.",
    )


def live_cluster(purpose: str) -> _Option:
    """The options `--kubeconfig` and `--context`, as parameters of these names.

    Args:
        purpose: what the cluster is for, as the help says it.
    """
    kubeconfig = click.option("--kubeconfig", metavar="FILE", help=f"{purpose}; it is only read.")
    context = click.option(
        "--context", metavar="NAME", help="Context of the kubeconfig; alone: of $KUBECONFIG or ~/.kube/config."
    )
    return lambda command: kubeconfig(context(command))


def standard_input() -> BinaryIO:
    """Standard input, also where the process was started without one."""
    if sys.stdin is not None:
        return sys.stdin.buffer
    missing = io.BytesIO()
    missing.close()
    return missing
