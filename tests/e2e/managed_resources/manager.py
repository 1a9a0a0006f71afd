"""A process whose tests are about ManagedResources."""

from typing import Final

from tests.e2e.resource_manager import READY_TIMEOUT, ResourceManager

CONTROLLER: Final = "managedresource"


class Manager(ResourceManager):
    """A process of the resource manager that runs no other controllers than those of ManagedResources."""

    def wait_until_idle(self, timeout: float = READY_TIMEOUT) -> None:
        """Returns once every controller has looked at all that there was when it began, and no queue holds a key."""
        self.wait_for_line(f"Controller {CONTROLLER} works", timeout)
        keys = {line["controller"]: line["keys"] for line in self.log_lines("Starting workers")}
        assert CONTROLLER in keys
        self.wait_for(
            lambda: all(self.reconciliations(name) >= count for name, count in keys.items()) and not self._busy(),
            "is not idle",
            timeout,
        )

    def reconciliations(self, controller: str = CONTROLLER) -> float:
        """How often a controller has looked at something."""
        return self.metric("controller_runtime_reconcile_total", controller=controller)
