"""What several commands have in common: options about where objects come from and how they are printed, and stdin."""

import io
import sys
from collections.abc import Callable, Iterable
from typing import Any, BinaryIO, Final, TypeAlias

import click

from hedgerow.machinery.names import dns_label_problem
from hedgerow_adapters.files.writing import render_json, render_yaml

OBJECT_FORMATS: Final = {"yaml": render_yaml, "json": render_json}
Option: TypeAlias = Callable[[Callable[..., Any]], Callable[..., Any]]


def filenames(*, required: bool = False) -> Option:
    """The option `-f`, as the parameter `paths`."""
    purpose = "File, folder, or - for standard input; repeatable."
    return click.option("-f", "--filename", "paths", multiple=True, required=required, metavar="PATH", help=purpose)


def live_cluster(purpose: str) -> Option:
    """The options `--kubeconfig` and `--context`, as parameters of these names."""
    kubeconfig = click.option("--kubeconfig", metavar="FILE", help=f"{purpose}; it is only read.")
    of_context = "Context of the kubeconfig; alone: of $KUBECONFIG or ~/.kube/config."
    context = click.option("--context", metavar="NAME", help=of_context)
    return lambda command: kubeconfig(context(command))


def config_file(purpose: str, *, required: bool = False) -> Option:
    """The option `--config`, as the parameter `config_file`."""
    return click.option("--config", "config_file", required=required, metavar="FILE", help=purpose)


def output_format(formats: Iterable[str], purpose: str) -> Option:
    """The option `-o`, as the parameter `output`; the first format is the default."""
    names = [*formats]
    kind = click.Choice(names)
    return click.option("-o", "--output", type=kind, default=names[0], show_default=True, help=purpose)


def object_format() -> Option:
    """The option `-o` of a command that prints objects, one of `OBJECT_FORMATS`."""
    return output_format(OBJECT_FORMATS, "How to print them.")


def home_namespace(*names: str, purpose: str) -> Option:
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
