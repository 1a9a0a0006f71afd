"""A process whose tests are about ManagedResources."""

from typing import Final

from tests.control_plane import PATIENCE
from tests.e2e.hasty import HastyResourceManager
from tests.e2e.resource_manager import ResourceManager, errors_of, is_idle

CONTROLLER: Final = "managedresource"
_NOT_SERVED_YET: Final = ("no matches for kind", "404 page not found")
"""What is said of an object whose definition was stored a moment ago: before and after discovery shows it."""


class Manager(ResourceManager):
    """A process of the resource manager that runs no other controllers than those of ManagedResources."""

    def wait_until_idle(self, timeout: float = PATIENCE) -> None:
        """Returns once every controller has looked at all that there was when it began, and no queue holds a key."""
        self.wait_until_working(CONTROLLER, timeout)
        keys = {line["controller"]: line["keys"] for line in self.log_lines("Starting workers")}
        assert CONTROLLER in keys
        self.wait_for(lambda: is_idle(self.metrics(), keys), "is not idle", timeout)

    def troubles(self) -> list[str]:
        """What the process has told as errors, apart from kinds whose definition the server has just stored."""
        return [error for error in errors_of(self.log_lines()) if not any(text in error for text in _NOT_SERVED_YET)]

    def reconciliations(self, controller: str = CONTROLLER) -> float:
        """How often a controller has looked at something."""
        return self.metric("controller_runtime_reconcile_total", controller=controller)


class HastyManager(Manager, HastyResourceManager):
    """Such a process some of whose constants have other values."""
