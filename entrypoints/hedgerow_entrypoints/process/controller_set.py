"""The controllers of a process."""

from collections.abc import Sequence

from hedgerow.machinery.clusters import Cluster
from hedgerow_adapters.runtime.runner import ControllerRunner


class ControllerSet:
    """The running controllers; incomplete, and so not synced, until `add` was called."""

    def __init__(self) -> None:
        self.runners: Sequence[ControllerRunner] = ()
        self._is_complete = False

    def add(self, runners: Sequence[ControllerRunner]) -> None:
        """Add the runners of all controllers; there may be none."""
        self.runners = runners
        self._is_complete = True

    def is_complete(self, cluster: Cluster) -> bool:
        """True if everything that the controllers read of a cluster has been listed."""
        return self._is_complete and all(runner.is_complete(cluster) for runner in self.runners)
