"""Options that several commands have in common: where their objects come from."""

from collections.abc import Callable
from typing import Any, TypeAlias

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
