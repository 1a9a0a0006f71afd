"""How a component is declared: the one value out of which every command, and the process, builds it.

No particular component is known here. A factory imports what it builds, so that a process pays start-up time and memory
only for the controllers that it runs.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar

from returns.result import Result

from hedgerow.admission import Webhook
from hedgerow.machinery.configuration.process import ClientConnection, LeaderElection, Server
from hedgerow.machinery.configuration.reading import ConfigurationErrors, Decoded, Document, decode
from hedgerow.machinery.configuration.section import Purpose
from hedgerow.machinery.controller import Controller
from hedgerow.machinery.failures import Failure
from hedgerow.machinery.objects import Manifest, Resource
from hedgerow.machinery.questions import Answer, Question
from hedgerow.machinery.snapshot import Snapshot
from hedgerow_entrypoints.process.settings import ProcessSettings

if TYPE_CHECKING:
    from hedgerow.admission.registration import Mode, WebhookServer
    from hedgerow.installation.installation import Installation
    from hedgerow.machinery.recording.playback import Redaction

Configuration = TypeVar("Configuration")
Ask: TypeAlias = Callable[[Question], Answer]
"""Reads from the cluster, or from the files that stand for it."""


@dataclass(frozen=True, slots=True)
class Remarks:
    """What offline commands know of the objects of a controller beside its declaration, mostly to say it."""

    notes: Callable[[Controller[Any], Snapshot], Iterable[str]] = lambda _controller, _snapshot: ()
    """Which objects the controller leaves alone, and why."""
    failures: Callable[[Controller[Any], Manifest], Iterable[Failure]] = lambda _controller, _primary: ()
    """What a primary object says, once the plan is carried out, that its author has to correct."""
    stored: Callable[[Manifest], Manifest] = lambda manifest: manifest
    """An object as a server hands it back that is sent it, as far as that can be told without asking one."""


Asked: TypeAlias = tuple[Sequence[Webhook], Sequence[Manifest]]
"""Webhooks, and the objects that register them."""
NO_REMARKS: Final = Remarks()
OFFLINE: Final = ProcessSettings(source=ClientConnection(), server=Server(), leader_election=LeaderElection())


@dataclass(frozen=True, slots=True)
class ControllerEntry(Generic[Configuration]):
    """The declaration of one controller."""

    name: str
    """The reference's name, as in logs and metrics; behind the component's name and a slash if two components have
    controllers of one name."""
    build: Callable[[Configuration, str], Controller[Any]]
    """The controller for a configuration, enabled or not, and the effective id of the source cluster."""
    section: str = ""
    """Its section below `controllers` in the configuration file; empty: it has none."""
    aliases: tuple[str, ...] = ()
    """Other names that the command line accepts, for people."""
    namespaces: tuple[str, ...] = ()
    """The fields of its section that name a namespace in which it needs permissions."""
    remarks: Callable[[], Remarks] = lambda: NO_REMARKS
    connected: Callable[[Controller[Any], Configuration], Controller[Any]] = lambda controller, _: controller
    """The controller with what only a process finds in its surroundings. May raise a CommandError."""

    def is_enabled(self, configuration: Any) -> bool:
        """True if a process with a configuration runs it: unless its section can disable it, and does."""
        if not self.section:
            return True
        sections = configuration.controllers
        (attribute,) = (field.attribute for field in sections.declared if field.name == self.section)
        return bool(getattr(getattr(sections, attribute), "enabled", True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviews:
    """The webhooks of a component as `hedgerow review` asks them, whether they are enabled or not."""

    purposes: Mapping[str, str] = field(default_factory=dict)
    """By name, what each does."""
    resources: tuple[Resource, ...] = ()
    """What they are registered for."""
    decided_from: Mapping[str, Resource] = field(default_factory=dict)
    """By name, without which objects a webhook denies everything: files that hold none say nothing about it."""
    asked: "Callable[[Any, Collection[str], str | None, Mode], Asked]" = lambda *_: ((), ())
    """Those of some names, and what registers them: given a configuration or none, for defaults, the API server's name,
    and a mode. One that needs the name and gets none is left out."""
    readable: Callable[[Manifest], Manifest] = lambda manifest: manifest
    """An object as diffs show it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Component(Generic[Configuration]):
    """The declaration of one component."""

    name: str
    """As `hedgerow run` takes it, and as logs and records show it."""
    controllers: tuple[ControllerEntry[Configuration], ...]
    """In the order in which a process starts them."""
    without_file: Callable[[Ask], Configuration | Failure]
    """What its controllers go by where no file says it: defaults, or what the cluster tells; or which object keeps
    that from being known. May raise a CommandError."""
    document: type[Document] | None = None
    """Its configuration file; none: it has none yet, and only offline commands run its controllers."""
    settings: Callable[[Configuration], ProcessSettings] = lambda _configuration: OFFLINE
    webhooks: Callable[[Configuration], Sequence[Webhook]] = lambda _configuration: ()
    """The enabled webhooks, in the order in which API servers call them."""
    reviews: Callable[[], Reviews] = Reviews
    """The same and the others as offline commands know them."""
    registrations: "Callable[[Configuration, WebhookServer], Sequence[Manifest]] | None" = None
    """The objects that register the enabled webhooks; none: they depend on which cluster they are for as well."""
    installation: "Callable[[], type[Installation[Any, Any]]] | None" = None
    """What its process needs in a cluster; none: it cannot be installed."""
    redaction: "Callable[[], Redaction] | None" = None
    """Keeps confidential values out of the record of a run; none: decisions cannot be recorded."""

    def decoded(self, document: object, purpose: Purpose) -> Result[Decoded[Any], ConfigurationErrors]:
        """The configuration that a parsed file states, or everything wrong with it; only for one that has a file."""
        assert self.document is not None  # noqa: S101 -- commands ask for files of runnable components alone
        return decode(self.document, document, purpose)

    def declared(self, configuration: Configuration, cluster_id: str) -> list[Controller[Any]]:
        """The controllers that a process runs, given the effective id of its source cluster, which may be empty."""
        return [entry.build(configuration, cluster_id) for entry in self.controllers if entry.is_enabled(configuration)]

    def running(self, configuration: Configuration, cluster_id: str) -> list[Controller[Any]]:
        """The same with what the process finds in its surroundings. Raises CommandError."""
        enabled = (entry for entry in self.controllers if entry.is_enabled(configuration))
        return [entry.connected(entry.build(configuration, cluster_id), configuration) for entry in enabled]

    def visible(self, configuration: Configuration, cluster_id: str) -> list[Controller[Any]]:
        """The same as they run: they decide nothing about namespaces that the process does not see."""
        settings = self.settings(configuration)
        return [settings.restricted(each) for each in self.declared(configuration, cluster_id)]
