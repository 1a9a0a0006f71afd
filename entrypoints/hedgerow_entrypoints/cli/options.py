"""What several commands have in common: options about where objects come from and how they are printed, and stdin."""

import io
import sys
from collections.abc import Callable
from typing import Any, BinaryIO, Final, TypeAlias

import click

from hedgerow.machinery.names import dns_label_problem
from hedgerow_adapters.files import render_json, render_yaml

OBJECT_FORMATS: Final = {"yaml": render_yaml, "json": render_json}
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
    """The options `--kubeconfig` and `--context`, as parameters of these names."""
    kubeconfig = click.option("--kubeconfig", metavar="FILE", help=f"{purpose}; it is only read.")
    context = click.option(
        "--context", metavar="NAME", help="Context of the kubeconfig; alone: of $KUBECONFIG or ~/.kube/config."
    )
    return lambda command: kubeconfig(context(command))


def object_format() -> _Option:
    """The option `-o` of a command that prints objects, as the parameter `output`, one of `OBJECT_FORMATS`."""
    formats = click.Choice(list(OBJECT_FORMATS))
    return click.option("-o", "--output", type=formats, default="yaml", show_default=True, help="How to print them.")


def home_namespace(*names: str, purpose: str) -> _Option:
    """An option that names the namespace of a process, by default `garden`."""
    options: dict[str, Any] = {"default": "garden", "show_default": True, "metavar": "NAME", "help": purpose}
    return click.option(*names, callback=_namespace, **options)


def _namespace(_context: click.Context, _option: click.Parameter, namespace: str) -> str:
    if problem := dns_label_problem(namespace):
        raise click.BadParameter(f"{namespace!r} cannot be the name of a namespace: {problem}")
    return namespace


def standard_input() -> BinaryIO:
    """Standard input, also where the process was started without one."""
    if sys.stdin is not None:
        return sys.stdin.buffer
    missing = io.BytesIO()
    missing.close()
    return missing
