"""The controllers that offline commands know by name, and the settings that these go by."""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import click
from returns.result import Failure

from hedgerow.api.kubernetes import CONFIG_MAPS
from hedgerow.api.origins import CLUSTER_IDENTITY, asks_for_identity, cluster_id
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.objects import key_of
from hedgerow.machinery.questions import Answer, Found, NotAnswered, ObjectQuestion, Question
from hedgerow.resource_manager.configuration import ResourceManagerConfiguration, decode_offline
from hedgerow_adapters.files import LoadedObject
from hedgerow_entrypoints.components.garden import EVERY_GARDEN, OPERATOR, Gardens, gardens_in, gardens_told
from hedgerow_entrypoints.components.registry import Configuration, ControllerEntry, Remarks
from hedgerow_entrypoints.components.resource_manager_controllers import RESOURCE_MANAGER, restricted_to_visible
from hedgerow_entrypoints.configuration import read_configuration
from hedgerow_entrypoints.errors import CommandError, note

_BY_SETTINGS: Final = {entry.name: entry for entry in RESOURCE_MANAGER}
_BY_GARDENS: Final = {entry.name: entry for entry in OPERATOR}
NAMES: Final = (*_BY_SETTINGS, *_BY_GARDENS)
LISTED: Final = "\n".join(f"  {name}" for name in NAMES)
"""Their names, a line each, as helps show them."""
_ENTRIES: Final[tuple[ControllerEntry[Any], ...]] = (*RESOURCE_MANAGER, *OPERATOR)
_ALIASES: Final = {alias: entry.name for entry in _ENTRIES for alias in entry.aliases}


class ControllerName(click.Choice[str]):
    """The name of a controller on the command line. Aliases are accepted; help and completion show the names alone."""

    def __init__(self) -> None:
        super().__init__(NAMES)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name for a name or an alias."""
        return super().convert(_ALIASES.get(value, value), param, ctx)


class Chosen(NamedTuple):
    """A controller that the command line names, and what to say about its objects."""

    controller: Controller[Any]
    remarks: Remarks


def offline_configuration(config_file: str | None) -> ResourceManagerConfiguration | None:
    """What a component configuration file says, with a note of what is odd in it; none without a file.

    Raises:
        CommandError: it cannot be read, decoded or accepted.
    """
    if config_file is None:
        return None
    decoded = read_configuration(config_file, decode_offline)
    for warning in decoded.warnings:
        note(f"warning: {config_file}: {warning}")
    return decoded.configuration


def controller_settings(config_file: str | None) -> ResourceManagerConfiguration:
    """What controllers go by: a component configuration file, or the defaults of one without a file.

    Raises:
        CommandError: the file cannot be read, decoded or accepted.
    """
    return offline_configuration(config_file) or ResourceManagerConfiguration()


def chosen_for_objects(
    names: Sequence[str], settings: ResourceManagerConfiguration, objects: Sequence[LoadedObject]
) -> list[Chosen]:
    """The controllers of these names for a cluster that consists of the objects of files.

    Raises:
        CommandError: a controller cannot be configured out of what there is.
    """
    source = _effective_cluster_id(settings, lambda: _identity(objects))
    return chosen_controllers(names, settings, source, lambda: gardens_in(objects))


def chosen_for_cluster(
    names: Sequence[str], settings: ResourceManagerConfiguration, ask: Callable[[Question], Answer]
) -> list[Chosen]:
    """The controllers of these names for clusters that answer questions.

    Raises:
        CommandError: a controller cannot be configured out of what there is.
    """
    identity = ObjectQuestion(CONFIG_MAPS, CLUSTER_IDENTITY, Cluster.SOURCE)
    source = _effective_cluster_id(settings, lambda: ask(identity))
    return chosen_controllers(names, settings, source, lambda: gardens_told(ask(EVERY_GARDEN)))


def _effective_cluster_id(settings: ResourceManagerConfiguration, identity: Callable[[], Answer]) -> str:
    """The id of the source cluster that origins carry.

    Args:
        settings: may say it, or that it has to be found out.
        identity: finds out which ConfigMap tells it; asked only if it is needed.

    Raises:
        CommandError: it cannot be found out, and has to be.
    """
    stated = settings.controllers.cluster_id
    if not asks_for_identity(stated):
        return stated
    found = cluster_id(stated, identity())
    if isinstance(found, Failure):
        raise CommandError(found.failure())
    return found.unwrap()


def chosen_controllers(
    names: Sequence[str], settings: ResourceManagerConfiguration, cluster_id: str = "", gardens: Gardens = tuple
) -> list[Chosen]:
    """The controllers of these names, each once, as a process runs them that has these settings.

    Args:
        names: as the command line has them.
        settings: may leave a controller disabled; it is built all the same.
        cluster_id: the effective id of the source cluster.
        gardens: finds out which Gardens there are; asked only if a controller goes by one.

    Raises:
        CommandError: a controller cannot be configured out of what there is.
    """
    chosen = [
        _built(_BY_GARDENS[name], gardens, cluster_id)
        if name in _BY_GARDENS
        else _built(_BY_SETTINGS[name], settings, cluster_id)
        for name in dict.fromkeys(names)
    ]
    return [each._replace(controller=restricted_to_visible(settings, each.controller)) for each in chosen]


def _built(entry: ControllerEntry[Configuration], configuration: Configuration, cluster_id: str) -> Chosen:
    return Chosen(entry.build(configuration, cluster_id), entry.remarks())


def _identity(objects: Sequence[LoadedObject]) -> Answer:
    found = [
        each.manifest
        for each in objects
        if each.manifest["kind"] == CONFIG_MAPS.kind and key_of(each.manifest) == CLUSTER_IDENTITY
    ]
    missing = NotAnswered(404, "NotFound", f'{CONFIG_MAPS} "{CLUSTER_IDENTITY.name}" not found')
    return Found(tuple(found)) if found else missing
