"""The controllers that offline commands know by name, and the settings that these go by."""

import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import cache
from typing import Any, Final, NamedTuple

import click
from click.shell_completion import CompletionItem
from returns import result

from hedgerow.api.kubernetes import CONFIG_MAPS
from hedgerow.api.references import CLUSTER_IDENTITY, asks_for_identity, cluster_id
from hedgerow.machinery.charts import RenderChart, RenderedChart
from hedgerow.machinery.clusters import Cluster
from hedgerow.machinery.configuration.reading import Decoded
from hedgerow.machinery.configuration.section import Purpose
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.failures import Failure, perhaps
from hedgerow.machinery.objects import Kind, key_of
from hedgerow.machinery.questions import NOT_FOUND, Answer, Found, ListQuestion, NotAnswered, ObjectQuestion, Question
from hedgerow_adapters.charts import HelmCommand
from hedgerow_adapters.charts.renderer import chart_renderer
from hedgerow_adapters.files.sources import LoadedObject
from hedgerow_adapters.memory.cluster import VERSION
from hedgerow_adapters.simulation.simulation import Charts
from hedgerow_entrypoints.cli.options import Option
from hedgerow_entrypoints.components import component, known
from hedgerow_entrypoints.components.registry import Ask, Component, ControllerEntry, Remarks
from hedgerow_entrypoints.configuration import Stated, read_configuration
from hedgerow_entrypoints.errors import CommandError, note
from hedgerow_entrypoints.process.settings import ProcessSettings

_ENTRIES: Final[dict[str, tuple[Component[Any], ControllerEntry[Any]]]] = {}
"""Of each controller the first component that may run it."""
for _component in map(component, known()):
    for _entry in _component.controllers:
        _ENTRIES.setdefault(_entry.name, (_component, _entry))
NAMES: Final = (*_ENTRIES,)
LISTED: Final = "\n".join(f"  {', '.join((entry.name, *entry.aliases))}" for _, entry in _ENTRIES.values())
_VERSION: Final = re.compile(r"v?([0-9]{1,9}\.[0-9]{1,9})(\.[0-9]{1,9})?")
_ALIASES: Final = {alias: entry.name for _, entry in _ENTRIES.values() for alias in entry.aliases}


class ControllerName(click.Choice[str]):
    """The name or an alias of a controller on the command line."""

    def __init__(self) -> None:
        super().__init__(NAMES)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name for a name or an alias."""
        if (name := _ALIASES.get(value, value)) not in self.choices:
            self.fail(f"{value!r} is no controller{perhaps(value, self._spellings)}", param, ctx)
        return super().convert(name, param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002 -- click's
        """The names and aliases that begin so."""
        return [CompletionItem(each) for each in self._spellings if each.startswith(incomplete)]

    @property
    def _spellings(self) -> Sequence[str]:
        return (*self.choices, *_ALIASES)


class Chosen(NamedTuple):
    """A controller that the command line names, and what to say about its objects."""

    controller: Controller[Any]
    remarks: Remarks


def offline_settings(config_file: str | None) -> Stated:
    """What controllers go by, with a note of what is odd in the file; without one, defaults of the first component."""
    if config_file is None:
        default = component(known()[0])
        return Stated(default, Decoded(default.without_file(ask_files(())), ()))
    stated = read_configuration(config_file, Purpose.OFFLINE)
    for warning in stated.decoded.warnings:
        note(f"warning: {config_file}: {warning}")
    return stated


def kube_version() -> Option:
    """The option `--kube-version`, as the parameter `kube_version`; none: files do not tell, and `VERSION` counts."""
    purpose = f"Version of Kubernetes that charts in files are rendered for; {VERSION} unless given."
    return click.option("--kube-version", callback=_kube_version, metavar="VERSION", help=purpose)


def _kube_version(_context: click.Context, _option: click.Parameter, text: str | None) -> str | None:
    if text is None:
        return None
    if (version := _VERSION.fullmatch(text)) is None:
        raise click.BadParameter(f"{text!r} is no version such as {VERSION}")
    return f"v{version[1]}{version[2] or '.0'}"


def offline_charts(process: ProcessSettings, *, is_version_assumed: bool = False) -> Charts:
    """Renders charts as a process does, until the command ends; says for which version if nobody has named one."""
    renderer = click.get_current_context().with_resource(chart_renderer(process.helm or HelmCommand()))

    def noted(chart: RenderChart) -> Future[RenderedChart]:
        nonlocal is_version_assumed
        if is_version_assumed:
            note(f"note: charts are rendered for Kubernetes {chart.kube_version}; --kube-version names another version")
            is_version_assumed = False
        return renderer.submit(chart)

    return noted


def ask_files(objects: Sequence[LoadedObject]) -> Ask:
    """Answers for a cluster that consists of the objects of files."""

    def ask(question: Question) -> Answer:
        resource = question.resource
        found = [each.manifest for each in objects if Kind.of(each.manifest) == resource.object_kind]
        if isinstance(question, ListQuestion):
            return Found(tuple(filter(question.asks_for, found)))
        named = [each for each in found if key_of(each) == question.key]
        missing = NotAnswered(404, NOT_FOUND, f'{resource} "{question.key.name}" not found')
        return Found(tuple(named)) if named else missing

    return ask


def chosen_controllers(
    names: Sequence[str], settings: Stated, ask: Ask, explained: Callable[[Failure], str] = str
) -> list[Chosen]:
    """The controllers of these names, each once, as a process runs them that has these settings.

    One that the settings disable is built all the same. Where they leave something open that a controller needs, the
    cluster is asked; `explained` makes a sentence of what is wrong with an object there.
    """

    @cache
    def configured(name: str) -> tuple[Any, str]:
        """The configuration of a component, and the effective id of its source cluster."""
        declared = component(name)
        is_stated = declared is settings.component
        configuration = settings.decoded.configuration if is_stated else declared.without_file(ask)
        if isinstance(configuration, Failure):
            raise CommandError(explained(configuration))
        stated = declared.settings(configuration).cluster_id
        if not asks_for_identity(stated):
            return configuration, stated
        found = cluster_id(stated, ask(ObjectQuestion(CONFIG_MAPS, CLUSTER_IDENTITY, Cluster.SOURCE)))
        if isinstance(found, result.Failure):
            raise CommandError(found.failure())
        return configuration, found.unwrap()

    chosen = []
    for name in dict.fromkeys(names):
        first, entry = _ENTRIES[name]
        owner = settings.component if entry in settings.component.controllers else first
        chosen.append(Chosen(settings.process.restricted(entry.build(*configured(owner.name))), entry.remarks()))
    return chosen
