"""How a component declares its controllers: one entry each, out of which every command builds them.

No particular component is known here. A factory imports what it builds, so that a process pays start-up time and memory
only for the controllers that it runs.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from hedgerow.machinery.controller import Controller
from hedgerow.machinery.failures import Failure
from hedgerow.machinery.objects import Manifest
from hedgerow.machinery.snapshot import Snapshot

Configuration = TypeVar("Configuration")


@dataclass(frozen=True, slots=True)
class Remarks:
    """What offline commands know of the objects of a controller beside its declaration, mostly to say it."""

    notes: Callable[[Controller[Any], Snapshot], Iterable[str]] = lambda _controller, _snapshot: ()
    """Which objects the controller leaves alone, and why."""
    failures: Callable[[Controller[Any], Manifest], Iterable[Failure]] | None = None
    """What a primary object says, once the plan is carried out, that its author has to correct; none: nothing."""
    stored: Callable[[Manifest], Manifest] = lambda manifest: manifest
    """An object as a server hands it back that is sent it, as far as that can be told without asking one."""


NO_REMARKS: Final = Remarks()


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
    is_enabled: Callable[[Configuration], bool] = lambda _configuration: True
    """Whether a process with a configuration runs it."""
    aliases: tuple[str, ...] = ()
    """Other names that the command line accepts; help and completion do not show them."""
    namespaces: tuple[str, ...] = ()
    """The fields of its section that name a namespace in which it needs permissions."""
    remarks: Callable[[], Remarks] = lambda: NO_REMARKS


def enabled_controllers(
    entries: Iterable[ControllerEntry[Configuration]], configuration: Configuration, cluster_id: str
) -> list[Controller[Any]]:
    """The controllers that a process runs, in the order of their entries.

    Args:
        entries: those of the component.
        configuration: valid.
        cluster_id: the effective id of the source cluster; it may be empty.
    """
    return [entry.build(configuration, cluster_id) for entry in entries if entry.is_enabled(configuration)]
