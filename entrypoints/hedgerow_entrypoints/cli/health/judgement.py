"""What has come out for the objects that were to be judged, and for which of them nothing could."""

from dataclasses import dataclass

from hedgerow_entrypoints.cli.health.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict per object, each object once."""

    verdicts: tuple[Verdict, ...]
    problems: tuple[str, ...] = ()
    """Why objects could not be judged, a sentence each, with their names."""

    @property
    def is_unhealthy(self) -> bool:
        """Whether any object is known to be unhealthy; that one rolls out is no fault."""
        return any(verdict.healthy is False for verdict in self.verdicts)
