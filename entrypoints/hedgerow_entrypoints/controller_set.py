"""The controllers of a process, before and after they are declared."""

from collections.abc import Sequence

from hedgerow.machinery.clusters import Cluster
from hedgerow_adapters.runtime.runner import ControllerRunner


class ControllerSet:
    """Who is at work; as long as nobody has signed on, nobody knows what will have to be read."""

    def __init__(self) -> None:
        self.runners: Sequence[ControllerRunner] = ()
        self._is_complete = False

    def add(self, runners: Sequence[ControllerRunner]) -> None:
        """Let these be all, perhaps none."""
        self.runners = runners
        self._is_complete = True

    def is_complete(self, cluster: Cluster) -> bool:
        """Whether everything that is read of a cluster has been listed."""
        return self._is_complete and all(runner.is_complete(cluster) for runner in self.runners)
