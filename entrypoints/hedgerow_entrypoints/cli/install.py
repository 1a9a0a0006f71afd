"""`hedgerow install`: what has to be in a cluster for a component to run there."""

import functools
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click
from returns.result import Failure

from hedgerow.admission.registration import Mode, registered_webhooks
from hedgerow.api.references import asks_for_identity
from hedgerow.api.shape import read
from hedgerow.machinery.clusters import Permission
from hedgerow.machinery.documents.yaml_texts import sorted_yaml
from hedgerow.machinery.failures import json_type
from hedgerow.machinery.objects import ObjectKey
from hedgerow.resource_manager.configuration import ResourceManagerConfiguration, decode
from hedgerow.resource_manager.installation.installation import Installation, completed
from hedgerow.resource_manager.installation.manifests import manifests
from hedgerow.resource_manager.installation.permissions import (
    election_permissions,
    identity_permissions,
    permissions_of,
    same_cluster_permissions,
)
from hedgerow.resource_manager.installation.values import Values, default_values
from hedgerow.version import __version__
from hedgerow_adapters.files.decoding import single_document
from hedgerow_entrypoints.cli.options import OBJECT_FORMATS, home_namespace, object_format
from hedgerow_entrypoints.components.resource_manager import COMPONENT
from hedgerow_entrypoints.errors import CommandError, note

_WORDS: Final[Mapping[str, Any]] = {"true": True, "false": False, "null": None}
_INTEGER: Final = re.compile(r"-?(0|[1-9][0-9]*)")
_DOT: Final = re.compile(r"(?<!\\)\.")
"""A dot that separates names, and does not stand in one."""
EXAMPLES: Final = """\b
Examples:
  hedgerow install resource-manager -n garden -f values.yaml | kubectl apply -f -
  hedgerow install resource-manager -n shoot--a--b -f values.yaml --part target"""


@click.group(name="install", epilog=EXAMPLES)
def command() -> None:
    """Print the manifests of an installation, the same as the Helm chart renders."""


@command.command(name="resource-manager", short_help="Print what the resource manager needs.")
@click.option("-f", "--values", "files", multiple=True, metavar="FILE", help="Values of the chart; repeatable.")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="A single value, such as replicas=3; repeatable."
)
@home_namespace("-n", "--namespace", purpose="Where it runs.")
@click.option(
    "--part",
    type=click.Choice(["source", "target", "all"]),
    help="For the cluster where it runs, for a separate target cluster, or both.  [default: source]",
)
@object_format()
def resource_manager(
    files: Sequence[str], settings: Sequence[str], *, namespace: str, part: str | None, output: str
) -> None:
    """Print the manifests of the resource manager: definition, roles, pods, registrations of webhooks.

    Which roles and which webhooks there are follows from the component configuration, the value `config`.

    The namespace itself is not among them.
    """
    wanted = installation(stated_values(files, settings, part=part), namespace)
    objects = manifests(wanted, sorted_yaml(wanted.document))
    if isinstance(objects, Failure):
        raise CommandError(*objects.failure())
    click.echo(OBJECT_FORMATS[output](objects.unwrap()), nl=False)


def installation(values: Values, namespace: str) -> Installation:
    """What the objects of an installation depend on, with a note of what is odd in its component configuration."""
    document = completed(values.config, namespace)
    decoded = decode(document)
    for warning in decoded.failure().warnings if isinstance(decoded, Failure) else decoded.unwrap().warnings:
        note(f"warning: config: {warning}")
    if isinstance(decoded, Failure):
        raise CommandError.of(f"config: {error}" for error in decoded.failure().errors)
    configuration = decoded.unwrap().configuration
    if problems := [f"config: {error}" for error in configuration.server.impossible_ports()]:
        raise CommandError(*problems)
    permissions = permissions_of_process(configuration)
    return Installation(values, namespace, __version__, document, configuration, permissions)


def permissions_of_process(configuration: ResourceManagerConfiguration) -> tuple[Permission, ...]:
    """All that a process with a configuration has to be allowed."""
    # The id of a cluster is found out when the process starts; nothing that is read or written depends on it.
    controllers = COMPONENT.declared(configuration, cluster_id="")
    mode = Mode.RUNTIME if configuration.target is None else Mode.TARGET
    called = {each.path for each in registered_webhooks(mode, "", "", configuration.admission)}
    election = configuration.leader_election
    lease = ObjectKey(election.resource_namespace, election.resource_name)
    return (
        *same_cluster_permissions(),
        *permissions_of(controllers, COMPONENT.webhooks(configuration), called),
        *(election_permissions(lease) if election.leader_elect else ()),
        *(identity_permissions() if asks_for_identity(configuration.controllers.cluster_id) else ()),
    )


def stated_values(files: Sequence[str], settings: Sequence[str], **options: str | None) -> Values:
    """The values of an installation: what a later file says counts more, then `NAME.NAME=VALUE`, then options."""
    of_options = {name: value for name, value in options.items() if value is not None}
    layers = [default_values(), *map(_file, files), *map(_setting, settings), of_options]
    values = read(Values, functools.reduce(_combined, layers))
    if isinstance(values, Failure):
        raise CommandError.of(f"values: {error}" for error in values.failure())
    return values.unwrap()


def _file(path: str) -> Mapping[str, Any]:
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{path}: not a text in UTF-8") from error
    document = single_document(text, path)
    if isinstance(document, Failure):
        raise CommandError.of(f"{path}: {problem}" for problem in document.failure())
    content = document.unwrap()
    if not isinstance(content, Mapping):
        raise CommandError(f"{path}: expected an object, got {json_type(content)}")
    return content


def _setting(text: str) -> dict[str, Any]:
    path, equals, value = text.partition("=")
    split = _DOT.split(path)
    if not equals or not all(split):
        raise CommandError(f"--set {text}: must be NAME=VALUE, with dots between the names of what is nested")
    # As Helm takes it: a truth, nothing, or a whole number where it reads like one, else a text.
    typed = json.loads(value) if _INTEGER.fullmatch(value) else _WORDS.get(value, value)
    *outer, last = (name.replace(r"\.", ".") for name in split)
    setting = {last: typed}
    for name in reversed(outer):
        setting = {name: setting}
    return setting


def _combined(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Values with others on top: objects are combined, null takes away what there is, everything else replaces."""
    combined = dict(below)
    for name, value in above.items():
        if value is None and name in combined:
            del combined[name]
        elif isinstance(value, Mapping) and isinstance(combined.get(name), Mapping):
            combined[name] = _combined(combined[name], value)
        else:
            combined[name] = value
    return combined
