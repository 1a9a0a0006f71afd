"""The components: each declares in one module of its own out of what commands and processes build it.

The next component is a module with a `Component` called `COMPONENT`, and a line in `MODULES`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from hedgerow_entrypoints.components.registry import Component

RESOURCE_MANAGER: Final = "resource-manager"
CONTROLLER_MANAGER: Final = "controller-manager"
RSYSLOG_RELP: Final = "rsyslog-relp"
SEED_EXTENSIONS: Final = "seed-extensions"
RUNNABLE: Final = (RESOURCE_MANAGER, CONTROLLER_MANAGER, SEED_EXTENSIONS, RSYSLOG_RELP)
"""The components that have a configuration file, and so a process."""
INSTALLABLE: Final = (RESOURCE_MANAGER, CONTROLLER_MANAGER, SEED_EXTENSIONS, RSYSLOG_RELP)
"""Those that declare what their processes need in a cluster."""
MODULES: Final = {
    RESOURCE_MANAGER: "resource_manager",
    "operator": "operator",
    CONTROLLER_MANAGER: "controller_manager",
    SEED_EXTENSIONS: "seed_extensions",
    RSYSLOG_RELP: "rsyslog_relp",
}
"""Where the components are declared, by their names. Only what is asked for is imported."""
_BROUGHT: "Final[dict[str, Component[Any]]]" = {}


def bring(component: "Component[Any]") -> None:
    """Have the commands of this process know one component that its program declares, and none of ours."""
    _BROUGHT[component.name] = component


def known() -> tuple[str, ...]:
    """The names of the components that commands know."""
    return tuple(_BROUGHT or MODULES)


def component(name: str) -> "Component[Any]":
    """The declaration of a component."""
    if name in _BROUGHT:
        return _BROUGHT[name]
    declared: Component[Any] = import_module(f"{__name__}.{MODULES[name]}").COMPONENT
    return declared
