"""What a Prometheus would make of the metrics of real processes, worked out by promtool.

Expected flow: `Monitored` processes are scraped before and while something is wrong; `firing` tells which alerts fire
once that has gone on for a while.

Counters go on as they did between the two scrapes, minute by minute. Gauges stay as they were in the last scrape, but
for ages that a test names as growing. The clock begins at zero with the last scrape: times in metrics are moved.
"""

import json
import subprocess
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from prometheus_client.parser import text_string_to_metric_families

from tests.e2e.resource_manager import ResourceManager
from tests.e2e.rsyslog.programs import Programs

CHARTS: Final = Path(__file__).parents[3] / "deploy" / "charts"
RESOURCE_MANAGER: Final = "gardener-resource-manager"
MINUTE: Final = 60
_LEFT_OUT: Final = ("_bucket", "_sum", "_count")
"""No alert is about histograms, and they are most of the series."""
_IS_MISSING: Final = "stale"


class Series(NamedTuple):
    """The name and the labels of a series."""

    name: str
    labels: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return f"{self.name}{{{','.join(f'{name}={json.dumps(value)}' for name, value in self.labels)}}}"


@dataclass(frozen=True)
class Scrape:
    """The metrics of a process at a time; none: it did not answer."""

    at: float
    values: Mapping[Series, float]
    counters: Collection[str] = ()

    @classmethod
    def of(cls, process: ResourceManager) -> "Scrape":
        """What the process tells now."""
        at, text = time.time(), process.metrics()
        families = [*text_string_to_metric_families(text)]
        values = {
            Series(sample.name, tuple(sorted(sample.labels.items()))): sample.value
            for family in families
            for sample in family.samples
            if not sample.name.endswith(_LEFT_OUT)
        }
        return cls(at, values, {f"{family.name}_total" for family in families if family.type == "counter"})


NO_ANSWER: Final = Scrape(0, {})


@dataclass(frozen=True)
class Monitored:
    """A process as Prometheus finds it in a namespace, and what it said before and then."""

    before: Scrape
    then: Scrape
    namespace: str = "garden"
    job: str = RESOURCE_MANAGER
    instance: str = "10.0.0.1:8080"
    growing: Collection[str] = ()
    """Ages among its gauges that go on growing, unless they are zero."""

    def series(self, minutes: int) -> Iterator[dict[str, str]]:
        """The series of that many minutes, as tests of rules have them."""
        up = Series("up", self._of_target)
        yield {"series": str(up), "values": f"1 {1 if self.then.values else 0}+0x{minutes}"}
        for series in {**self.before.values, **self.then.values}:
            yield {"series": str(self._found(series)), "values": self._values(series, minutes)}

    @property
    def _of_target(self) -> tuple[tuple[str, str], ...]:
        return (("instance", self.instance), ("job", self.job), ("namespace", self.namespace))

    def _found(self, series: Series) -> Series:
        """The series as Prometheus stores it: the labels of its target come first."""
        target = dict(self._of_target)
        own = ((f"exported_{name}" if name in target else name, value) for name, value in series.labels)
        return Series(series.name, (*self._of_target, *own))

    def _values(self, series: Series, minutes: int) -> str:
        before, then = self.before.values.get(series), self.then.values.get(series)
        if before is None:
            # A counter that there was not begins from nothing.
            before = 0.0 if series.name in self.then.counters else None
        first = "_" if before is None else _number(self._moved(series, before, self.before))
        if then is None:
            return f"{first} {_IS_MISSING}"
        step: float = MINUTE if then and series.name in self.growing else 0
        if series.name in self.then.counters and before is not None:
            step = max(then - before, 0)
        return f"{first} {_number(self._moved(series, then, self.then))}+{_number(step)}x{minutes}"

    def _moved(self, series: Series, value: float, scrape: Scrape) -> float:
        is_time = series.name.endswith("_timestamp_seconds") and value > 0
        return value - (self.then.at or scrape.at) if is_time else value


def _number(value: float) -> str:
    return format(value, "f").rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Prometheus:
    """The rules of a component, and what they make of processes."""

    programs: Programs
    folder: Path
    component: str = "resource-manager"

    @property
    def rules(self) -> Path:
        """The file of the rules."""
        return CHARTS / self.component / "files" / "alerts.yaml"

    def promtool(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """What promtool says."""
        command = self.programs.command("promtool", *arguments)
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def require_firing(
        self, *processes: Monitored, after: int, expected: Mapping[str, int], where: Mapping[str, Any] | None = None
    ) -> None:
        """Fail unless exactly these alerts fire after some minutes, each so often.

        Args:
            processes: all that Prometheus knows.
            after: minutes.
            expected: the alerts by name.
            where: labels that an alert has, by the name of the alert.
        """
        series = [each for process in processes for each in process.series(after)]
        self.require_firing_of(series, after=after, expected=expected, where=where)

    def require_firing_of(
        self,
        series: Collection[Mapping[str, str]],
        *,
        after: int,
        expected: Mapping[str, int],
        where: Mapping[str, Any] | None = None,
    ) -> None:
        """The same of series that are written."""
        firing = 'ALERTS{alertstate="firing"}'
        asked = [
            _asked(f"count by (alertname) ({firing})", after, {f'{{alertname="{n}"}}': c for n, c in expected.items()})
        ]
        for name, labels in (where or {}).items():
            shown = ",".join(labels)
            wanted = ",".join(f"{label}={json.dumps(value)}" for label, value in labels.items())
            one = f'ALERTS{{alertstate="firing",alertname="{name}"}}'
            asked.append(_asked(f"max by ({shown}) ({one})", after, {f"{{{wanted}}}": 1}))
        test = {"interval": "1m", "input_series": [*series], "promql_expr_test": asked}
        file = self.folder / "test.yaml"
        file.write_text(json.dumps({"rule_files": [str(self.rules)], "evaluation_interval": "1m", "tests": [test]}))
        ended = self.promtool("test", "rules", file)
        assert ended.returncode == 0, ended.stdout + ended.stderr


def _asked(query: str, minutes: int, expected: Mapping[str, float]) -> dict[str, Any]:
    samples = [{"labels": labels, "value": value} for labels, value in expected.items()]
    return {"expr": query, "eval_time": f"{minutes}m", "exp_samples": samples}
