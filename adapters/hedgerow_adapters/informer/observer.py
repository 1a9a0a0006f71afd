"""What a list-and-watch tells of itself, for logs and metrics."""

from typing import NamedTuple, Protocol

from hedgerow.machinery.clusters import EVERYTHING, Cluster, ReadScope
from hedgerow.machinery.objects import Resource


class Watched(NamedTuple):
    """What a list-and-watch looks at."""

    resource: Resource
    cluster: Cluster = Cluster.TARGET
    scope: ReadScope = EVERYTHING


class InformerObserver(Protocol):
    """Is told what happens to a list-and-watch, for logs and metrics."""

    def interrupted(self, watched: Watched, cause: str, problem: Exception | None) -> None:
        """A list or watch came to its end; `cause` is short and stable, the problem none for an orderly end.

        The causes: `closed` and `closed-early`, `disconnected`, `refused`, `forbidden`, `expired`, `unreadable`,
        `absent` where discovery lacks an optional resource, told once for an absence, `restored` where the server's
        storage was restored from a backup, and `raised` for a defect of the transport or the listener.
        """
        ...

    def resumed(self, watched: Watched) -> None:
        """All is well where a list or watch had come to its end by a problem.

        Everything that had to be listed has been, and since then a watch has brought something, or lasted.
        """
        ...
